// A lost state file comes back only where somebody outside the database vouches for what the database holds.
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  canonicalBytes,
  createCompactRange,
  createNoteSigner,
  formatCheckpoint,
  formatVerifierKey,
  hashLeaf,
  signNote,
} from '@baton/ledger'
import { spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, privateKey, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { rewriteSuffix, truncateChain } from './audit-seals-rewrite.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing
let witness: ServiceProcess
let policyFile: string

const witnessKey = privateKey()
const TABLES = ['record', 'payload', 'idem', 'batch_sig', 'head', 'seal']
const COPIES = [...TABLES, 'chain_checkpoint', 'witnessed']
const sql = (text: string) => fixture.superuser.query<Record<string, number>>({ text })
const restore = async () => {
  for (const table of COPIES) {
    await sql(`delete from audit.${table}; insert into audit.${table} table untouched.${table}`)
  }
}
const tasks = [0, 0, 1, 1].map((shard) => taskOfShard(shard, 2))
const append = () => auditor.client.append(tasks.map((taskId) => entryOf({ taskId })))

async function recover(env: Record<string, string> = {}): Promise<readonly [number, string]> {
  const settings = { BATON_SEAL_POLICY_FILE: policyFile, BATON_TEST_READY: 'false', ...env }
  const sealer = await sealing.startSealer(settings, ['recover'])
  const { code } = await sealer.exited()
  return [code ?? -1, sealer.output()]
}
/** On a disk of its own, under a port that stays. */
async function startWitness(port = '0'): Promise<ServiceProcess> {
  const log = createNoteSigner({ name: 'baton/development/seals', pkcs8: sealing.sealKey })
  return spawnService({
    main: 'services/witness/src/main.ts',
    env: {
      BATON_WITNESS_NAME: 'witness.example.com',
      BATON_WITNESS_SIGNING_KEY: witnessKey,
      BATON_WITNESS_LOGS: formatVerifierKey(log.key),
      BATON_WITNESS_STATE_FILE: join(sealing.folder, 'witness.json'),
      BATON_WITNESS_FIRST_START: '1',
      BATON_WITNESS_PORT: port,
    },
  })
}
async function writePolicy(): Promise<void> {
  const [, url, key] = /"url":"([^"]+)","key":"([^"]+)"/.exec(witness.output()) ?? []
  const log = createNoteSigner({ name: 'baton/development/seals', pkcs8: sealing.sealKey })
  const lines = [`log ${formatVerifierKey(log.key)}`, `witness own ${key} ${url}`, 'quorum own', '']
  await writeFile(policyFile, lines.join('\n'))
}
/** What a superuser does who also stole the sealer's key: the newest seal, signed anew with another time. */
async function resignNewestSeal(): Promise<void> {
  const { rows } = await fixture.superuser.query<{ seq: number; body: Buffer }>({
    text: 'select seq::integer, body from audit.seal order by seq',
  })
  const last = JSON.parse(rows.at(-1)?.body.toString() ?? '') as { at: string }
  const body = Buffer.from(canonicalBytes({ ...last, at: last.at.replace(/^2/, '3') }))
  const tree = createCompactRange()
  for (const row of rows.with(-1, { seq: rows.length - 1, body })) tree.append(hashLeaf(row.body))
  const log = createNoteSigner({ name: 'baton/development/seals', pkcs8: sealing.sealKey })
  const text = formatCheckpoint({ origin: log.key.name, size: tree.size, root: tree.root() })
  await fixture.superuser.query({
    text: 'update audit.seal set body = $1, note = $2 where seq = $3',
    values: [body, signNote(text, [log]), rows.length - 1],
  })
}
const hasState = () =>
  stat(sealing.stateFile).then(
    () => true,
    () => false,
  )

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
  policyFile = join(sealing.folder, 'policy')
  witness = await startWitness()
  await writePolicy()
  const sealer = await sealing.startSealer({ BATON_SEAL_POLICY_FILE: policyFile })
  for (let round = 0; round < 3; round += 1) {
    await append()
    await sealing.sealed()
  }
  await sealer.stop()
  await fixture.guards.lift(COPIES)
  await sql('create schema untouched')
  for (const table of COPIES) await sql(`create table untouched.${table} as table audit.${table}`)
})
beforeEach(async () => {
  await restore()
  await rm(sealing.stateFile, { force: true })
})
afterAll(async () => {
  await witness?.kill()
  await sealing?.close()
  await fixture?.close()
})

test('a state file that is there is not replaced, whatever it holds', async () => {
  await writeFile(sealing.stateFile, 'damaged')
  const [code, output] = await recover()
  expect([code, output]).toEqual([1, expect.stringContaining('BATON_SEALER_STATE_PRESENT')])
  expect(await readFile(sealing.stateFile, 'utf8')).toBe('damaged')
})

describe('a rewritten database is refused, and the difference named', () => {
  const CASES: readonly (readonly [string, () => Promise<unknown>, RegExp])[] = [
    [
      'a suffix with fresh hashes and a stolen batch key',
      () => rewriteSuffix(fixture, { chain: 1, from: 3 }),
      /SEAL_ROOT \S+s1 \d: records \d to \d hold what was not sealed/,
    ],
    [
      'the last records cut off',
      () => truncateChain(fixture, { chain: 0, count: 3 }),
      /SEAL_SIZE \S+s0 3: the chain has 3 records, 6 were sealed/,
    ],
    [
      'one byte of one record',
      () => sql(`update audit.record set body = set_byte(body, 9, 88) where chain = 0 and seq = 2`),
      /RECORD_HASH \S+s0 2:/,
    ],
    [
      'the newest seals removed',
      () => sql('delete from audit.seal where seq >= (select max(seq) from audit.seal)'),
      /SEAL_ANCHOR \S+seals \d+: the anchor file knows \d+ seals, the database has \d+/,
    ],
    ['all seals removed', () => sql('delete from audit.seal'), /SEAL_ANCHOR/],
    [
      'a seal added without the key, under the note of the one before it',
      () =>
        sql(`insert into audit.seal select seq + 1, sealed_at, convert_to(replace(
          convert_from(body, 'UTF8'), '"at":"2', '"at":"3'), 'UTF8'), note
          from audit.seal order by seq desc limit 1`),
      /SEAL_SIGNATURE/,
    ],
    [
      'a chain removed',
      async () => {
        for (const table of ['record', 'payload', 'idem', 'batch_sig', 'head']) {
          await sql(`delete from audit.${table} where chain = 1`)
        }
      },
      /CHAIN_MISSING \S+s1: a chain with 6 sealed records/,
    ],
    [
      'the batch signatures removed',
      () => sql('delete from audit.batch_sig where chain = 0'),
      /BATCH_COVER \S+s0/,
    ],
  ]
  test.each(CASES)('%s', async (_, tamper, difference) => {
    await tamper()
    const [code, output] = await recover()
    expect([code, output]).toEqual([3, expect.stringMatching(difference)])
    expect(output).toContain('"event":"seal.recovery_refused"')
    expect(await hasState()).toBe(false)
  })

  test('a newest seal signed anew with the stolen key: the witness has seen the other one', async () => {
    await resignNewestSeal()
    await sql('delete from audit.witnessed')
    const [code, output] = await recover({ BATON_SEAL_ANCHOR_FILE: `${policyFile}.empty` })
    expect([code, output]).toEqual([
      3,
      expect.stringMatching(/SEAL_ANCHOR .*witness.* answered 422/),
    ])
    expect(await hasState()).toBe(false)
  })

  test('and by another key, whatever the database says', async () => {
    const [code, output] = await recover({ BATON_SEAL_SIGNING_KEY: privateKey() })
    expect([code, output]).toEqual([1, expect.stringContaining('BATON_SEAL_KEY_NOT_IN_FORCE')])
    expect(await hasState()).toBe(false)
  })
})

describe('nobody outside vouches', () => {
  test('an anchor that knows nothing is no witness: it says what to do', async () => {
    const settings = { BATON_SEAL_POLICY_FILE: '', BATON_SEAL_ANCHOR_FILE: `${policyFile}.new` }
    const [code, output] = await recover(settings)
    expect([code, output]).toEqual([4, expect.stringContaining('BATON_SEALER_UNVOUCHED')])
    expect(output).toContain('Restore the anchor file from a copy')
    expect(await hasState()).toBe(false)
  })

  test('one of two anchors is away: nothing is written before it answers', async () => {
    await witness.kill()
    const [code, output] = await recover()
    expect([code, output]).toEqual([4, expect.stringContaining('BATON_ANCHOR_UNAVAILABLE')])
    expect(await hasState()).toBe(false)
    witness = await startWitness(/127\.0\.0\.1:(\d+)/.exec(witness.output())?.[1])
  })
})

describe('an honest database', () => {
  test('is believed where the disk took the anchor file too, and the witness alone is left', async () => {
    const [code, output] = await recover({ BATON_SEAL_ANCHOR_FILE: `${policyFile}.fresh` })
    expect([code, output]).toEqual([0, expect.stringContaining('vouched for by witness')])
    expect(await hasState()).toBe(true)
  })

  test('the old log goes on, and what was done stays on record', async () => {
    const killed = await recover({ BATON_CRASH_AT: 'sealer.before_rename' })
    expect([killed[0], await hasState()]).toEqual([-1, false])
    const anchor = await readFile(sealing.anchorFile, 'utf8')
    const [code, output] = await recover()
    expect([code, output]).toEqual([0, expect.stringMatching(/vouched for by file: \d+ seals/)])
    expect(output).toMatch(/"level":"warn".*"event":"seal.state_recovered"/)
    const folder = dirname(sealing.stateFile)
    const prefix = `${basename(sealing.stateFile)}.recovered-`
    const evidence = (await readdir(folder)).filter((name) => name.startsWith(prefix))
    expect(evidence).toHaveLength(3)
    const kept: unknown = JSON.parse(await readFile(join(folder, evidence.at(-1) ?? ''), 'utf8'))
    expect(kept).toMatchObject({ v: 1, records: 12, vouchedBy: [{ anchor: 'file' }, {}] })

    await append()
    const sealer = await sealing.startSealer({ BATON_SEAL_POLICY_FILE: policyFile })
    await sealing.sealed()
    expect(await sealer.stop()).toBe(0)
    expect((await sealing.verify()).findings).toEqual([])
    // The anchor file only grew: nothing that was vouched for was signed again otherwise.
    expect((await readFile(sealing.anchorFile, 'utf8')).startsWith(anchor)).toBe(true)
  })
})

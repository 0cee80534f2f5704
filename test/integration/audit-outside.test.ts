// A verification asks everybody outside the database who has seen a seal, says with whom it compared, and never calls a log verified that it compared with nobody.
import { copyFile, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { openSealTrust, readCoveredSizes, requireSealTrust, verifyChains } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import {
  batchKeyId,
  createBatchSigner,
  createNoteSigner,
  formatVerifierKey,
  readBatchPublicKey,
} from '@baton/ledger'
import { eventually, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, opsUrl, privateKey, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { rewriteSuffix, truncateChain } from './audit-seals-rewrite.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing
let witness: ServiceProcess
let policyFile: string
let witnessUrl = ''

const LOG = 'baton/development/seals'
const witnessKey = privateKey()
const tasks = [0, 0, 1, 1].map((shard) => taskOfShard(shard, 2))
const TABLES = [
  'record',
  'payload',
  'idem',
  'batch_sig',
  'head',
  'seal',
  'chain_checkpoint',
  'witnessed',
]
const FILES = ['sealer.json', 'anchor.jsonl', 'witness.json']

const sql = (text: string) => fixture.superuser.query<{ size: number }>({ text })
const path = (name: string) => join(sealing.folder, name)

async function keep(name: string): Promise<void> {
  await sql(`create schema ${name}`)
  for (const table of TABLES) await sql(`create table ${name}.${table} as table audit.${table}`)
  for (const file of FILES) await copyFile(path(file), path(`${file}.${name}`))
}
async function restoreTables(name: string): Promise<void> {
  for (const table of TABLES) {
    await sql(`delete from audit.${table}; insert into audit.${table} table ${name}.${table}`)
  }
}

async function startWitness(env: Record<string, string> = {}): Promise<ServiceProcess> {
  const log = createNoteSigner({ name: LOG, pkcs8: sealing.sealKey })
  return spawnService({
    main: 'services/witness/src/main.ts',
    env: {
      BATON_WITNESS_NAME: 'witness.example.com',
      BATON_WITNESS_SIGNING_KEY: witnessKey,
      BATON_WITNESS_LOGS: formatVerifierKey(log.key),
      BATON_WITNESS_STATE_FILE: path('witness.json'),
      BATON_WITNESS_FIRST_START: '1',
      BATON_WITNESS_PORT: '0',
      ...env,
    },
  })
}
async function writePolicy(): Promise<void> {
  const [, url = '', key] = /"url":"([^"]+)","key":"([^"]+)"/.exec(witness.output()) ?? []
  witnessUrl = url
  const log = createNoteSigner({ name: LOG, pkcs8: sealing.sealKey })
  const lines = [`log ${formatVerifierKey(log.key)}`, `witness own ${key} ${url}`, 'quorum own', '']
  await writeFile(policyFile, lines.join('\n'))
}

/** What a whole installation names. */
const everybody = () => ({
  BATON_SEAL_ANCHOR_FILE: sealing.anchorFile,
  BATON_SEAL_POLICY_FILE: policyFile,
  BATON_SEALER_STATE_FILE: sealing.stateFile,
})
const UNNAMED = {
  BATON_SEAL_ANCHOR_FILE: undefined,
  BATON_SEAL_POLICY_FILE: undefined,
  BATON_SEALER_STATE_FILE: undefined,
  BATON_SEAL_S3_BUCKET: undefined,
  BATON_SEAL_S3_REGION: 'us-east-1',
  BATON_SEAL_S3_ENDPOINT: undefined,
}

async function verify(
  named: Partial<typeof UNNAMED> | object = everybody(),
): Promise<VerifyReport> {
  const batch = createBatchSigner(fixture.signingKey).publicKey
  const settings = { ...UNNAMED, ...named }
  const key = readBatchPublicKey(sealing.publicKey)
  const seals = await openSealTrust(fixture.reader, key, settings)
  const batchKeys = new Map([[batchKeyId(batch), batch]])
  return fixture.guards.inPlace(() => verifyChains({ pool: fixture.reader, batchKeys, seals }))
}
const verifyOverHttp = (of = auditor) =>
  fixture.guards.inPlace(() => of.read<VerifyReport>('/v1/verify'))
const outcomes = ({ compared }: VerifyReport) =>
  Object.fromEntries(compared.map(({ name, outcome }) => [name, outcome]))
const rules = ({ findings }: VerifyReport) => [...new Set(findings.map(({ rule }) => rule))]

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  policyFile = path('policy')
  witness = await startWitness()
  await writePolicy()
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    ...everybody(),
  })
  const settings = { BATON_SEAL_POLICY_FILE: policyFile }
  const sealer = await sealing.startSealer(settings)
  const round = async () => {
    for (const taskId of tasks) await auditor.client.append([entryOf({ taskId })])
    await sealing.sealed()
  }
  await round()
  await round()
  await sealer.stop()
  await keep('yesterday')
  const next = await sealing.startSealer(settings)
  await round()
  await round()
  await next.stop()
  const { rows } = await sql('select size::integer from audit.witnessed')
  const last = await sealing.startSealer({ ...settings, BATON_SEAL_ANCHOR_EVERY_MS: '3600000' })
  // It shows its first seal at once, and the newest seconds to nobody before it is killed.
  await auditor.client.append([entryOf({ taskId: tasks[0] as string })])
  await eventually(
    async () =>
      (await sql(`select size from audit.witnessed where size > ${rows[0]?.size}`)).rows[0],
    { deadlineMs: 10_000, describe: () => last.output() },
  )
  await sealing.sealed()
  await keep('anchored')
  await round()
  await round()
  await last.kill()
  await fixture.guards.lift(TABLES)
  await keep('untouched')
}, 180_000)
afterEach(async () => {
  await restoreTables('untouched')
  for (const file of FILES) await copyFile(path(`${file}.untouched`), path(file))
})
afterAll(async () => {
  await witness?.kill()
  await sealing?.close()
  await fixture?.close()
})

const AGREED = {
  file: 'agreed',
  'witness witness.example.com': 'agreed',
  'sealer state': 'agreed',
  'cosigned copy': 'agreed',
  'chain checkpoints': 'agreed',
}

describe('an untouched log', () => {
  test('is verified, and everything is listed with size and time', async () => {
    const report = await verify()
    expect(report).toMatchObject({ ok: true, verdict: 'verified', findings: [] })
    expect(outcomes(report)).toEqual(AGREED)
    expect(report.compared.filter(({ seals }) => seals === null || seals === 0)).toEqual([])
    const dateless = report.compared.filter(({ at }) => Number.isNaN(Date.parse(at ?? '')))
    expect(dateless.map(({ name }) => name)).toEqual(['cosigned copy'])
  })

  test('says the same over HTTP', async () => {
    const report = await verifyOverHttp()
    expect(report).toMatchObject({ ok: true, verdict: 'verified', findings: [] })
    expect(outcomes(report)).toEqual(AGREED)
  })

  test('is told of what was found until a verification is clean', async () => {
    const stands = async () =>
      /^baton_audit_tampered (\d)$/m.exec(
        await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text(),
      )?.[1]
    expect(await stands()).toBe('0')
    await sql(
      `update audit.record set body = set_byte(body, 0, get_byte(body, 0) # 1) where seq = 0`,
    )
    expect((await verifyOverHttp()).verdict).toBe('altered')
    expect(await stands()).toBe('1')
    await restoreTables('untouched')
    expect(await stands()).toBe('1')
    expect((await verifyOverHttp()).verdict).toBe('verified')
    expect(await stands()).toBe('0')
  })

  test('is not called verified where nobody outside is named, over HTTP neither', async () => {
    const report = await verify({})
    expect(report).toMatchObject({ ok: false, verdict: 'incomplete', findings: [] })
    expect(report.compared.some(({ outside }) => outside)).toBe(false)
    const alone = await fixture.guards.inPlace(() =>
      fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey }),
    )
    expect(await verifyOverHttp(alone)).toMatchObject({
      ok: false,
      verdict: 'incomplete',
      findings: [],
    })
  })

  test('is seen outside only by the cosignatures that the policy asks for, whatever the copy in the database says', async () => {
    const seen = (BATON_SEAL_POLICY_FILE?: string) =>
      readCoveredSizes(fixture.reader, readBatchPublicKey(sealing.publicKey), {
        BATON_SEAL_POLICY_FILE,
        BATON_SEAL_ANCHOR_FILE: undefined,
      })
    expect((await seen(policyFile)).witnessedSeals).toBeGreaterThan(0)
    // A superuser copies the newest note, which the sealer signed and nobody cosigned.
    await fixture.superuser.query({
      text: 'update audit.witnessed set note = (select note from audit.seal order by seq desc limit 1), size = (select max(seq) + 1 from audit.seal)',
    })
    expect((await seen(policyFile)).witnessedSeals).toBe(0)
    expect((await seen(path('gone'))).witnessedSeals).toBe(0)
  })

  test('is seen outside as far as the anchor file says, where no witness is known, whatever the copy in the database says', async () => {
    const file = sealing.anchorFile
    const seen = (BATON_SEAL_ANCHOR_FILE: string | undefined) =>
      readCoveredSizes(fixture.reader, readBatchPublicKey(sealing.publicKey), {
        BATON_SEAL_POLICY_FILE: undefined,
        BATON_SEAL_ANCHOR_FILE,
      })
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    const sizes = lines.map((line) => (JSON.parse(line) as { size: number }).size)
    expect(await seen(file)).toMatchObject({
      seenBy: 'anchor file',
      witnessedSeals: sizes.at(-1),
    })
    // The database still has the newest copy, and the file an older one.
    await writeFile(path('older'), `${lines.slice(0, 2).join('\n')}\n`)
    expect((await seen(path('older'))).witnessedSeals).toBe(sizes[1])
    expect((await seen(path('older'))).witnessedSeals).toBeLessThan(sizes.at(-1) as number)
    expect(await seen(path('gone'))).toMatchObject({ seenBy: 'anchor file', witnessedSeals: 0 })
    expect(await seen(undefined)).toMatchObject({
      seenBy: 'database',
      witnessedSeals: sizes.at(-1),
    })
  })

  test('is not called verified where nobody who is named answers', async () => {
    await writeFile(
      path('away'),
      (await readFile(policyFile, 'utf8')).replace(witnessUrl, 'http://127.0.0.1:1'),
    )
    const report = await verify({ BATON_SEAL_POLICY_FILE: path('away') })
    expect(report).toMatchObject({ ok: false, verdict: 'incomplete', findings: [] })
    expect(outcomes(report)).toMatchObject({ 'witness witness.example.com': 'not reachable' })
  })

  test('whose newest seal the sealer signed and could not publish any more is as it was signed', async () => {
    await sql('delete from audit.seal where seq = (select max(seq) from audit.seal)')
    await sql(`delete from audit.chain_checkpoint`)
    const { compared } = await verify()
    expect(compared.find(({ name }) => name === 'sealer state')?.outcome).toBe('agreed')
  })
})

test('a sealed log is not judged where nobody says whose key seals it', async () => {
  await expect(requireSealTrust(fixture.reader, undefined, UNNAMED)).rejects.toMatchObject({
    code: 'BATON_VERIFY_SETTINGS_MISSING',
    fix: expect.stringContaining('BATON_SEAL_PUBLIC_KEY'),
  })
  await sql('delete from audit.seal')
  expect(await requireSealTrust(fixture.reader, undefined, UNNAMED)).toBeUndefined()
})

describe('an older database', () => {
  const only = (name: keyof typeof UNNAMED) => ({ [name]: (everybody() as never)[name] as string })

  test.each([
    ['the anchor file', 'BATON_SEAL_ANCHOR_FILE', ['SEAL_ANCHOR']],
    ['the witness', 'BATON_SEAL_POLICY_FILE', ['SEAL_ANCHOR']],
    ['the sealer’s state', 'BATON_SEALER_STATE_FILE', ['SEAL_COPY', 'SEAL_GONE', 'SEAL_SIZE']],
  ] as const)('is found by %s alone', async (_, name, expected) => {
    await restoreTables('yesterday')
    const report = await verify(only(name))
    expect(report).toMatchObject({ ok: false, verdict: 'altered' })
    expect(rules(report).toSorted()).toEqual(expected)
  })

  test('is found over HTTP', async () => {
    await restoreTables('yesterday')
    const report = await verifyOverHttp()
    expect(report).toMatchObject({ ok: false, verdict: 'altered' })
    expect(outcomes(report)).toMatchObject({
      file: 'differs',
      'witness witness.example.com': 'differs',
      'sealer state': 'differs',
    })
  })

  test('is found where its anchor is gone with it, or was cut to it', async () => {
    await restoreTables('yesterday')
    const files = { ...everybody(), BATON_SEAL_POLICY_FILE: undefined }
    await rm(sealing.anchorFile)
    expect(rules(await verify(files))).toEqual(
      expect.arrayContaining(['ANCHOR_MISSING', 'SEAL_GONE', 'SEAL_SIZE']),
    )
    await copyFile(path('anchor.jsonl.yesterday'), sealing.anchorFile)
    expect(rules(await verify(files))).toEqual(
      expect.arrayContaining(['ANCHOR_CUT', 'SEAL_GONE', 'SEAL_SIZE']),
    )
  })

  test('whose newest seconds no anchor has seen is found by the sealer’s state', async () => {
    await restoreTables('anchored')
    const blind = await verify({ ...everybody(), BATON_SEALER_STATE_FILE: undefined })
    expect(blind.findings).toEqual([])
    const report = await verify()
    expect(rules(report)).toEqual(['SEAL_GONE', 'SEAL_SIZE'])
  })

  test('of which the seals are gone altogether is found over HTTP', async () => {
    await rewriteSuffix(fixture, { chain: 0, from: 0 })
    await sql(
      'delete from audit.seal; delete from audit.chain_checkpoint; delete from audit.witnessed',
    )
    const report = await verifyOverHttp()
    expect(report).toMatchObject({ ok: false, verdict: 'altered' })
    expect(rules(report)).toEqual(expect.arrayContaining(['SEAL_ANCHOR', 'SEAL_GONE', 'SEAL_COPY']))
  })

  test('without its newest seals blames nobody for writing one', async () => {
    await sql('delete from audit.seal where seq > (select max(seq) - 5 from audit.seal)')
    const report = await verify()
    expect(rules(report)).toContain('SEAL_GONE')
    expect(rules(report)).not.toContain('SEAL_SIGNATURE')
  })

  test('with a chain cut under its seals is found too', async () => {
    await truncateChain(fixture, { chain: 0, count: 1 })
    expect(rules(await verify())).toEqual(['SEAL_SIZE'])
  })
})

describe('an anchor', () => {
  const cutTo = async (lines: number) => {
    const text = await readFile(sealing.anchorFile, 'utf8')
    await writeFile(sealing.anchorFile, text.split('\n').slice(0, lines).concat('').join('\n'))
  }

  test('that is gone is a finding of its own, by the sealer’s state and by the database alone', async () => {
    await rm(sealing.anchorFile)
    const report = await verify()
    expect(report.findings).toMatchObject([{ rule: 'ANCHOR_MISSING', seq: null }])
    expect(outcomes(report)).toMatchObject({ ...AGREED, file: 'missing' })
    const alone = await verify({ BATON_SEAL_ANCHOR_FILE: sealing.anchorFile })
    expect([alone.verdict, rules(alone)]).toEqual(['altered', ['ANCHOR_MISSING']])
    expect((await verifyOverHttp()).verdict).toBe('altered')
  })

  test('that was cut is a finding of its own', async () => {
    await cutTo(1)
    const report = await verify()
    expect(report.findings).toMatchObject([{ rule: 'ANCHOR_CUT', seq: 1 }])
    expect(outcomes(report)).toMatchObject({ ...AGREED, file: 'cut' })
  })

  test('that is a witness which lost what it knew is a finding of its own', async () => {
    const port = /:(\d+)$/.exec(witnessUrl)?.[1] ?? ''
    await witness.kill()
    const fresh = { BATON_WITNESS_STATE_FILE: path('fresh.json'), BATON_WITNESS_PORT: port }
    witness = await startWitness(fresh)
    expect((await verify()).findings).toMatchObject([
      { rule: 'ANCHOR_MISSING', message: expect.stringContaining('witness.example.com') },
    ])
    await witness.kill()
    witness = await startWitness({ BATON_WITNESS_PORT: port })
    expect(outcomes(await verify())).toEqual(AGREED)
  })

  test('learns nothing from being asked', async () => {
    const before = await readFile(path('witness.json'), 'utf8')
    await verify()
    await restoreTables('yesterday')
    await verify()
    expect(JSON.parse(await readFile(path('witness.json'), 'utf8'))).toEqual(JSON.parse(before))
  })
})

describe('the copies by which records are called sealed and witnessed', () => {
  test.each([
    ['a cosigned checkpoint of garbage', `update audit.witnessed set note = 'garbage'`],
    ['a cosigned checkpoint that is gone', 'delete from audit.witnessed'],
    [
      'an older cosigned checkpoint',
      'delete from audit.witnessed; insert into audit.witnessed table yesterday.witnessed',
    ],
    ['another size beside it', 'update audit.witnessed set size = size - 1'],
    ['a chain’s checkpoint of garbage', `update audit.chain_checkpoint set note = 'garbage'`],
    ['a chain’s checkpoint that is gone', 'delete from audit.chain_checkpoint where chain = 1'],
    [
      'older checkpoints of chains',
      'delete from audit.chain_checkpoint; insert into audit.chain_checkpoint table yesterday.chain_checkpoint',
    ],
    [
      'the checkpoint of another chain',
      'update audit.chain_checkpoint set note = (select note from audit.chain_checkpoint where chain = 0)',
    ],
  ])('%s', async (_, tamper) => {
    await sql(tamper)
    const report = await verify()
    expect([report.verdict, rules(report)]).toEqual(['altered', ['SEAL_COPY']])
    expect((await verifyOverHttp()).verdict).toBe('altered')
  })
})

describe('who signed', () => {
  test('a record that an unknown key signed behind the newest seal is forged', async () => {
    const stranger = createBatchSigner(privateKey())
    await fixture.superuser.query({
      text: `update audit.batch_sig set key_id = $1 where (chain, last_seq) =
        (select chain, max(last_seq) from audit.batch_sig where chain = 0 group by chain)`,
      values: [stranger.keyId],
    })
    await sql(
      'delete from audit.seal; delete from audit.chain_checkpoint; delete from audit.witnessed',
    )
    const report = await verify({})
    expect(report.verdict).toBe('altered')
    expect(rules(report)).toEqual(expect.arrayContaining(['BATCH_FORGED', 'BATCH_KEY_ID']))
  })

  test('another key in every batch is found by what the records say, sealed or not', async () => {
    await sql(`update audit.batch_sig set key_id = '0011223344556677'`)
    const report = await verify()
    expect([report.verdict, rules(report)]).toEqual(['altered', ['BATCH_KEY_ID']])
  })

  test('a person’s lost key is a loss, and not something that cannot be said', async () => {
    await fixture.vaultSuperuser.query({
      text: 'create table vault.kept as table vault.subject_key; delete from vault.subject_key',
    })
    const report = await verifyOverHttp()
    expect([report.ok, report.verdict, rules(report)]).toEqual([false, 'lost', ['PAYLOAD_KEY']])
    await fixture.vaultSuperuser.query({ text: 'insert into vault.subject_key table vault.kept' })
  })
})

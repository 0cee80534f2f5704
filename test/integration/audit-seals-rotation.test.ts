// The key of the seal log is changed while records are written: one history, whatever dies, and a key that was handed over is believed by nobody who knows.
import { copyFile, readFile, rm } from 'node:fs/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { readFileAnchor, sealLogKeys, verifyChains } from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import {
  batchKeyId,
  createBatchSigner,
  createCompactRange,
  createNoteSigner,
  encodeUtf8,
  formatCheckpoint,
  formatSealEntry,
  formatVerifierKey,
  hashLeaf,
  parseAuditorPolicy,
  readSealEntry,
  sealLogOrigin,
  signNote,
  verifyBundle,
} from '@baton/ledger'
import type { Receipt, SealEntry } from '@baton/ledger'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { sliceOf } from '@baton/testkit'
import { createSealing, privateKey } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

const EVIDENCE_TOKEN = 'evidence-token-of-a-test-0123456789'

let fixture: AuditFixture
let sealing: Sealing
let auditor: RunningAuditor
/** In the order in which they were in force. */
const keys: string[] = []
const [first, last] = [() => keys[0] as string, () => keys.at(-1) as string]

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  keys.push(sealing.sealKey)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: EVIDENCE_TOKEN,
  })
  await append()
  const sealer = await sealing.startSealer()
  await sealing.sealed()
  await sealer.stop()
  await copyFile(sealing.stateFile, `${sealing.stateFile}.first`)
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

const append = (entries = 4) =>
  auditor.client.append(Array.from({ length: entries }, () => entryOf()))
const publicOf = (pkcs8: string) => createBatchSigner(pkcs8).publicKey
const startWith = (setting: string, env: Record<string, string> = {}, args?: string[]) =>
  sealing.startSealer({ BATON_SEAL_SIGNING_KEY: setting, ...env }, args)

async function refusal(setting: string): Promise<string> {
  const before = await readFile(sealing.stateFile, 'utf8')
  const sealer = await startWith(setting, { BATON_TEST_READY: 'false' })
  expect((await sealer.exited()).code).toBe(1)
  expect(await readFile(sealing.stateFile, 'utf8')).toBe(before)
  return sealer.output()
}

/** For a reader who trusts one key, and has the anchor file unless it is left out. */
function verifyAs(pkcs8: string, { full = true, isAlone = false } = {}): Promise<VerifyReport> {
  const publicKey = publicOf(pkcs8)
  const batch = publicOf(fixture.signingKey)
  const anchor = readFileAnchor(sealing.anchorFile, sealLogKeys(fixture.reader, publicKey))
  return fixture.guards.inPlace(() =>
    verifyChains({
      pool: fixture.reader,
      batchKeys: new Map([[batchKeyId(batch), batch]]),
      seals: { publicKey, anchors: isAlone ? [] : [anchor] },
      full,
    }),
  )
}

const rulesOf = ({ findings }: VerifyReport) => [...new Set(findings.map(({ rule }) => rule))]

describe('a sealer that hands over and dies', () => {
  const passes = [
    ['sealer.before_state', 1],
    ['sealer.before_rename', 1],
    ['sealer.before_publish', 1],
    ['sealer.after_publish', 1],
    ['sealer.before_state', 2],
    ['sealer.before_rename', 2],
    ['sealer.before_publish', 2],
    ['sealer.after_publish', 2],
  ] as const

  test.each(sliceOf(passes, 3))(
    'at %s:%i hands over once, while records are written',
    async (point, hit) => {
      const before = (await verifyAs(first())).seals?.handovers.length ?? 0
      const [next, current] = [privateKey(), last()]
      let isWriting = true
      const writing = (async () => {
        while (isWriting) await append(1)
      })()
      const dying = await startWith(`${next},${current}`, {
        BATON_CRASH_AT: `${point}:${hit}`,
        BATON_TEST_READY: 'false',
      })
      await dying.exited()
      const again = await startWith(`${next},${current}`)
      isWriting = false
      await writing
      await sealing.sealed()
      expect(await again.stop()).toBe(0)
      keys.push(next)
      for (const key of [first(), current, next]) {
        const report = await verifyAs(key)
        expect(report.findings).toEqual([])
        expect(report.verdict).toBe('verified')
        expect(report.seals?.handovers).toHaveLength(before + 1)
        expect(report.seals?.witnessed).toBe(report.seals?.entries)
        expect(report.seals?.isKeyInForce).toBe(key === next)
      }
    },
  )

  test('the new key goes on alone, and says when there is nothing left to hand over', async () => {
    const sealer = await startWith(`${last()},${keys.at(-2)}`)
    await append()
    await sealing.sealed()
    expect(await sealer.stop()).toBe(0)
    expect(sealer.output()).not.toContain('seal.key_handed_over')
    const alone = await startWith(last())
    await append()
    await sealing.sealed()
    expect(await alone.stop()).toBe(0)
    expect((await verifyAs(first())).findings).toEqual([])
  })
})

describe('a sealer signs nothing', () => {
  test('with a key that was handed over, alone or first', async () => {
    expect(await refusal(first())).toContain('BATON_SEAL_KEY_NOT_IN_FORCE')
    expect(await refusal(`${first()},${last()}`)).toContain('BATON_SEAL_KEY_RETIRED')
  })

  test('with keys none of which is in force, or one of which stands twice', async () => {
    expect(await refusal(`${privateKey()},${first()}`)).toContain('BATON_SEAL_KEY_NOT_IN_FORCE')
    expect(await refusal(`${last()},${last()}`)).toContain('BATON_KEY_INVALID')
  })

  test('with the state of before a hand-over, whatever the settings name', async () => {
    await copyFile(sealing.stateFile, `${sealing.stateFile}.newest`)
    await copyFile(`${sealing.stateFile}.first`, sealing.stateFile)
    expect(await refusal(`${privateKey()},${first()}`)).toContain('BATON_SEALER_STATE_BEHIND')
    expect(await refusal(first())).toContain('BATON_SEALER_STATE_BEHIND')
    await copyFile(`${sealing.stateFile}.newest`, sealing.stateFile)
  })
})

test('a lost state is made anew with the key in force, which alone goes on', async () => {
  await rm(sealing.stateFile)
  const refused = await startWith(first(), { BATON_TEST_READY: 'false' }, ['recover'])
  expect((await refused.exited()).code).toBe(1)
  expect(refused.output()).toContain('BATON_SEAL_KEY_NOT_IN_FORCE')
  const recovering = await startWith(last(), { BATON_TEST_READY: 'false' }, ['recover'])
  expect((await recovering.exited()).code).toBe(0)
  await append()
  const sealer = await startWith(last())
  await sealing.sealed()
  expect(await sealer.stop()).toBe(0)
  expect((await verifyAs(first())).findings).toEqual([])
  expect((await verifyAs(last())).findings).toEqual([])
})

test('evidence proves the hand-overs, and the own policy names the key in force', async () => {
  const [receipt] = await append(1)
  const { origin, seq } = receipt as Receipt
  const sealer = await startWith(last())
  await sealing.sealed()
  expect(await sealer.stop()).toBe(0)
  const text = 'select task_id as id from audit.record r join audit.head h using (chain)'
  const values = [origin, seq]
  const { rows } = await fixture.superuser.query<{ id: string }>({
    text: `${text} where h.origin = $1 and r.seq = $2`,
    values,
  })
  const headers = { authorization: `Bearer ${EVIDENCE_TOKEN}` }
  const ask = (path: string) => fetch(auditor.url + path, { headers })
  const policy = await (await ask('/v1/policy')).text()
  const answer = await ask(`/v1/evidence/${rows[0]?.id}`)
  const bundle = new Uint8Array(await answer.arrayBuffer())
  expect(policy.match(/^# baton-key retired /gm)).toHaveLength(keys.length - 1)
  const log = sealLogOrigin(origin)
  const others = policy.split('\n').filter((line) => !/^log |retired/.test(line))
  const signerOf = (pkcs8: string) => createNoteSigner({ name: log, pkcs8 }).key
  const trusting = (pkcs8: string) =>
    [`log ${formatVerifierKey(signerOf(pkcs8))}`, ...others].join('\n')
  const verify = (its: string) => {
    const parsed = parseAuditorPolicy(encodeUtf8(its))
    if (!parsed.ok) throw new Error(parsed.message)
    const now = Date.now() / 1_000
    return verifyBundle(bundle, { policy: parsed.policy, now, thorough: true })
  }
  const isTold = (its: string) =>
    verify(its).notExcluded.some((one) => one.startsWith('a log that somebody else'))
  expect(policy).toContain(`log ${formatVerifierKey(signerOf(last()))}\n`)
  for (const its of [policy, ...[first(), keys[1] as string, last()].map(trusting)]) {
    const report = verify(its)
    const failed = report.checks.filter(({ result }) => result === 'failed').map(({ id }) => id)
    // Its one handoff was accepted, and nothing says yet how it ended.
    expect([failed, report.verdict]).toEqual([[], 'incomplete'])
    expect(isTold(its)).toBe(its !== policy && its !== trusting(last()))
  }
  expect(verify(trusting(privateKey())).verdict).toBe('tampered')
})

describe('a thief of the first key, who rules the database', () => {
  interface Row {
    readonly seq: number
    readonly body: Buffer
    readonly note: string
  }
  let seals: readonly Row[]
  let origin: string
  const signedBy = (pkcs8: string, entries: readonly Uint8Array[]): string => {
    const tree = createCompactRange()
    for (const entry of entries) tree.append(hashLeaf(entry))
    const signer = createNoteSigner({ name: origin, pkcs8 })
    const { size } = tree
    return signNote(formatCheckpoint({ origin, size, root: tree.root() }), [signer])
  }
  const run = (text: string, values: unknown[] = []) => fixture.superuser.query({ text, values })

  beforeAll(async () => {
    const text = 'select seq, body, note from audit.seal order by seq'
    seals = (await fixture.superuser.query<Row>({ text })).rows
    const { rows } = await fixture.superuser.query<{ origin: string }>({
      text: 'select origin from audit.head limit 1',
    })
    origin = sealLogOrigin(rows[0]?.origin ?? '')
    await fixture.guards.lift(['seal', 'chain_checkpoint', 'witnessed', 'tree_hash'])
  })

  test('cannot sign the newest seal for anybody who reads of the hand-over', async () => {
    const newest = seals.at(-1) as Row
    const note = signedBy(
      first(),
      seals.map(({ body }) => body),
    )
    await run('update audit.seal set note = $1 where seq = $2', [note, newest.seq])
    for (const key of [first(), last()]) {
      const report = await verifyAs(key, { full: false, isAlone: true })
      expect(rulesOf(report)).toContain('SEAL_KEY')
      expect(report.verdict).toBe('altered')
    }
    await run('update audit.seal set note = $1 where seq = $2', [newest.note, newest.seq])
    expect((await verifyAs(first())).findings).toEqual([])
  })

  test('cannot sign a seal between, which whoever looks at all of them sees', async () => {
    const [at] = (readSealEntry((seals.at(-1) as Row).body) as SealEntry).handovers as number[]
    const seq = (at as number) + 1
    const note = signedBy(
      first(),
      seals.slice(0, seq + 1).map(({ body }) => body),
    )
    await run('update audit.seal set note = $1 where seq = $2', [note, seq])
    for (const key of [first(), last()]) {
      expect(rulesOf(await verifyAs(key))).toEqual(['SEAL_KEY'])
    }
    await run('update audit.seal set note = $1 where seq = $2', [seals[seq]?.note, seq])
  })

  test('can begin another log before the hand-over only for who trusts that key alone and has seen nothing', async () => {
    const newest = readSealEntry((seals.at(-1) as Row).body) as SealEntry
    const [at = 0] = newest.handovers ?? []
    const { at: sealedAt, chains, tasks } = newest
    const stated = tasks === undefined ? { v: 1 as const } : { v: 2 as const, tasks }
    const forged = Buffer.from(formatSealEntry({ ...stated, at: sealedAt, chains }))
    const kept = seals.slice(0, at)
    const note = signedBy(first(), [...kept.map(({ body }) => body), forged])
    await run('delete from audit.seal where seq > $1', [at])
    await run('update audit.seal set body = $1, note = $2 where seq = $3', [forged, note, at])
    await run('delete from audit.tree_hash where log < 0')
    await run('update audit.witnessed set size = $1, note = $2', [at + 1, note])
    for (const { origin: chain, size, root } of chains) {
      const signer = createNoteSigner({ name: chain, pkcs8: first() })
      const text = formatCheckpoint({ origin: chain, size, root: Buffer.from(root, 'base64') })
      await run(
        'update audit.chain_checkpoint c set size = $1, note = $2 from audit.head h where h.chain = c.chain and h.origin = $3',
        [size, signNote(text, [signer]), chain],
      )
    }
    const trusting = await verifyAs(last(), { isAlone: true })
    expect(rulesOf(trusting)).toContain('SEAL_SIGNATURE')
    const seen = await verifyAs(first())
    expect(rulesOf(seen)).toContain('SEAL_ANCHOR')
    expect([trusting.verdict, seen.verdict]).toEqual(['altered', 'altered'])
    // As infra/rotation.md says: whoever was not told of the new key, and asks nobody outside, does not see it.
    const exposed = await verifyAs(first(), { isAlone: true })
    expect([exposed.findings, exposed.verdict]).toEqual([[], 'incomplete'])
  })
})

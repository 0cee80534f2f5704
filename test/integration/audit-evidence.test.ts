// One task leaves the log as a bundle that verifies offline, is handed out by right only, and says who got it.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createPool, extendTreeHashes, readEvidence } from '@baton/audit'
import type { Pool, TaskTrace } from '@baton/audit'
import { parseAuditorPolicy, verifyBundle, writeBundle } from '@baton/ledger'
import type { AuditEntry, AuditEvent } from '@baton/ledger'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { createSealing, privateKey, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing
let writer: Pool
let policyText: string

const EVIDENCE = { authorization: 'Bearer evidence-token-14e10d570047667f904261' }
const TEXTS = {
  ...EVIDENCE,
  'baton-payload-authorization': 'Bearer payload-token-321c3cf486ed509164edec',
}
const task = taskOfShard(0, 2)
const CANARY = `canary-${randomUUID()}`

const step = (handoffId: string, event: AuditEvent, changes: Partial<AuditEntry> = {}) =>
  entryOf({ taskId: task, handoffId, event, ...changes })

beforeAll(async () => {
  fixture = await createAuditFixture(2)
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    BATON_AUDIT_PAYLOAD_TOKEN: 'payload-token-321c3cf486ed509164edec',
    BATON_EVIDENCE_SIGNING_KEY: privateKey(),
    BATON_EVIDENCE_WAIT_MS: '300',
  })
  writer = createPool({ url: fixture.urls.writer, applicationName: 'test', connectionsMax: 1 })
  await sealing.startSealer()
  // Others between the task's own, so that its leaves lie apart, and more than one full tile of them.
  const others = Array.from({ length: 700 }, (_, at) => entryOf({ taskId: taskOfShard(at % 2, 2) }))
  const [first, second] = [randomUUID(), randomUUID()]
  const segments = [{ kind: 'message' as const, subject: null, text: CANARY }]
  await auditor.client.append(others.slice(0, 300))
  await auditor.client.append([step(first, 'HANDOFF_ACCEPTED', { segments })])
  await auditor.client.append(others.slice(300))
  await auditor.client.append([step(first, 'EXECUTION_COMPLETED')])
  await auditor.client.append([step(second, 'HANDOFF_ACCEPTED', { parentHandoffId: first })])
  await auditor.client.append([step(second, 'EXECUTION_COMPLETED', { parentHandoffId: first })])
  await sealing.sealed()
  policyText = await (await ask('/v1/policy', { headers: EVIDENCE })).text()
}, 60_000)
afterAll(async () => {
  await writer?.end()
  await sealing?.close()
  await fixture?.close()
})

const ask = (path: string, init: RequestInit = {}) => fetch(auditor.url + path, init)
const post = (path: string, body: object) =>
  ask(path, {
    method: 'POST',
    headers: { ...EVIDENCE, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

function verify(bundle: Uint8Array, text = policyText) {
  const parsed = parseAuditorPolicy(Buffer.from(text))
  if (!parsed.ok) throw new Error(parsed.message)
  return verifyBundle(bundle, { policy: parsed.policy, now: Date.now() / 1_000, thorough: true })
}

const bytesOf = async (response: Response) => {
  expect([response.status, response.headers.get('content-type')]).toEqual([
    200,
    'application/x-tar',
  ])
  return new Uint8Array(await response.arrayBuffer())
}

const trace = () => auditor.read<TaskTrace>(`/v1/traces/${task}`)

describe('a bundle', () => {
  test('verifies offline against the policy, check by check, and holds no text', async () => {
    const response = await ask(`/v1/evidence/${task}`, { headers: EVIDENCE })
    const bundle = await bytesOf(response)
    const report = verify(bundle)
    const found = report.checks.flatMap(({ id, findings }) => findings.map(() => id))
    expect(found).toEqual([])
    expect(report).toMatchObject({ verdict: 'valid', taskId: task, records: 4 })
    expect(response.headers.get('baton-verdict')).toBe('valid')
    expect(Buffer.from(bundle).includes(CANARY)).toBe(false)
    expect(Buffer.from(bundle).includes('index.html')).toBe(true)
  })

  test('has the texts only with the second token', async () => {
    const report = verify(await bytesOf(await ask(`/v1/evidence/${task}`, { headers: TEXTS })))
    expect(report.verdict).toBe('valid')
    expect(new Set(report.segments.map(({ status }) => status))).toEqual(new Set(['present']))
  })

  test('holds the receipts it is given, and one without its record is tampering', async () => {
    const { records } = await trace()
    const receipts = records.slice(0, 4).map(({ body, recordHash }) => {
      return { origin: body.origin, seq: body.seq, recordHash }
    })
    const path = `/v1/evidence/${task}`
    const report = verify(await bytesOf(await post(path, { receipts })))
    expect(report.checks.find(({ id }) => id === 'RECEIPT')?.result).toBe('ok')
    const forged = [...receipts, { ...receipts[0], seq: 100_000 }]
    const response = await post(path, { receipts: forged })
    expect(response.headers.get('baton-verdict')).toBe('tampered')
    const found = verify(await bytesOf(response)).checks.flatMap(({ findings }) => findings)
    expect(found).toMatchObject([{ rule: 'RECEIPT', seq: 100_000 }])
  })

  test('has the same bytes from the same state, from the stored hashes and from the records', async () => {
    const options = {
      reader: fixture.reader,
      taskIds: [task],
      receipts: [],
      cold: undefined,
      vault: undefined,
      policy: null,
    }
    const parts = async () => (await readEvidence(options))?.parts
    await sealing.sealed()
    const before = await parts()
    for (const log of [{ chain: 0 }, 'seals'] as const) {
      const { rows } = await fixture.superuser.query<{ size: number }>({
        text:
          log === 'seals'
            ? 'select max(seq) + 1 as size from audit.seal'
            : 'select size from audit.chain_checkpoint where chain = 0',
      })
      const size = rows[0]?.size ?? 0
      await extendTreeHashes({ reader: fixture.reader, writer, log, size })
      expect(await extendTreeHashes({ reader: fixture.reader, writer, log, size })).toBe(0)
    }
    const { rows } = await fixture.superuser.query({
      text: 'select level, index from audit.tree_hash where log = 0 order by index',
    })
    expect(rows).toEqual([{ level: 8, index: 0 }])
    const after = await parts()
    expect(after?.chains[0]?.size).toBe(before?.chains[0]?.size)
    expect(after?.chains).toEqual(before?.chains)
    if (after === undefined) throw new Error('the task is there')
    expect(writeBundle(after)).toEqual(writeBundle(after))
  })

  test('is proven from the records where a stored hash is wrong', async () => {
    const { superuser } = fixture
    await superuser.query({ text: 'alter table audit.tree_hash disable trigger user' })
    const wrong = `update audit.tree_hash set hash = sha256(hash)`
    await superuser.query({ text: wrong })
    const bundle = await bytesOf(await ask(`/v1/evidence/${task}`, { headers: EVIDENCE }))
    expect(verify(bundle).checks.find(({ id }) => id === 'INCLUSION')?.result).toBe('ok')
    await superuser.query({ text: 'delete from audit.tree_hash' })
  })

  test('of records that nobody has sealed yet is incomplete, not valid', async () => {
    const taskId = randomUUID()
    const other = await createAuditFixture(1)
    const lonely = await other.startAuditor({
      BATON_AUDIT_EVIDENCE_TOKEN: 'evidence-token-14e10d570047667f904261',
    })
    await lonely.client.append([entryOf({ taskId, event: 'HANDOFF_REJECTED' })])
    const response = await fetch(`${lonely.url}/v1/evidence/${taskId}`, { headers: EVIDENCE })
    expect(response.headers.get('baton-verdict')).toBe('incomplete')
    await other.close()
  })
})

describe('who may', () => {
  test('is asked for both tokens', async () => {
    const path = `/v1/evidence/${task}`
    const refused = async (headers: Record<string, string>) => {
      const { status, code } = await problemOf(await ask(path, { headers }))
      return [status, code]
    }
    expect(await refused({})).toEqual([401, 'BATON_TOKEN_MISSING'])
    expect(await refused({ authorization: 'Bearer read-token-ecae13117d6f0584c25a9d' })).toEqual([
      403,
      'BATON_TOKEN_REFUSED',
    ])
    const wrong = {
      ...EVIDENCE,
      'baton-payload-authorization': 'Bearer evidence-token-14e10d570047667f904261',
    }
    expect(await refused(wrong)).toEqual([403, 'BATON_TOKEN_REFUSED'])
    const unknown = await ask(`/v1/evidence/${randomUUID()}`, { headers: EVIDENCE })
    expect((await problemOf(unknown)).code).toBe('BATON_TASK_UNKNOWN')
    const bad = await ask(`/v1/evidence/x`, { headers: EVIDENCE })
    expect((await problemOf(bad)).code).toBe('BATON_TASK_ID_INVALID')
    expect((await problemOf(await post(path, { receipts: [{}] }))).code).toBe(
      'BATON_RECEIPTS_INVALID',
    )
  })

  test('is recorded in the task’s own chain before anything is handed out', async () => {
    const before = (await trace()).records.length
    await ask(`/v1/evidence/${task}`, { headers: TEXTS })
    const { records, verified } = await trace()
    expect(verified).toBe(true)
    expect(records).toHaveLength(before + 1)
    expect(records.at(-1)?.body).toMatchObject({
      event: 'EVIDENCE_EXPORTED',
      reason: 'PAYLOADS_INCLUDED',
      act: { actor: 'evidence-and-payload-token' },
      operation: { address: expect.stringMatching(/127\.0\.0\.1$/) },
    })
  })
})

test('a drill rebuilds the same task for the same seed, in time, and is recorded', async () => {
  const drill = async (body: object) => (await post('/v1/drills', body)).json()
  const first = (await drill({ seed: 7 })) as { taskId: string; totalMs: number; result: string }
  expect(first).toMatchObject({ seed: 7, result: 'passed', traceVerified: true, limitMs: 10_000 })
  expect(first.totalMs).toBeLessThan(10_000)
  const { records } = await auditor.read<TaskTrace>(`/v1/traces/${first.taskId}`)
  expect(records.at(-1)?.body).toMatchObject({ event: 'VERIFY_RUN', reason: 'DRILL_PASSED' })
  expect((await problemOf(await post('/v1/drills', { seed: -1 }))).code).toBe('BATON_SEED_INVALID')
})

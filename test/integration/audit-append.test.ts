// An append is durable, idempotent, gapless and never forked, whoever crashes or competes.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VerifyReport } from '@baton/audit'
import { recordHash } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor

beforeAll(async () => {
  fixture = await createAuditFixture()
  auditor = await fixture.startAuditor()
})
afterAll(() => fixture?.close())

interface ProblemBody {
  readonly code: string
  readonly pointer?: string
  readonly fix?: string
}

const problemOf = async (response: Response) => {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  return { status: response.status, ...((await response.json()) as ProblemBody) }
}

async function storedRecords(taskId: string) {
  const { rows } = await fixture.reader.query<{ body: Buffer; record_hash: Buffer }>({
    text: 'select body, record_hash from record where task_id = $1 order by seq',
    values: [taskId],
  })
  return rows
}

describe('receipts', () => {
  test('name the stored record, and a task stays in one chain', async () => {
    const taskId = randomUUID()
    const entries = [entryOf({ taskId }), entryOf({ taskId, event: 'EXECUTION_COMPLETED' })]
    const receipts = await auditor.client.append(entries)
    const stored = await storedRecords(taskId)
    expect(receipts.map((receipt) => receipt.recordHash)).toEqual(
      stored.map(({ body }) => recordHash(body).toString('hex')),
    )
    expect(stored.every(({ body, record_hash }) => recordHash(body).equals(record_hash))).toBe(true)
    expect(receipts.map((receipt) => receipt.duplicate)).toEqual([false, false])
    expect(receipts[0]?.origin).toMatch(/^baton\/development\/1\/s[0-3]$/)
    expect(receipts[1]?.origin).toBe(receipts[0]?.origin)
    expect((receipts[1]?.recordedAt ?? '') > (receipts[0]?.recordedAt ?? '')).toBe(true)
  })

  test('more entries than one request holds travel in several', async () => {
    const entries = Array.from({ length: 600 }, () => entryOf({ segments: [] }))
    const receipts = await auditor.client.append(entries)
    expect(new Set(receipts.map(({ origin, seq }) => `${origin}${seq}`)).size).toBe(600)
  })
})

describe('idempotency', () => {
  test('the same entry again gets its first receipt, in one request, in two, and after a restart', async () => {
    const entry = entryOf()
    const [first, same] = await auditor.client.append([entry, entry])
    expect(same).toEqual({ ...first, duplicate: true })
    const fresh = entryOf()
    const [again, other] = await auditor.client.append([entry, fresh])
    expect(again).toEqual({ ...first, duplicate: true })
    expect(other?.duplicate).toBe(false)
    const second = await fixture.startAuditor()
    expect(await second.client.append([entry])).toEqual([{ ...first, duplicate: true }])
    expect(await storedRecords(entry.taskId)).toHaveLength(1)
  })

  test('the same key with other content is a conflict, and the rest of the request is stored', async () => {
    const entry = entryOf()
    const fresh = entryOf()
    await auditor.client.append([entry])
    const changes = [
      { attempt: 2 },
      { segments: [{ kind: 'message' as const, subject: null, text: 'other text, same length......' }] },
      { taskId: randomUUID() },
      { reason: 'OTHER' },
    ]
    for (const change of changes) {
      const response = await auditor.post({ entries: [fresh, { ...entry, ...change }] })
      expect(await problemOf(response)).toMatchObject({
        status: 409,
        code: 'BATON_IDEMPOTENCY_CONFLICT',
        pointer: '/entries/1',
      })
    }
    await expect(auditor.client.append([{ ...entry, attempt: 2 }])).rejects.toMatchObject({
      kind: 'permanent',
      code: 'BATON_IDEMPOTENCY_CONFLICT',
    })
    expect(await storedRecords(fresh.taskId)).toHaveLength(1)
    expect(await storedRecords(entry.taskId)).toHaveLength(1)
  })

  test('a crash between commit and reply: the repetition finds what was stored', async () => {
    const crashing = await fixture.startAuditor({ BATON_CRASH_AT: 'auditor.after_append' })
    const entries = Array.from({ length: 5 }, () => entryOf())
    await expect(crashing.client.append(entries)).rejects.toMatchObject({ kind: 'transient' })
    expect(await crashing.process.exited()).toMatchObject({ signal: 'SIGKILL' })
    const receipts = await auditor.client.append(entries)
    expect(receipts.map((receipt) => receipt.duplicate)).toEqual([true, true, true, true, true])
  })

  test('a crash before the append: nothing was stored, and the repetition stores it', async () => {
    const crashing = await fixture.startAuditor({ BATON_CRASH_AT: 'auditor.before_append' })
    const entry = entryOf()
    await expect(crashing.client.append([entry])).rejects.toMatchObject({ kind: 'transient' })
    const receipts = await auditor.client.append([entry])
    expect(receipts[0]?.duplicate).toBe(false)
  })
})

describe('competing writers', () => {
  test('two auditors on the same chains and tasks never fork, skip or lose', async () => {
    const rival = await fixture.startAuditor()
    const tasks = Array.from({ length: 5 }, () => randomUUID())
    const work = async ({ client }: RunningAuditor) => {
      const receipts = []
      for (let round = 0; round < 40; round += 1) {
        const entries = tasks.map((taskId) => entryOf({ taskId }))
        receipts.push(...(await client.append(entries)))
      }
      return receipts
    }
    const receipts = (await Promise.all([work(auditor), work(rival), work(rival)])).flat()
    const places = receipts.map(({ origin, seq }) => `${origin}#${seq}`)
    expect(new Set(places).size).toBe(600)
    for (const taskId of tasks) expect(await storedRecords(taskId)).toHaveLength(120)
    expect(await auditor.read<VerifyReport>('/v1/verify')).toMatchObject({ ok: true, findings: [] })
  })

  test('a writer that was paused while another went on loses its turn, not its records', async () => {
    const paused = await fixture.startAuditor()
    await paused.client.append([entryOf()])
    paused.process.signal('SIGSTOP')
    const waiting = paused.client.append([entryOf(), entryOf()])
    await auditor.client.append(Array.from({ length: 20 }, () => entryOf()))
    paused.process.signal('SIGCONT')
    expect((await waiting).map((receipt) => receipt.duplicate)).toEqual([false, false])
    expect(await auditor.read<VerifyReport>('/v1/verify')).toMatchObject({ ok: true })
  })
})

describe('refusals', () => {
  test.each([
    ['no JSON', '{', 400, 'BATON_BODY_NOT_JSON', ''],
    ['no entries', '{}', 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    ['an empty list', '{"entries":[]}', 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    ['null', 'null', 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    ['257 entries', JSON.stringify({ entries: Array(257).fill({}) }), 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries'],
    ['a bad entry', JSON.stringify({ entries: [entryOf(), { ...entryOf(), epoch: -1 }] }), 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries/1/epoch'],
    ['a lone surrogate', JSON.stringify({ entries: [entryOf({ segments: [{ kind: 'message', subject: null, text: '\ud800' }] })] }), 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries/0/segments/0/text'],
    ['depth 10,000', `{"entries":${'['.repeat(10_000)}${']'.repeat(10_000)}}`, 400, 'BATON_AUDIT_ENTRY_INVALID', '/entries/0'],
  ])('%s', async (_, body, status, code, pointer) => {
    const problem = await problemOf(await auditor.post(body))
    expect(problem).toMatchObject({ status, code, pointer })
    expect(problem.fix).toBeTruthy()
  })

  test('tokens: none, a wrong one, and the one for reading', async () => {
    const none = await fetch(`${auditor.url}/v1/records`, { method: 'POST', body: '{}' })
    expect(await problemOf(none)).toMatchObject({ status: 401, code: 'BATON_TOKEN_MISSING' })
    const reading = await auditor.post({ entries: [entryOf()] }, { authorization: 'Bearer read-token' })
    expect(await problemOf(reading)).toMatchObject({ status: 403, code: 'BATON_TOKEN_REFUSED' })
    const trace = await fetch(`${auditor.url}/v1/traces/${randomUUID()}`, {
      headers: { authorization: 'Bearer append-token' },
    })
    expect(trace.status).toBe(403)
  })

  test('a body beyond the limit', async () => {
    const small = await fixture.startAuditor({ BATON_AUDIT_BODY_BYTES_MAX: '65536' })
    const text = 'x'.repeat(70_000)
    const entries = [entryOf({ segments: [{ kind: 'message', subject: null, text }] })]
    expect(await problemOf(await small.post({ entries }))).toMatchObject({ status: 413 })
  })

  test('more entries than may wait: 503 with Retry-After, and the repetition succeeds', async () => {
    const narrow = await fixture.startAuditor({ BATON_AUDIT_QUEUED_MAX: '256' })
    const requests = Array.from({ length: 8 }, () => ({
      entries: Array.from({ length: 200 }, () => entryOf()),
    }))
    const responses = await Promise.all(requests.map((request) => narrow.post(request)))
    const refused = responses.findIndex((response) => response.status === 503)
    expect(refused).toBeGreaterThan(-1)
    expect(responses[refused]?.headers.get('retry-after')).toBe('1')
    await eventually(async () => (await narrow.post(requests[refused] as object)).ok, {
      deadlineMs: 10_000,
      describe: 'the refused request is taken later',
    })
  })

  test('a database that could lose an acknowledged record', async () => {
    const { audit } = fixture.databases
    const set = (value: string) =>
      fixture.superuser.query({ text: `alter role audit_writer in database ${audit} ${value}` })
    await set('set synchronous_commit = off')
    await expect(fixture.startAuditor()).rejects.toThrow('BATON_AUDIT_NOT_DURABLE')
    await set('reset synchronous_commit')
  })

  test('wrong settings are named all at once', async () => {
    const start = fixture.startAuditor({ BATON_AUDITOR_PORT: 'x', BATON_AUDIT_READ_TOKEN: '' })
    await expect(start).rejects.toThrow(/BATON_AUDIT_READ_TOKEN[^]*BATON_AUDITOR_PORT/)
  })
})

describe('what is said stays sealed', () => {
  test('no text and no subject reaches a record, a log line, a metric or another column', async () => {
    const canary = `canary-${randomUUID()}`
    const subject = `subject-${randomUUID()}`
    const taskId = randomUUID()
    const segments = [
      { kind: 'message' as const, subject: null, text: `a message with ${canary}` },
      { kind: 'personal' as const, subject, text: `a name with ${canary}` },
    ]
    const entry = entryOf({ taskId, segments })
    await auditor.client.append([entry])
    await auditor.post({ entries: [{ ...entry, reason: canary }] })
    await auditor.post({ entries: [{ ...entry, epoch: 1, attempt: 7 }] })
    expect(await auditor.read('/v1/verify')).toMatchObject({ ok: true })
    const sinks = [
      auditor.process.output(),
      await (await fetch(`${auditor.url}/metrics`)).text(),
      JSON.stringify(await auditor.read(`/v1/traces/${taskId}`)),
      await dump(fixture.superuser, ['record', 'idem', 'batch_sig', 'subject', 'payload', 'head']),
      await dump(fixture.vaultSuperuser, ['subject_key'], 'vault'),
    ]
    for (const sink of sinks) {
      expect(sink).not.toContain(canary)
      expect(sink).not.toContain(subject)
    }
  })
})

/** Every row of the tables as text; bytes also as the text they may hold. */
async function dump(
  pool: AuditFixture['superuser'],
  tables: readonly string[],
  schema = 'audit',
): Promise<string> {
  const parts: string[] = []
  for (const table of tables) {
    const { rows } = await pool.query({ text: `select * from ${schema}.${table}` })
    for (const row of rows) {
      for (const value of Object.values(row)) {
        parts.push(Buffer.isBuffer(value) ? value.toString('latin1') : String(value))
      }
    }
  }
  return parts.join('\n')
}

// An append is durable, idempotent, gapless and never forked, whoever crashes or competes.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { VerifyReport } from '@baton/audit'
import { recordHash } from '@baton/ledger'
import { kindOf } from '@baton/runtime'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

/** Nothing is wrong, and nobody outside the database was there to agree: never `ok`. */
const ALONE = { ok: false, verdict: 'incomplete', findings: [] }

let fixture: AuditFixture
let auditor: RunningAuditor

beforeAll(async () => {
  fixture = await createAuditFixture()
  auditor = await fixture.startAuditor()
})
afterAll(() => fixture?.close())

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
      {
        segments: [
          { kind: 'message' as const, subject: null, text: 'other text, same length......' },
        ],
      },
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
    expect(await auditor.read<VerifyReport>('/v1/verify')).toMatchObject(ALONE)
  })

  test('a writer that was paused while another went on loses its turn, not its records', async () => {
    const paused = await fixture.startAuditor()
    await paused.client.append([entryOf()])
    paused.process.signal('SIGSTOP')
    const waiting = paused.client.append([entryOf(), entryOf()])
    await auditor.client.append(Array.from({ length: 20 }, () => entryOf()))
    paused.process.signal('SIGCONT')
    expect((await waiting).map((receipt) => receipt.duplicate)).toEqual([false, false])
    expect(await auditor.read<VerifyReport>('/v1/verify')).toMatchObject(ALONE)
  })
})

test('connections that the database ends in mid-flight lose nothing and double nothing', async () => {
  const entries = Array.from({ length: 40 }, () => entryOf())
  const appended = entries.map(async (entry) => {
    for (;;) {
      try {
        return await auditor.client.append([entry])
      } catch (error) {
        if (kindOf(error) !== 'transient') throw error
        await fixture.superuser.query({ text: 'select 1' })
      }
    }
  })
  for (let round = 0; round < 10; round += 1) {
    await fixture.superuser.query({
      text: `select pg_terminate_backend(pid) from pg_stat_activity
        where usename = 'audit_writer' and datname = $1`,
      values: [fixture.databases.audit],
    })
  }
  const receipts = (await Promise.all(appended)).flat()
  expect(new Set(receipts.map(({ origin, seq }) => `${origin}#${seq}`)).size).toBe(40)
  expect(await auditor.read<VerifyReport>('/v1/verify')).toMatchObject(ALONE)
})

// What is said in a message reaches no record, log line, metric or column.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'
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
    expect(await auditor.read('/v1/verify')).toMatchObject(ALONE)
    const sinks = [
      auditor.process.output(),
      await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text(),
      JSON.stringify(await auditor.read(`/v1/traces/${taskId}`)),
      await dump(fixture.superuser, ['record', 'idem', 'batch_sig', 'payload', 'head']),
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

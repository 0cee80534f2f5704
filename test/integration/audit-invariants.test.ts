// What the doctor asks the audit log beyond its chains: each rule notices what breaks it and nothing else.
import { randomBytes, randomUUID } from 'node:crypto'
import {
  auditInvariants,
  findExcessPrivileges,
  findRecordHashes,
  readTaskTotals,
} from '@baton/audit'
import { recordId } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import { fetchSigned } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
beforeAll(async () => {
  fixture = await createAuditFixture(2)
  auditor = await fixture.startAuditor()
})
afterAll(() => fixture?.close())

const traceparent = () =>
  `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`

/** A handoff of a task of its own, on one trace. */
function handoff() {
  const same = { taskId: randomUUID(), handoffId: randomUUID(), traceparent: traceparent() }
  return (change: Partial<AuditEntry>) => entryOf({ ...same, ...change })
}

async function broken(): Promise<Record<string, readonly string[]>> {
  const found: Record<string, readonly string[]> = {}
  for (const { rule, check } of auditInvariants(fixture.reader)) {
    const ids = await check()
    if (ids.length > 0) found[rule] = ids
  }
  return found
}

describe('the rules of the audit log', () => {
  it('hold for what was decided before it was completed', async () => {
    const entry = handoff()
    await auditor.client.append([
      entry({ event: 'HANDOFF_ACCEPTED' }),
      entry({ event: 'EXECUTION_FAILED' }),
      entry({ event: 'HANDOFF_ACCEPTED', epoch: 2 }),
      entry({ event: 'EXECUTION_COMPLETED', epoch: 2 }),
    ])
    expect(await broken()).toEqual({})
  })

  it('hold for a task that counsel has put under a hold', async () => {
    const holding = await fixture.startAuditor({
      BATON_AUDIT_HOLD_TOKEN: 'hold-token-af1d8213f4a22b0f9803fe',
    })
    const entry = handoff()({ event: 'HANDOFF_REJECTED', reason: 'BUDGET_EXHAUSTED' })
    await holding.client.append([entry])
    const held = await fetchSigned(`${holding.url}/v1/holds/${entry.taskId}`, {
      method: 'PUT',
      headers: {
        authorization: 'Bearer hold-token-af1d8213f4a22b0f9803fe',
        'content-type': 'application/json',
      },
      body: JSON.stringify({ held: true, actor: 'counsel' }),
    })
    expect(await held.json()).toMatchObject({ changed: true })
    expect(await broken()).toEqual({})
  })

  it('name completions without a decision or twice, and tasks on two traces', async () => {
    const [undecided, repeated, split] = [handoff(), handoff(), handoff()]
    await auditor.client.append([
      undecided({ event: 'EXECUTION_COMPLETED' }),
      repeated({ event: 'HANDOFF_ACCEPTED' }),
      repeated({ event: 'EXECUTION_COMPLETED' }),
      repeated({ event: 'EXECUTION_COMPLETED', epoch: 2 }),
      split({ event: 'HANDOFF_ACCEPTED' }),
      split({ event: 'ROLLED_BACK', traceparent: traceparent() }),
    ])
    expect(await broken()).toEqual({
      'every execution of the last day was decided before': [undecided({}).handoffId],
      'no handoff of the last day was completed twice': [repeated({}).handoffId],
      'all records of a task of the last day name one trace': [split({}).taskId],
    })
  })

  it('name a table, also a partition, on which the appending role could do more', async () => {
    expect(await findExcessPrivileges(fixture.reader)).toEqual([])
    const { rows } = await fixture.superuser.query<{ name: string }>({
      text: `select relname as name from pg_class where relname like 'record_2%' and relkind = 'r' limit 1`,
    })
    const partition = rows[0]?.name ?? ''
    await fixture.superuser.query({ text: `grant delete on audit.${partition} to audit_writer` })
    expect(await findExcessPrivileges(fixture.reader)).toEqual([partition])
  })
})

describe('questions about many records at once', () => {
  it('finds recorded hashes by record id, and leaves out what is not recorded', async () => {
    const entry = handoff()({ event: 'HANDOFF_ACCEPTED' })
    const [receipt] = await auditor.client.append([entry])
    const hashes = await findRecordHashes(fixture.reader, [recordId(entry), randomUUID()])
    expect([...hashes]).toEqual([[recordId(entry), receipt?.recordHash]])
  })

  it('adds up records and the running total of each task', async () => {
    const entry = handoff()
    const cost = { remainingMicroUSD: 0, promptTokens: 1, completionTokens: 1 }
    await auditor.client.append([
      entry({ event: 'HANDOFF_ACCEPTED', cost: { ...cost, spentMicroUSD: 40 } }),
      entry({ event: 'EXECUTION_COMPLETED', cost: { ...cost, spentMicroUSD: 70 } }),
      entry({ event: 'ROLLED_BACK', cost: null }),
    ])
    const { taskId } = entry({})
    expect([...(await readTaskTotals(fixture.reader, [taskId, randomUUID()]))]).toEqual([
      [taskId, { records: 3, spentMicroUSD: 70 }],
    ])
  })
})

// What a superuser changes without changing a record: `verify` holds the schema to what its migrations made.
import { verifyChains } from '@baton/audit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'

let fixture: AuditFixture
beforeAll(async () => {
  fixture = await createAuditFixture(2)
  const auditor = await fixture.startAuditor()
  await auditor.client.append([entryOf({})])
})
afterAll(() => fixture?.close())

/** What is found about the schema, in the words of the findings. */
async function altered(): Promise<readonly string[]> {
  const { findings } = await verifyChains({ pool: fixture.reader, batchKeys: new Map() })
  return findings.flatMap(({ rule, message }) => (rule === 'DEFINITION' ? [message] : []))
}

test('an untouched schema has no finding', async () => {
  expect(await altered()).toEqual([])
})

test.each([
  [
    'a view that shows a rejection as accepted',
    `create or replace view audit.handoff_audit as
     select handoffid, taskid, parenthandoffid, fromagent, toagent, 'ACCEPTED'::text as status, reason, attempt,
       verdicts, costs, costathandoff, "timestamp", traceparent, chain, seq, recordhash, previousrecordhash,
       releaseid, overriddenreason, overriddenverdicts, decidedby, decisions, executedversion
     from (select * from audit.handoff_audit_before) b`,
    'the view handoff_audit is not the one that the migrations made',
  ],
  [
    'row security that hides a task',
    'alter table audit.record enable row level security',
    'record has row security, which can hide rows',
  ],
  [
    'a table that a crash empties',
    'alter table audit.batch_sig set unlogged',
    'batch_sig is unlogged: a crash empties it',
  ],
  [
    'a reader that may write',
    'grant update on audit.head to audit_reader',
    'head can be changed by audit_reader',
  ],
  [
    'another function in place of the only way into the log',
    `create or replace function audit.extend_partitions() returns integer language sql as 'select 0'`,
    'the function extend_partitions is not the one that the migrations made',
  ],
  [
    'a trigger that changes what is appended',
    `create function public.change() returns trigger language plpgsql as 'begin return new; end';
     create trigger change before insert on audit.record for each row execute function public.change()`,
    'record has a trigger change that the migrations did not make',
  ],
  [
    'a table in place of another',
    'alter table audit.seal rename to seal_before; create view audit.seal as select * from audit.seal_before',
    'seal is not what the migrations made of it',
  ],
])('%s is found', async (_, change, message) => {
  const client = await fixture.superuser.connect()
  try {
    await client.query(
      change.includes('handoff_audit_before')
        ? `create view audit.handoff_audit_before as ${await definitionOf('handoff_audit')}`
        : 'select 1',
    )
    await client.query(change)
    expect(await altered()).toContain(message)
  } finally {
    client.release()
  }
})

async function definitionOf(view: string): Promise<string> {
  const { rows } = await fixture.superuser.query<{ text: string }>({
    text: `select pg_get_viewdef('audit.${view}'::regclass) as text`,
  })
  return rows[0]?.text ?? ''
}

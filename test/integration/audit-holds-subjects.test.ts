// A person of whom a held task tells is not erased, whatever the indexes say of where the person stands.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { pastGuards, peopleOf } from './audit-holds-fixture.ts'
import type { Person } from './audit-holds-fixture.ts'
import { createSealing } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

let fixture: AuditFixture
let auditor: RunningAuditor
let sealing: Sealing
let sealer: ServiceProcess

beforeAll(async () => {
  fixture = await createAuditFixture()
  sealing = await createSealing(fixture)
  auditor = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_HOLD_TOKEN: 'hold-token-af1d8213f4a22b0f9803fe',
  })
  sealer = await sealing.startSealer()
})
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

const { hold, tell, plan, confirm } = peopleOf(() => auditor)

/** Another task tells of them too, of which the gateway knows nothing; it is held. */
async function heldElsewhere(who: Person): Promise<string> {
  const taskId = randomUUID()
  const segments = [{ kind: 'personal' as const, subject: who.subject, text: 'held' }]
  await auditor.client.append([entryOf({ taskId, handoffId: randomUUID(), segments })])
  await hold(taskId, true)
  await sealing.sealed()
  return taskId
}

/** Otherwise nobody knows of whom a held task told, and nobody is erased. */
const filedAgain = `update audit.record r set task_id = i.task_id from audit.idem i
  where i.chain = r.chain and i.seq = r.seq and i.task_id <> r.task_id`

const namedElse = (taskId: string) => `update audit.payload p set subject_ref = gen_random_uuid()
  from audit.record r where r.chain = p.chain and r.seq = p.seq and r.task_id = '${taskId}'`

const ATTACKS: readonly (readonly [string, readonly string[], (taskId: string) => string])[] = [
  [
    'the record is filed under another task',
    ['record'],
    (taskId) =>
      `update audit.record set task_id = gen_random_uuid() where task_id = '${taskId}' and event <> 36`,
  ],
  ['the index of payloads names somebody else', ['payload'], namedElse],
  [
    'the payload is deleted',
    ['payload'],
    (taskId) => `delete from audit.payload p using audit.record r
      where r.chain = p.chain and r.seq = p.seq and r.task_id = '${taskId}'`,
  ],
]

test.each(ATTACKS)('a person in a held task is not erased where %s', async (_, tables, attack) => {
  const who = await tell()
  const taskId = await heldElsewhere(who)
  await pastGuards(fixture, tables, attack(taskId))
  const planned = await (await plan(who)).json()
  expect(planned).toMatchObject({
    state: 'DEFERRED',
    heldTaskIds: expect.arrayContaining([taskId]),
  })
  await pastGuards(fixture, ['record'], filedAgain)
})

/** Nothing but the signed bytes says any more that the task is held, or of whom it tells. */
const hidden = (
  taskId: string,
) => `update audit.record set event = 1 where event = 36 and task_id = '${taskId}';
  delete from audit.legal_hold; ${namedElse(taskId)}`

test('a person in a held task is not erased where no column and no table says any more that it is held', async () => {
  const who = await tell()
  const id = randomUUID()
  await sealing.sealed()
  expect(await (await plan(who, id)).json()).toMatchObject({ state: 'PLANNED' })
  const taskId = await heldElsewhere(who)
  await pastGuards(fixture, ['record', 'legal_hold', 'payload'], hidden(taskId))
  try {
    expect(await problemOf(await confirm(id, who))).toMatchObject({
      status: 409,
      code: 'BATON_ERASURE_DEFERRED',
    })
    expect(await (await plan(who)).json()).toMatchObject({
      state: 'DEFERRED',
      heldTaskIds: expect.arrayContaining([taskId]),
    })
  } finally {
    await pastGuards(
      fixture,
      ['record'],
      `update audit.record set event = 36 where event = 1 and task_id = '${taskId}' and body like '%LEGAL_HOLD_SET%'::bytea`,
    )
  }
})

test('nobody is erased while a record is not what was sealed, which may have been a hold; an auditor that starts then knows no better', async () => {
  const who = await tell()
  const taskId = await heldElsewhere(who)
  const rewrite = (from: string, to: string) => `update audit.record
    set body = x.body, record_hash = sha256('\\x00'::bytea || x.body)
    from (select chain, seq, convert_to(replace(convert_from(body, 'UTF8'), '${from}', '${to}'), 'UTF8') as body
      from audit.record where event = 36 and task_id = '${taskId}') x
    where (record.chain, record.seq) = (x.chain, x.seq)`
  const kept = 'create table kept_hold as table audit.legal_hold'
  // Its map of tasks may not have read the record yet: it would halt for good.
  await sealer.stop()
  await pastGuards(
    fixture,
    ['record', 'legal_hold', 'payload'],
    `${kept}; delete from audit.legal_hold; ${namedElse(taskId)}; ${rewrite('_SET', '_SAT')}`,
  )
  const fresh = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_HOLD_TOKEN: 'hold-token-af1d8213f4a22b0f9803fe',
  })
  try {
    const { looked } = await fresh.read<{ readonly looked: object }>('/v1/holds')
    expect(looked).toMatchObject({ proven: false, findings: [{ rule: 'SEAL_ROOT' }] })
    const answer = await problemOf(await peopleOf(() => fresh).plan(who))
    expect(answer).toMatchObject({ status: 503, code: 'BATON_HOLD_UNPROVEN' })
  } finally {
    await pastGuards(
      fixture,
      ['record', 'legal_hold'],
      `${rewrite('_SAT', '_SET')}; insert into audit.legal_hold table kept_hold; drop table kept_hold`,
    )
    sealer = await sealing.startSealer()
  }
})

test('the same at the confirmation of what was planned before', async () => {
  const who = await tell()
  const id = randomUUID()
  await sealing.sealed()
  expect(await (await plan(who, id)).json()).toMatchObject({ state: 'PLANNED' })
  const taskId = await heldElsewhere(who)
  await pastGuards(fixture, ['payload'], namedElse(taskId))
  expect(await problemOf(await confirm(id, who))).toMatchObject({
    status: 409,
    code: 'BATON_ERASURE_DEFERRED',
  })
})

test('a person of whom no held task tells is erased while others are held', async () => {
  const who = await tell()
  const id = randomUUID()
  await sealing.sealed()
  expect(await (await plan(who, id)).json()).toMatchObject({ state: 'PLANNED', heldTaskIds: [] })
  expect((await confirm(id, who)).status).toBe(200)
})

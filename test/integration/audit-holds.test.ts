// A legal hold outlives whatever is done to the database: its row deleted, and a lift that nobody at the auditor made.
import { isDeepStrictEqual } from 'node:util'
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { formatSigned, parseNeeded } from '@baton/ledger'
import { eventually, fetchSigned, PEOPLE } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, entryOf, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { pastGuards, peopleOf } from './audit-holds-fixture.ts'
import type { Person } from './audit-holds-fixture.ts'
import { createSealing, opsUrl, privateKey } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'
import { appendForged } from './audit-seals-rewrite.ts'

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
})
beforeEach(async () => {
  sealer = await sealing.startSealer()
})
afterEach(() => sealer?.stop())
afterAll(async () => {
  await sealing?.close()
  await fixture?.close()
})

const { hold, tell, plan, confirm } = peopleOf(() => auditor)

/** A planned erasure of a person whose task was held afterwards, all of it sealed. */
async function plannedAndHeld(): Promise<{ readonly who: Person; readonly id: string }> {
  const who = await tell()
  const id = randomUUID()
  expect((await plan(who, id)).status).toBe(200)
  await hold(who.taskId, true)
  await sealing.sealed()
  return { who, id }
}

const actOfHold = (event: 'LEGAL_HOLD_SET' | 'LEGAL_HOLD_LIFTED') => (taskId: string) => {
  const id = randomUUID()
  const entry = entryOf({ event, taskId, handoffId: id, segments: [] })
  return { ...entry, verdicts: null, cost: null, act: { id, actor: 'counsel' } }
}
const set = actOfHold('LEGAL_HOLD_SET')
const lift = actOfHold('LEGAL_HOLD_LIFTED')

test('a lift counts once a signed tree head proves it; until then an erasure is refused, and nothing is noted', async () => {
  const { who, id } = await plannedAndHeld()
  await sealer.stop()
  await hold(who.taskId, false)
  const refused = await problemOf(await confirm(id, who))
  expect(refused).toMatchObject({ status: 503, code: 'BATON_HOLD_LIFT_UNPROVEN' })
  expect((await plan(who)).status).toBe(503)
  const { rows } = await fixture.superuser.query({
    text: `select from audit.erasure where state <> 'PLANNED'`,
  })
  expect(rows).toEqual([])
  sealer = await sealing.startSealer()
  await sealing.sealed()
  await eventually(async () => (await confirm(id, who)).status === 200, {
    deadlineMs: 10_000,
    describe: 'the erasure after its lift was sealed',
  })
  expect(await rowsOf(who)).toEqual([])
})

/** What the table of holds has of a task, and whether its lift waits for a seal. */
async function rowsOf({ taskId }: Person) {
  const text = 'select lifted_seq is not null as waits from audit.legal_hold where task_id = $1'
  return (await fixture.superuser.query({ text, values: [taskId] })).rows
}

test('a lift that was forged with the stolen key of the batches, and is not sealed, lets nobody be erased', async () => {
  const { who, id } = await plannedAndHeld()
  await sealer.stop()
  await appendForged(fixture, lift(who.taskId), fixture.signingKey)
  // What drops days and lets bundles expire asks the table, in which it stands until a seal covers the lift.
  expect(await rowsOf(who)).toEqual([{ waits: true }])
  expect((await problemOf(await confirm(id, who))).code).toBe('BATON_HOLD_LIFT_UNPROVEN')
  expect(await told(who, '/v1/retention')).toMatchObject({ state: 'lift_unproven' })
})

interface Holds {
  readonly holds: readonly { readonly taskId: string; readonly state: string }[]
}

const told = async (
  { taskId }: Person,
  path: '/v1/holds' | '/v1/retention' | '/v1/tiers' = '/v1/holds',
) => {
  const { holds } = await auditor.read<Holds>(path)
  return holds.find((one) => one.taskId === taskId)
}

test('holds are told by their records: listed or not, lifted and not proven yet, or in the table alone', async () => {
  const { who } = await plannedAndHeld()
  await eventually(async () => (await told(who)) !== undefined, {
    deadlineMs: 10_000,
    describe: 'the hold to be told',
  })
  const record = { event: 'LEGAL_HOLD_SET', actor: 'counsel' }
  expect(await told(who)).toMatchObject({ state: 'held', isListed: true, record })
  const { superuser } = fixture
  await superuser.query({ text: 'delete from audit.legal_hold' })
  expect(await told(who)).toMatchObject({ state: 'held', isListed: false, record })
  const stranger = await tell()
  await superuser.query({
    text: 'insert into audit.legal_hold (task_id, chain, seq, held_at) values ($1, 0, 0, now())',
    values: [stranger.taskId],
  })
  expect(await told(stranger)).toMatchObject({ state: 'unrecorded', isListed: true, record: null })
  for (const one of [who, stranger])
    for (const path of ['/v1/retention', '/v1/tiers'] as const)
      // A seal that comes between two questions changes how well the record is kept.
      await eventually(async () => isDeepStrictEqual(await told(one, path), await told(one)), {
        deadlineMs: 10_000,
        describe: `${path} to tell the same`,
      })
  await hold(stranger.taskId, true)
  expect(await told(stranger)).toMatchObject({ state: 'held', record })
})

interface Told extends Holds {
  readonly looked: { readonly proven: boolean; readonly why: string | null }
}

test('a hold is told that no column and no table has any more, and that no other is there is said where it is proven', async () => {
  const { who } = await plannedAndHeld()
  await eventually(async () => (await told(who)) !== undefined, {
    deadlineMs: 10_000,
    describe: 'the hold to be told',
  })
  const ofHold = `where task_id = '${who.taskId}' and body like '%LEGAL_HOLD_SET%'::bytea`
  await pastGuards(
    fixture,
    ['record', 'legal_hold'],
    `update audit.record set event = 1 ${ofHold}; delete from audit.legal_hold`,
  )
  try {
    for (const path of ['/v1/holds', '/v1/retention', '/v1/tiers'] as const)
      expect(await told(who, path)).toMatchObject({ state: 'unverified', isListed: false })
    expect((await auditor.read<Told>('/v1/holds')).looked).toEqual({
      proven: true,
      why: null,
      unread: 0,
      findings: [],
    })
  } finally {
    await pastGuards(fixture, ['record'], `update audit.record set event = 36 ${ofHold}`)
  }
  expect(await told(who)).toMatchObject({ state: 'held', isListed: false })
})

test('where nobody seals, it is not proven that no other task is held', async () => {
  const unsealing = await fixture.startAuditor()
  const { looked } = await unsealing.read<Told>('/v1/holds')
  expect(looked).toMatchObject({ proven: false, why: 'nobody seals' })
})

test('more holds than one answer tells are told page by page, and never as if there were no more', async () => {
  const taskIds = Array.from({ length: 450 }, () => randomUUID())
  const { superuser } = fixture
  await superuser.query({
    text: 'insert into audit.legal_hold (task_id, chain, seq, held_at) select unnest($1::uuid[]), 0, 0, now()',
    values: [taskIds],
  })
  try {
    interface Page extends Holds {
      readonly next: string | null
      readonly moreHolds?: boolean
    }
    const told = new Set<string>()
    let pages = 0
    for (let path = '/v1/holds'; path !== ''; pages += 1) {
      const { holds, next } = await auditor.read<Page>(path)
      expect(holds.length).toBeLessThanOrEqual(200)
      for (const { taskId } of holds) told.add(taskId)
      path = next === null ? '' : `/v1/holds?after=${next}`
    }
    expect(pages).toBeGreaterThanOrEqual(3)
    expect(taskIds.filter((taskId) => !told.has(taskId))).toEqual([])
    for (const path of ['/v1/tiers', '/v1/retention'])
      expect((await auditor.read<Page>(path)).moreHolds).toBe(true)
  } finally {
    await superuser.query({
      text: 'delete from audit.legal_hold where task_id = any($1::uuid[])',
      values: [taskIds],
    })
  }
  expect((await auditor.read<{ moreHolds: boolean }>('/v1/tiers')).moreHolds).toBe(false)
  expect(await auditor.read('/v1/holds?after=x')).toMatchObject({ code: 'BATON_PARAMETER_INVALID' })
})

test('a task is called unknown to whoever would hold it only where that is proven', async () => {
  const put = async () =>
    problemOf(
      await fetchSigned(`${auditor.url}/v1/holds/${randomUUID()}`, {
        method: 'PUT',
        headers: {
          authorization: 'Bearer hold-token-af1d8213f4a22b0f9803fe',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ held: true, actor: 'counsel' }),
      }),
    )
  await tell()
  await sealing.sealed()
  await eventually(async () => (await put()).code === 'BATON_TASK_UNKNOWN', {
    deadlineMs: 10_000,
    describe: 'the map of tasks to be signed',
  })
  await fixture.superuser.query({ text: 'alter table audit.task_map rename to hidden' })
  await fixture.superuser.query({
    text: 'create table audit.task_map as table audit.hidden with no data',
  })
  await fixture.superuser.query({ text: 'grant select on audit.task_map to public' })
  try {
    expect(await put()).toMatchObject({ status: 404, code: 'BATON_TASK_UNPROVEN' })
  } finally {
    await fixture.superuser.query({ text: 'drop table audit.task_map' })
    await fixture.superuser.query({ text: 'alter table audit.hidden rename to task_map' })
  }
})

interface FoundRecords {
  readonly records: readonly { readonly assurance: string | null; readonly verified: boolean }[]
}

test('a person is found in records that are proven, and one that was changed says so', async () => {
  const who = await tell()
  await sealing.sealed()
  const find = async () => {
    const answer = await auditor.erase('/v1/subjects/search', { subject: who.subject })
    return ((await answer.json()) as FoundRecords).records
  }
  const isKept = async () => (await find())[0]?.assurance !== 'committed'
  await eventually(isKept, { deadlineMs: 10_000, describe: 'the record to be under a signed head' })
  expect(await find()).toMatchObject([
    { taskId: who.taskId, event: 'HANDOFF_ACCEPTED', verified: true },
  ])
  const change = (by: number) =>
    fixture.superuser.query({
      text: `alter table audit.record disable trigger user;
        update audit.record set spent_micro = spent_micro + ${by} where task_id = '${who.taskId}';
        alter table audit.record enable always trigger refuse_change;
        alter table audit.record enable always trigger follow_hold`,
    })
  await change(1)
  expect(await find()).toMatchObject([{ taskId: who.taskId, verified: false }])
  await change(-1)
})

interface Ends {
  readonly ends: readonly { readonly records: number }[]
}

/** A planned erasure of a person whose task is held, and the end of that task is signed. */
async function plannedAndMapped() {
  const planned = await plannedAndHeld()
  const { taskId } = planned.who
  const isMapped = async () =>
    (await auditor.read<Ends>(`/v1/traces/${taskId}`)).ends.some(({ records }) => records === 2)
  await eventually(isMapped, { deadlineMs: 10_000, describe: 'the end of the task to be signed' })
  return planned
}

const tamper = (tables: readonly string[], text: string) => pastGuards(fixture, tables, text)

const OF_TASK = ['record', 'idem', 'legal_hold'] as const

/** As long as records are missing, nobody is erased: what these tests take away of a task, they put back. */
async function keepTask(taskId: string): Promise<() => Promise<unknown>> {
  const { superuser } = fixture
  for (const name of OF_TASK) {
    const text = `create table task_${name} as select * from audit.${name} where task_id = '${taskId}'`
    await superuser.query({ text })
  }
  const putBack = (name: string) => `delete from audit.${name} where task_id = '${taskId}';
    insert into audit.${name} table task_${name}; drop table task_${name}`
  return () => tamper(OF_TASK, OF_TASK.map(putBack).join('; '))
}

const deferred = { status: 409, code: 'BATON_ERASURE_DEFERRED' }

test('a hold survives that its task is deleted and marked as expired', async () => {
  const { who, id } = await plannedAndMapped()
  const putBack = await keepTask(who.taskId)
  await tamper(
    ['record', 'legal_hold', 'archive'],
    `delete from audit.legal_hold where task_id = '${who.taskId}';
      delete from audit.record where task_id = '${who.taskId}';
      insert into audit.archive (log, size, hot_from, min_index) select chain, 256, 256, 256 from audit.head`,
  )
  expect(await problemOf(await confirm(id, who))).toMatchObject(deferred)
  await tamper(['archive'], 'delete from audit.archive')
  await putBack()
})

test('a hold survives that every seal is deleted with its records', async () => {
  const { who, id } = await plannedAndMapped()
  const putBack = await keepTask(who.taskId)
  await sealer.stop()
  const seals = ['seal', 'witnessed', 'chain_checkpoint']
  await tamper(
    ['record', 'idem', 'legal_hold', ...seals],
    [
      `delete from audit.legal_hold where task_id = '${who.taskId}'`,
      `delete from audit.record where task_id = '${who.taskId}' and event = 36`,
      `delete from audit.idem where task_id = '${who.taskId}' and task_seq = 1`,
      ...seals.map((name) => `create table kept_${name} as table audit.${name}`),
      ...seals.map((name) => `delete from audit.${name}`),
    ].join('; '),
  )
  const isUnsealed = async () => {
    const metrics = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
    return !/^baton_audit_unsealed_age_seconds 0$/m.test(metrics)
  }
  await eventually(isUnsealed, { deadlineMs: 10_000, describe: 'the auditor to miss the seals' })
  expect(await problemOf(await confirm(id, who))).toMatchObject(deferred)
  await tamper(
    seals,
    seals.map((name) => `insert into audit.${name} table kept_${name}`).join('; '),
  )
  await putBack()
})

test('a hold survives the deletion of its row, its record and its row in the index', async () => {
  const { who, id } = await plannedAndMapped()
  const putBack = await keepTask(who.taskId)
  await tamper(
    ['record', 'idem'],
    `delete from audit.legal_hold where task_id = '${who.taskId}';
      delete from audit.record where task_id = '${who.taskId}' and event = 36;
      delete from audit.idem where task_id = '${who.taskId}' and task_seq = 1`,
  )
  expect(await problemOf(await confirm(id, who))).toMatchObject(deferred)
  await putBack()
})

// The sealer halts for good on what these forge, so they are the last ones.
test('a lift under a key of one’s own is none: the task stays held', async () => {
  const { who, id } = await plannedAndHeld()
  await appendForged(fixture, lift(who.taskId), privateKey())
  expect((await problemOf(await confirm(id, who))).code).toBe('BATON_ERASURE_DEFERRED')
  expect(await (await plan(who)).json()).toMatchObject({
    state: 'DEFERRED',
    heldTaskIds: [who.taskId],
  })
})

test('a hold under a key of one’s own, which its writer could take away again, does not stand for one', async () => {
  const who = await tell()
  await appendForged(fixture, set(who.taskId), privateKey())
  expect(await hold(who.taskId, true)).toBe(true)
  expect(await hold(who.taskId, true)).toBe(false)
})

test('a hold takes a signature of now, and one signature is one hold', async () => {
  const { taskId } = await tell()
  const ask = (held: boolean, header?: string) =>
    fetch(`${auditor.url}/v1/holds/${taskId}`, {
      method: 'PUT',
      headers: {
        authorization: 'Bearer hold-token-af1d8213f4a22b0f9803fe',
        'content-type': 'application/json',
        ...(header === undefined ? {} : { 'baton-decision': header }),
      },
      body: JSON.stringify({ held, actor: 'counsel' }),
    })
  const decisionOf = async (held: boolean) => {
    const refused = await ask(held)
    expect([refused.status, (await refused.json()) as object]).toMatchObject([
      403,
      { code: 'BATON_DECISION_UNSIGNED' },
    ])
    const decision = parseNeeded(refused.headers.get('baton-decision-needed') ?? '')
    if (decision === undefined) throw new Error('it does not say what to sign')
    return decision
  }
  const lift = await decisionOf(false)
  // Signed while nothing was held, and kept.
  const kept = formatSigned(PEOPLE.sign(lift, new Date(Date.now() - 600_000)))
  const hold = formatSigned(PEOPLE.sign(await decisionOf(true)))
  expect((await ask(true, hold)).status).toBe(200)
  const stale = await ask(false, kept)
  expect([stale.status, (await stale.json()) as object]).toMatchObject([
    403,
    { code: 'BATON_DECISION_REFUSED' },
  ])
  expect((await ask(false, formatSigned(PEOPLE.sign(lift)))).status).toBe(200)
  const again = await ask(true, hold)
  expect([again.status, (await again.json()) as object]).toMatchObject([
    409,
    { code: 'BATON_DECISION_USED' },
  ])
  expect((await ask(true, 'x')).status).toBe(400)
})

// What the signed map of tasks does not say yet is no gap for a legal hold: it is read so that a cut is missed, or nobody is erased.
import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { readCoveredSizes, readTrace } from '@baton/audit'
import { readBatchPublicKey } from '@baton/ledger'
import { eventually } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { createAuditFixture, problemOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { pastGuards, peopleOf } from './audit-holds-fixture.ts'
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

/** While somebody holds this lock the sealer seals, and cannot bring the map of tasks up to what it sealed. */
async function whileTheMapStands(work: () => Promise<void>): Promise<void> {
  const client = await fixture.superuser.connect()
  try {
    await client.query(
      'set idle_in_transaction_session_timeout = 0; begin; lock table audit.task_map in exclusive mode',
    )
    await work()
  } finally {
    await client.query('rollback')
    client.release()
  }
}

const mapped = (taskId: string, count: number) =>
  eventually(
    async () =>
      (await auditor.read<Ends>(`/v1/traces/${taskId}`)).ends.some(
        ({ records }) => records === count,
      ),
    { deadlineMs: 10_000, describe: 'the end of the task to be signed' },
  )

interface Ends {
  readonly ends: readonly { readonly records: number }[]
}

const CUT = ['record', 'idem', 'legal_hold'] as const

test('a hold that the map of tasks does not hold yet survives that it is cut with its row, its record and its index', async () => {
  const who = await tell()
  const id = randomUUID()
  await sealing.sealed()
  await mapped(who.taskId, 1)
  expect(await (await plan(who, id)).json()).toMatchObject({ state: 'PLANNED' })
  await whileTheMapStands(async () => {
    await hold(who.taskId, true)
    await sealing.sealed()
    const ofHold = `task_id = '${who.taskId}' and task_seq = 1`
    await pastGuards(
      fixture,
      CUT,
      [
        `create table cut_record as select * from audit.record where task_id = '${who.taskId}' and event = 36`,
        `create table cut_idem as select * from audit.idem where ${ofHold}`,
        `create table cut_legal_hold as select * from audit.legal_hold where task_id = '${who.taskId}'`,
        `delete from audit.legal_hold where task_id = '${who.taskId}'`,
        `delete from audit.record where task_id = '${who.taskId}' and event = 36`,
        `delete from audit.idem where ${ofHold}`,
      ].join('; '),
    )
    const refused = await problemOf(await confirm(id, who))
    expect(refused).toMatchObject({ status: 503, code: 'BATON_HOLD_UNPROVEN' })
    expect(refused.detail).toMatch(/missing or altered/)
    await pastGuards(
      fixture,
      CUT,
      CUT.map((name) => `insert into audit.${name} table cut_${name}`).join('; '),
    )
    expect(await problemOf(await confirm(id, who))).toMatchObject({
      status: 409,
      code: 'BATON_ERASURE_DEFERRED',
    })
  })
})

test('where the map of tasks cannot follow, what it does not hold yet is read, and lets a person be erased', async () => {
  const who = await tell()
  const id = randomUUID()
  await sealing.sealed()
  await mapped(who.taskId, 1)
  await whileTheMapStands(async () => {
    const young = await tell()
    await sealing.sealed()
    for (const [one, as] of [
      [who, id],
      [young, randomUUID()],
    ] as const) {
      expect(await (await plan(one, as)).json()).toMatchObject({ state: 'PLANNED' })
      const confirmed = await confirm(as, one)
      expect([confirmed.status, await confirmed.text()]).toEqual([200, expect.any(String)])
    }
  })
})

test('nobody is erased under a newest seal that is too old, whatever the map says', async () => {
  const who = await tell()
  await sealing.sealed()
  await mapped(who.taskId, 1)
  await sealer.stop()
  const strict = await fixture.startAuditor({
    BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
    BATON_AUDIT_SEAL_AGE_MAX_MS: '100',
  })
  const isOld = async () => (await peopleOf(() => strict).plan(who)).status === 503
  await eventually(isOld, { deadlineMs: 10_000, describe: 'the newest seal to be too old' })
  const refused = await problemOf(await peopleOf(() => strict).plan(who))
  expect(refused).toMatchObject({ code: 'BATON_HOLD_UNPROVEN' })
  expect(refused.detail).toMatch(/the newest seal is [\d.]+ s old/)
})

test('a version of the map that is not kept any more proves nothing, and is not called altered', async () => {
  const who = await tell()
  await sealing.sealed()
  await mapped(who.taskId, 1)
  const look = () => readCoveredSizes(fixture.reader, readBatchPublicKey(sealing.publicKey))
  const newest = async () => Math.max(...(await look()).taskMaps.map(({ seals }) => seals))
  const covered = await look()
  const before = await newest()
  await tell()
  await eventually(async () => (await newest()) > before, {
    deadlineMs: 10_000,
    describe: 'a newer map',
  })
  // As the sealer prunes it a minute later.
  await fixture.superuser.query({
    text: 'select audit.prune_task_map(0, $1::bigint)',
    values: [await newest()],
  })
  const read = (as: typeof covered) => readTrace(fixture.reader, who.taskId, { covered: as })
  expect(await read(covered)).toMatchObject({ verified: true, findings: [], ends: [] })
  expect(await read(await look())).toMatchObject({ verified: true, ends: [{ records: 1 }] })
})

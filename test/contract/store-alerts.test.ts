// Alerts on a real Postgres: one open row for each cause with exact counts, whoever raises, counts and closes at the same time.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  acknowledgeAlert,
  closeAlert,
  closeAlertById,
  countAlerts,
  createPool,
  endHandoffs,
  findAlert,
  forgetAlerts,
  listAlertChanges,
  listAlerts,
  raiseAlert,
  sendHandoffs,
} from '@baton/store'
import type { Alert, Pool } from '@baton/store'
import { executing, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
let twenty: Pool
beforeAll(async () => {
  store = await openStore('store alerts')
  twenty = createPool({ url: store.databaseUrl, applicationName: 'test', connectionsMax: 20 })
})
afterAll(async () => {
  await twenty.end()
  await store.close()
})
beforeEach(() => store.rows('truncate alert, alert_change, alert_occurrence'))

const slow = (key = 'latency.pair a b'): Alert => ({
  key,
  kind: 'latency.pair',
  severity: 'ticket',
  reason: 'BURNING',
  subject: { fromAgent: 'a', toAgent: 'b' },
})
const open = () => listAlerts(store.pool, { limit: 100 })
const changesOf = async (alertId: string) =>
  (await listAlertChanges(store.pool, alertId)).map(({ change }) => change)

/** What settlements leave behind: `count` rows of one handoff and reason. */
const note = (
  handoffId: string,
  { reason = 'SCHEMA_INVALID', count = 1, escalated = false } = {},
) =>
  store.rows(
    `insert into alert_occurrence (kind, handoff_id, task_id, reason, escalated)
     select 'handoff.rolled_back', $1, $1, $2, $4 from generate_series(1, $3)`,
    [handoffId, reason, count, escalated],
  )

describe('an alert', () => {
  it('opens once for a key and counts every further time; what comes after it closed is another', async () => {
    const first = await raiseAlert(store.pool, slow())
    expect(await raiseAlert(store.pool, { ...slow(), severity: 'page' })).toBe(first)
    expect(await open()).toMatchObject([
      { alertId: first, occurrences: 2, severity: 'page', state: 'open', handoffIds: [] },
    ])
    expect(await closeAlert(store.pool, slow().key)).toBe(true)
    expect(await closeAlert(store.pool, slow().key)).toBe(false)
    expect(await open()).toEqual([])
    expect(await raiseAlert(store.pool, slow())).not.toBe(first)
    expect(await changesOf(first)).toEqual(['opened', 'closed'])
    expect(await findAlert(store.pool, first)).toMatchObject({
      state: 'closed',
      closedBy: null,
      closedWhy: 'over',
    })
  })

  it('is told again at ten times as often, not each time', async () => {
    const alertId = await raiseAlert(store.pool, slow())
    for (let time = 2; time <= 12; time += 1) await raiseAlert(store.pool, slow())
    expect(await changesOf(alertId)).toEqual(['opened', 'repeated'])
    expect((await listAlertChanges(store.pool, alertId)).map((one) => one.occurrences)).toEqual([
      1, 10,
    ])
  })

  it('is acknowledged once and closed once, each by who came first', async () => {
    const alertId = await raiseAlert(store.pool, slow())
    const people = ['ann', 'bob', 'cy', 'di']
    const did = await Promise.all(people.map((one) => acknowledgeAlert(store.pool, alertId, one)))
    expect(did.filter(Boolean)).toHaveLength(1)
    const closed = await Promise.all(
      people.map((actor) => closeAlertById(store.pool, { alertId, actor, why: `by ${actor}` })),
    )
    expect(closed.filter(Boolean)).toHaveLength(1)
    const alert = await findAlert(store.pool, alertId)
    expect(alert).toMatchObject({
      acknowledgedBy: people[did.indexOf(true)],
      closedBy: people[closed.indexOf(true)],
      closedWhy: `by ${people[closed.indexOf(true)]}`,
    })
    expect(await acknowledgeAlert(store.pool, alertId, 'eve')).toBe(false)
    expect(await changesOf(alertId)).toEqual(['opened', 'acknowledged', 'closed'])
  })

  it('is listed by state, kind and severity, page by page', async () => {
    const ids: string[] = []
    for (const key of ['1', '2', '3']) ids.push(await raiseAlert(store.pool, slow(key)))
    await raiseAlert(store.pool, { ...slow('4'), kind: 'other', severity: 'page' })
    await acknowledgeAlert(store.pool, ids[0] ?? '', 'ann')
    const idsOf = async (filter: object) =>
      (await listAlerts(store.pool, { limit: 2, ...filter })).map(({ alertId }) => alertId)
    const kind = 'latency.pair'
    expect(await idsOf({ kind })).toEqual([ids[2], ids[1]])
    const [, second] = await listAlerts(store.pool, { limit: 2, kind })
    expect(await idsOf({ kind, cursor: second?.position })).toEqual([ids[0]])
    expect(await idsOf({ state: 'acknowledged' })).toEqual([ids[0]])
    expect(await idsOf({ severity: 'page' })).toHaveLength(1)
    expect(await idsOf({ state: 'closed' })).toEqual([])
  })

  it('is forgotten with its history 90 days after it closed, never while it is open', async () => {
    const alertId = await raiseAlert(store.pool, slow())
    await raiseAlert(store.pool, slow('open'))
    await closeAlert(store.pool, slow().key)
    const age = (days: number) =>
      store.rows(`update alert set created_at = now() - interval '1 year', last_at = created_at,
        closed_at = case when closed_at is not null then now() - interval '${days} days' end`)
    await age(89)
    await forgetAlerts(store.pool)
    expect(await findAlert(store.pool, alertId)).toBeDefined()
    await age(91)
    await forgetAlerts(store.pool)
    expect(await findAlert(store.pool, alertId)).toBeUndefined()
    expect(await changesOf(alertId)).toEqual([])
    expect(await open()).toHaveLength(1)
  })
})

describe('what settlements note', () => {
  it('is counted by kind, reason and pair of agents, with the newest 20 handoffs', async () => {
    const handoffs = await Promise.all(Array.from({ length: 25 }, () => executing(store.pool)))
    const ending = {
      state: 'ROLLED_BACK' as const,
      taskStatus: 'PENDING_HANDOFF' as const,
      details: '[]',
      costMicroUSD: 0,
      alert: true,
    }
    for (const [index, handoff] of handoffs.entries()) {
      const reason = index === 0 ? 'SIGNATURE_INVALID' : 'SCHEMA_INVALID'
      await endHandoffs(store.pool, [{ ...handoff, ...ending, reason, escalate: index === 24 }], [])
    }
    await countAlerts(store.pool)
    const [forged, refused] = (await open()).toSorted((a, b) => a.occurrences - b.occurrences)
    expect(forged).toMatchObject({ reason: 'SIGNATURE_INVALID', severity: 'page', occurrences: 1 })
    expect(refused).toMatchObject({
      kind: 'handoff.rolled_back',
      reason: 'SCHEMA_INVALID',
      severity: 'ticket',
      subject: { fromAgent: newHandoff().fromAgent, toAgent: newHandoff().toAgent },
      occurrences: 24,
      escalations: 1,
      handoffIds: handoffs
        .slice(5)
        .map(({ handoffId }) => handoffId)
        .toReversed(),
    })
    expect(await store.rows('select from alert_occurrence')).toEqual([])
  })

  it('is counted apart for pairs whose names, with a space between, read the same', async () => {
    const pairs = [
      { fromAgent: 'a', toAgent: 'b c' },
      { fromAgent: 'a b', toAgent: 'c' },
    ]
    const handoffs = pairs.map((pair) => newHandoff(pair))
    await sendHandoffs(store.pool, handoffs)
    for (const { handoffId } of handoffs) await note(handoffId)
    expect(await countAlerts(store.pool)).toBe(2)
    expect((await open()).map(({ subject }) => subject)).toEqual(expect.arrayContaining(pairs))
  })

  it('tells the first escalation of an alert, and ten times as often', async () => {
    const handoffId = randomUUID()
    await note(handoffId)
    await countAlerts(store.pool)
    await note(handoffId, { escalated: true })
    await countAlerts(store.pool)
    await note(handoffId, { escalated: true, count: 8 })
    await countAlerts(store.pool)
    const [alert] = await open()
    expect(await changesOf(alert?.alertId ?? '')).toEqual(['opened', 'escalated', 'repeated'])
  })

  it('of pairs without end is counted by reason alone, once a thousand alerts are open', async () => {
    const [known, later] = [newHandoff({ fromAgent: 'known' }), newHandoff({ fromAgent: 'later' })]
    await sendHandoffs(store.pool, [known, later])
    await note(known.handoffId)
    await countAlerts(store.pool)
    await store.rows(`insert into alert (key, kind, severity, reason, subject, occurrences, escalations, handoff_ids,
        first_at, last_at)
      select n::text, 'other', 'ticket', 'X', '{}', 1, 0, '{}', now(), now() from generate_series(1, 999) n`)
    await note(known.handoffId)
    await note(later.handoffId, { count: 3 })
    await countAlerts(store.pool)
    const alerts = await listAlerts(store.pool, { limit: 10, kind: 'handoff.rolled_back' })
    expect(alerts.map(({ subject, occurrences }) => [subject, occurrences])).toEqual([
      [{}, 3],
      [{ fromAgent: 'known', toAgent: 'reviewer' }, 2],
    ])
  })

  it('of a sender who names pairs without end opens fifty alerts, and one that counts the rest', async () => {
    const flood = Array.from({ length: 60 }, (_, index) =>
      newHandoff({ fromAgent: `made-up-${index}`, sentBy: 'mallory' }),
    )
    const honest = newHandoff({ fromAgent: 'intake', sentBy: 'ann' })
    await sendHandoffs(store.pool, [...flood, honest])
    for (const { handoffId } of flood) await note(handoffId)
    await note(flood[0]?.handoffId ?? '')
    await note(honest.handoffId)
    await countAlerts(store.pool)
    const ofSender = async () =>
      (await open())
        .filter(({ subject }) => subject['sender'] === 'mallory')
        .map(({ subject, occurrences }) => [subject, occurrences])
    expect(await ofSender()).toEqual([[{ sender: 'mallory' }, 10]])
    expect((await open()).map(({ subject }) => subject)).toContainEqual({
      fromAgent: 'intake',
      toAgent: 'reviewer',
    })
    expect(await open()).toHaveLength(52)
    // Those that have their own go on to be counted there, and what is new beside the rest.
    const known = (await open()).find(({ subject }) => subject['fromAgent'] === 'made-up-0')
    await note(flood[0]?.handoffId ?? '')
    const further = newHandoff({ fromAgent: 'made-up-60', sentBy: 'mallory' })
    await sendHandoffs(store.pool, [further])
    await note(further.handoffId)
    await countAlerts(store.pool)
    expect(await ofSender()).toEqual([[{ sender: 'mallory' }, 11]])
    const after = await findAlert(store.pool, known?.alertId ?? '')
    expect(after?.occurrences).toBe((known?.occurrences ?? 0) + 1)
    // With one closed there is room for one more.
    await closeAlertById(store.pool, { alertId: known?.alertId ?? '', actor: 'ann', why: 'x' })
    await note(further.handoffId)
    await countAlerts(store.pool)
    expect((await open()).map(({ subject }) => subject['fromAgent'])).toContain('made-up-60')
  })

  it('waits for nobody: it is noted while the alert of its cause is locked', async () => {
    const handoffId = randomUUID()
    await note(handoffId)
    await countAlerts(store.pool)
    const holder = await store.superuser.connect()
    try {
      await holder.query('begin')
      await holder.query('select from alert for update')
      const ended = await executing(store.pool)
      await endHandoffs(
        store.pool,
        [
          {
            ...ended,
            state: 'ROLLED_BACK',
            taskStatus: 'PENDING_HANDOFF',
            reason: 'SCHEMA_INVALID',
            details: '[]',
            costMicroUSD: 0,
            alert: true,
            escalate: false,
          },
        ],
        [],
      )
      expect(await store.rows('select from alert_occurrence')).toHaveLength(1)
    } finally {
      await holder.query('rollback')
      holder.release()
    }
  })
})

describe('20 connections at the same time', () => {
  it('raise and count the same keys in mixed orders: no deadlock, exact counts', async () => {
    const reasons = Array.from({ length: 10 }, (_, index) => `R${index}`)
    const handoffId = randomUUID()
    await Promise.all(
      Array.from({ length: 20 }, async (_, worker) => {
        const mine = worker % 2 === 0 ? reasons : reasons.toReversed()
        for (const reason of mine) {
          await note(handoffId, { reason, count: 7 })
          await raiseAlert(twenty, slow(reason))
          await countAlerts(twenty)
        }
      }),
    )
    await countAlerts(twenty)
    const alerts = await open()
    expect(alerts).toHaveLength(20)
    for (const { kind, occurrences } of alerts)
      expect(occurrences).toBe(kind === 'latency.pair' ? 20 : 140)
    const changes = await store.rows<{ change: string; count: number }>(
      'select change, count(*)::int as count from alert_change group by change order by change',
    )
    // Each opened once; 20 times crosses one power of ten and 140 two, unless one set crossed both.
    expect(changes[0]).toEqual({ change: 'opened', count: 20 })
    expect(changes[1]?.count).toBeGreaterThanOrEqual(20)
    expect(changes[1]?.count).toBeLessThanOrEqual(30)
  })

  it('close while others raise: no occurrence is lost', async () => {
    await Promise.all(
      Array.from({ length: 20 }, async (_, worker) => {
        for (let time = 0; time < 10; time += 1) {
          if (worker % 4 === 0) await closeAlert(twenty, slow().key)
          else await raiseAlert(twenty, slow())
        }
      }),
    )
    const [total] = await store.rows<{ sum: number; open: number }>(
      'select sum(occurrences)::int, count(*) filter (where closed_at is null)::int as open from alert',
    )
    expect(total?.sum).toBe(150)
    expect(total?.open).toBeLessThanOrEqual(1)
  })
})

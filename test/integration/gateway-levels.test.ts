// GET /v2/slo on a real Postgres: what was sent through a gateway is counted, budgets, pairs and rates follow from the counts.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { get, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
  // What two gateways counted is there once they have stopped.
  for (const count of [2, 1]) {
    const other = fixture.another()
    await other.start()
    for (let sent = 0; sent < count; sent += 1) await post(other, stateBody())
    await other.stop()
  }
  await addPair('slow', { total: 200, inTime: 190 })
  await addPair('slower', { total: 200, inTime: 100 })
  await addPair('few', { total: 3, inTime: 0 })
  await add('baton_hop_seconds_count', '{"hop":"validate"}', [200])
  await add('baton_handoff_validation_failures_total', '{}', [5])
  await add('baton_rollbacks_total', '{}', [1])
})
afterAll(() => fixture.close())

/** Counted half a minute ago by some process. */
async function add(metric: string, labels: string, counts: readonly number[]) {
  await fixture.pool.query({
    text: `insert into metric_minute select date_trunc('minute', clock_timestamp()), gen_random_uuid(), $1, $2, $3::bigint[]`,
    values: [metric, labels, `{${counts.join(',')}}`],
  })
}

/** Handoffs to `b` by queue: in time are those within 0.5 s, the others took between 2 and 5. */
function addPair(from: string, { total, inTime }: { total: number; inTime: number }) {
  const counts = [...Array<number>(8).fill(0), inTime, inTime, inTime, total, total, total]
  const labels = `{"from_agent":"${from}","to_agent":"b","transport":"queue"}`
  return add('baton_handoff_latency_seconds', labels, counts)
}

const read = async (query = '') => (await get(fixture.gateway, `/v2/slo${query}`)).json()

it('tells how each objective stands, from the counts of all processes', async () => {
  const { objectives, since, at, periodDays, trafficMin } = await read()
  expect([periodDays, trafficMin]).toEqual([30, 100])
  expect(Date.parse(since)).toBeLessThanOrEqual(Date.parse(at))
  const stand = objectives.map(({ id, state, handoffs, inTime }: Record<string, unknown>) =>
    [id, state, handoffs, inTime].join(' '),
  )
  expect(stand).toEqual([
    'http-target too_little_traffic 0 0',
    'http-maximum too_little_traffic 0 0',
    'queue-target exhausted 403 290',
    'queue-maximum exhausted 403 290',
    'temporal-target too_little_traffic 0 0',
    'temporal-maximum too_little_traffic 0 0',
  ])
  const target = objectives[2]
  expect(target.errorBudgetLeft).toBeCloseTo(1 - 113 / 403 / 0.01, 6)
  expect(target.burn.map(({ handoffs }: { handoffs: number }) => handoffs)).toEqual(
    Array(8).fill(403),
  )
  expect(target.hours).toHaveLength(24)
  expect(target.hours.at(-1)).toBeCloseTo(290 / 403, 6)
})

it('lists pairs, those with the least budget left first, and finds one', async () => {
  const { pairs, pairsLeftOut } = await read()
  expect(pairs.map(({ fromAgent, state }: Record<string, string>) => [fromAgent, state])).toEqual([
    ['slower', 'exhausted'],
    ['slow', 'exhausted'],
    ['few', 'too_little_traffic'],
  ])
  expect(pairsLeftOut).toBe(0)
  expect(pairs[0]).toMatchObject({ handoffs: 200, inTime: 100, attained: 0.5, p50Ms: 500 })
  const one = await read('?transport=queue&from=slow&to=b')
  expect(one.pairs.map(({ fromAgent }: { fromAgent: string }) => fromAgent)).toEqual(['slow'])
  expect(one.objectives.map(({ id }: { id: string }) => id)).toEqual([
    'queue-target',
    'queue-maximum',
  ])
})

it('judges the rates as the alerts do, and tells what was sent and what waits', async () => {
  const { rates, recent, waiting, outbox } = await read()
  expect(rates.map(({ id, state }: Record<string, string>) => [id, state])).toEqual([
    ['latency', 'over'],
    ['validation_failures', 'over'],
    ['safety_violations', 'too_little_traffic'],
    ['rollbacks', 'within'],
    ['compressions', 'no_limit'],
  ])
  // Two gateways sent three; nothing delivers them.
  expect(rates[4].windows.map(({ whole }: { whole: number }) => whole)).toEqual([3, 3])
  expect(recent.sent.perSecond).toBeGreaterThan(3 / 121)
  expect(recent.accepted.p99Ms).toBeGreaterThan(2_000)
  expect(outbox.depth).toBe(3)
  expect(waiting).toMatchObject({ deadLetters: 0, approvals: 0, escalations: 0, alerts: 0 })
})

it.each([
  ['?transport=pigeon', 'BATON_PARAMETER_INVALID'],
  ['?from=a&from=b', 'BATON_PARAMETER_INVALID'],
  ['?pair=a', 'BATON_PARAMETER_UNKNOWN'],
])('refuses %s with %s', async (query, code) => {
  expect(await read(query)).toMatchObject({ status: 400, code })
})

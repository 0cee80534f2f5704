// What counters rose by reaches the database once: repeated writes, restarts, several processes, kills; and it stays bounded.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createLevelRecorder, tellSlowPairs } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import {
  forgetDays,
  listAlerts,
  METRIC_ROWS_MAX,
  rollUpHours,
  rollUpMinutes,
  sumByAge,
  sumByAgeAndLabel,
  writeMinutes,
} from '@baton/store'
import type { AgedCounts, Pool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { eventually } from '@baton/testkit'
import { openStore } from '../contract/store-fixture.ts'
import type { StoreFixture } from '../contract/store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('level recorder')
})
afterAll(() => store.close())
beforeEach(() => store.rows('truncate metric_minute, metric_hour, metric_day, alert, alert_change'))

const logger = createLogger({ service: 'test', level: 'silent' })
const ROLLBACKS = 'baton_rollbacks_total'
const DAY = 86_400
const EVERY_MS = 5

/** A process with counters of its own. */
function startProcess(pool: Pool = store.pool) {
  const metrics = createMetrics()
  const recorder = createLevelRecorder({ pool, metrics, logger, everyMs: EVERY_MS })
  return { metrics, recorder }
}

async function rollbacks(): Promise<number> {
  const rows = await sumByAge(store.pool, [31 * DAY], ROLLBACKS)
  return rows.reduce((sum, { counts }) => sum + (counts[0] ?? 0), 0)
}

const written = (count: number) =>
  eventually(async () => (await rollbacks()) === count, {
    deadlineMs: 5_000,
    describe: `${count} rollbacks are written`,
  })

describe('the recorder', () => {
  it('writes what rose since it wrote last, and at its stop what rose since then', async () => {
    const { metrics, recorder } = startProcess()
    await recorder.start()
    metrics.rollbacksTotal.inc(2)
    await written(2)
    metrics.rollbacksTotal.inc(3)
    await written(5)
    metrics.rollbacksTotal.inc()
    await recorder.stop()
    await recorder.stop()
    expect(await rollbacks()).toBe(6)
  })

  it('adds up processes, and what a restarted one counts anew', async () => {
    for (const by of [2, 3]) {
      const { metrics, recorder } = startProcess()
      metrics.rollbacksTotal.inc(by)
      await recorder.stop()
    }
    expect(await rollbacks()).toBe(5)
  })

  it('lets two who read the same counters in one process write every rise once', async () => {
    const { metrics, recorder } = startProcess()
    const other = createLevelRecorder({ pool: store.pool, metrics, logger, everyMs: EVERY_MS })
    await Promise.all([recorder.start(), other.start()])
    for (let count = 1; count <= 20; count += 1) {
      metrics.rollbacksTotal.inc()
      if (count % 5 === 0) await written(count)
    }
    await Promise.all([recorder.stop(), other.stop()])
    expect(await rollbacks()).toBe(20)
  })

  it('loses of a killed process only what it had not written', async () => {
    const killed = startProcess()
    await killed.recorder.start()
    killed.metrics.rollbacksTotal.inc(2)
    await written(2)
    const next = startProcess()
    next.metrics.rollbacksTotal.inc(4)
    await next.recorder.stop()
    expect(await rollbacks()).toBe(6)
    await killed.recorder.stop()
  })

  it('repeats a write of which it does not know the end, and counts it once', async () => {
    let broken = 2
    // The statement is carried out; its answer is lost.
    const unsure: Pool = {
      ...store.pool,
      async query(statement) {
        const answer = await store.pool.query<never>(statement)
        const isWrite = statement.values?.[1] instanceof Array && statement.values[1].length > 0
        if (isWrite && broken-- > 0) throw new Error('the connection ended')
        return answer
      },
    }
    const { metrics, recorder } = startProcess(unsure)
    await recorder.start()
    metrics.rollbacksTotal.inc(7)
    await eventually(() => broken <= 0, { deadlineMs: 5_000, describe: 'two answers were lost' })
    metrics.rollbacksTotal.inc(1)
    await recorder.stop()
    expect(await rollbacks()).toBe(8)
  })

  it('keeps what rose while the database was away', async () => {
    let isAway = true
    let refused = 0
    const away: Pool = {
      ...store.pool,
      query(statement) {
        if (!isAway) return store.pool.query(statement)
        refused += 1
        throw new Error('away')
      },
    }
    const { metrics, recorder } = startProcess(away)
    await recorder.start()
    metrics.rollbacksTotal.inc(3)
    await eventually(() => refused > 1, { deadlineMs: 5_000, describe: 'two writes failed' })
    metrics.rollbacksTotal.inc(1)
    isAway = false
    await recorder.stop()
    expect(await rollbacks()).toBe(4)
  })
})

const row = (minute: Date, count: number, metric = ROLLBACKS) => ({
  minute,
  metric,
  labels: '{}',
  counts: [count],
})
const PROCESS = '00000000-0000-4000-8000-000000000001'

describe('writeMinutes', () => {
  it('takes no step back for a write that was overtaken, and nothing that may be rolled up', async () => {
    const now = await writeMinutes(store.pool, PROCESS, [])
    const minute = new Date(Math.floor(now.getTime() / 60_000) * 60_000)
    const old = new Date(minute.getTime() - 7 * 3_600_000)
    for (const count of [5, 3, 5]) await writeMinutes(store.pool, PROCESS, [row(minute, count)])
    await writeMinutes(store.pool, PROCESS, [row(old, 100)])
    expect(await rollbacks()).toBe(5)
  })
})

/** Two processes, one row per hour each, over this many hours before now. */
const fill = (hours: number) =>
  store.rows(
    `insert into metric_minute select clock_timestamp() - h * interval '1 hour', p, $1, '{}', array[1, 10]
     from generate_series(1, $2::int) h, unnest(array[gen_random_uuid(), gen_random_uuid()]) p`,
    [ROLLBACKS, hours],
  )

describe('rolling up and forgetting', () => {
  it('moves what is older than three hours into hours, once, with any number at it', async () => {
    await fill(100)
    await store.rows(`insert into metric_hour select date_trunc('hour', minute, 'UTC'), metric, labels, array[1, 10]
      from metric_minute where minute < clock_timestamp() - interval '50 hours' on conflict do nothing`)
    const before = await rollbacks()
    await Promise.all([1, 2, 3, 4].map(() => rollUpMinutes(store.pool)))
    expect(await rollUpMinutes(store.pool)).toBe(0)
    expect(await rollbacks()).toBe(before)
    const [left] = await store.rows<{ minutes: number; twentieth: number[] }>(
      `select (select count(*)::int from metric_minute) as minutes,
         (select counts::float8[] from metric_hour order by hour desc offset 20 limit 1) as twentieth`,
    )
    // The last three hours, and what is left of the hour before them.
    expect([6, 8]).toContain(left?.minutes)
    expect(left?.twentieth).toEqual([2, 20])
  })

  it('moves hours older than four days into days, once, with any number at it', async () => {
    await store.rows(
      `insert into metric_hour select date_trunc('hour', clock_timestamp(), 'UTC') - h * interval '1 hour', $1, '{}', array[1, 10]
       from generate_series(0, 239) h`,
      [ROLLBACKS],
    )
    const before = await rollbacks()
    await Promise.all([1, 2, 3, 4].map(() => rollUpHours(store.pool)))
    expect(await rollUpHours(store.pool)).toBe(0)
    expect(await rollbacks()).toBe(before)
    const [left] = await store.rows<{ hours: number; second: number[] }>(
      `select (select count(*)::int from metric_hour) as hours,
         (select counts::float8[] from metric_day order by day desc offset 1 limit 1) as second`,
    )
    // The last four days, and what is left of the day before them.
    expect(left?.hours).toBeGreaterThanOrEqual(96)
    expect(left?.hours).toBeLessThanOrEqual(120)
    expect(left?.second).toEqual([24, 240])
  })

  it('takes a bounded number of rows at a time', async () => {
    await store.rows(
      `insert into metric_minute select clock_timestamp() - interval '9 hours' - m * interval '1 second', gen_random_uuid(), $1, '{}', '{1}'
       from generate_series(1, $2::int) m`,
      [ROLLBACKS, METRIC_ROWS_MAX + 1],
    )
    expect(await rollUpMinutes(store.pool)).toBe(METRIC_ROWS_MAX)
    expect(await rollUpMinutes(store.pool)).toBe(1)
  })

  it('forgets days after 31 days', async () => {
    await store.rows(
      `insert into metric_day select date_trunc('day', clock_timestamp()) - d * interval '1 day', $1, '{}', '{1}'
       from generate_series(0, 40) d`,
      [ROLLBACKS],
    )
    await Promise.all([forgetDays(store.pool), forgetDays(store.pool)])
    const [kept] = await store.rows(`select count(*)::int as count from metric_day`)
    expect(kept).toEqual({ count: 31 })
  })
})

describe('sums by age', () => {
  it('are the same whether one list of ages is asked for or two, and one label by ages of its own', async () => {
    const labels = (from: string) => `{"from_agent":"${from}","transport":"queue"}`
    for (const [table, unit, back] of [
      ['metric_minute', 'minute', ['20 seconds', '3 minutes', '50 minutes', '90 minutes']],
      ['metric_hour', 'hour', ['4 hours', '23 hours', '30 hours', '80 hours']],
      ['metric_day', 'day', ['6 days', '29 days', '33 days']],
    ] as const)
      await store.rows(
        `insert into ${table} (${unit}, metric, labels, counts ${unit === 'minute' ? ', process' : ''})
         select date_trunc('minute', clock_timestamp()) - b::interval, 'm', l, array[1, 3]
           ${unit === 'minute' ? ', gen_random_uuid()' : ''}
         from unnest($1::text[]) b, unnest($2::text[]) l`,
        [back, [labels('a'), labels('b')]],
      )
    const ages = [300, 7_200, 86_400, 30 * DAY]
    const hours = Array.from({ length: 24 }, (_, hour) => (hour + 1) * 3_600)
    const { rows, byLabel } = await sumByAgeAndLabel(store.pool, ages, {
      metric: 'm',
      label: 'transport',
      agesSeconds: hours,
    })
    const inOrder = (counts: readonly AgedCounts[]) =>
      counts.map(({ labels: of, age, counts: sums }) => `${of} ${age} ${sums.join(' ')}`).toSorted()
    expect(inOrder(rows)).toEqual(inOrder(await sumByAge(store.pool, ages, 'm')))
    expect(inOrder(rows).filter((one) => one.includes('"a"'))).toEqual(
      [`0 2 6`, `1 2 6`, `2 2 6`, `3 4 12`].map((sums) => `${labels('a')} ${sums}`),
    )
    expect(inOrder(byLabel)).toEqual(['queue 0 6 18', 'queue 1 2 6', 'queue 23 2 6', 'queue 4 2 6'])
  })
})

/** One row of 50 handoffs for each of the last minutes, from `first` to `last` minutes ago. */
async function pairTraffic(pair: string, [last, first]: readonly [number, number], inTime: number) {
  const labels = `{"from_agent":"${pair}","to_agent":"b","transport":"queue"}`
  const counts = [...Array<number>(8).fill(0), ...Array<number>(6).fill(inTime)]
  counts[13] = 50
  await store.rows(
    `insert into metric_minute select date_trunc('minute', clock_timestamp()) - m * interval '1 minute',
       gen_random_uuid(), 'baton_handoff_latency_seconds', $1, $2::bigint[] from generate_series($3::int, $4::int) m`,
    [labels, `{${counts.join(',')}}`, last, first],
  )
}

describe('a pair that stays slow', () => {
  const open = async () =>
    (await listAlerts(store.pool, { limit: 50, kind: 'latency.pair' })).map(
      ({ severity, subject, occurrences }) => [severity, subject['fromAgent'], occurrences],
    )

  it('raises one alert, however often it is looked at; short, small and quick ones raise none', async () => {
    await pairTraffic('slow', [0, 400], 20)
    await pairTraffic('just-now', [0, 10], 0)
    await pairTraffic('just-now', [11, 400], 50)
    await pairTraffic('over', [0, 40], 50)
    await pairTraffic('over', [41, 400], 20)
    await pairTraffic('quick', [0, 400], 50)
    await pairTraffic('quiet', [20, 20], 0)
    for (let look = 0; look < 3; look += 1) await tellSlowPairs(store.pool)
    expect(await open()).toEqual([['ticket', 'slow', 1]])
  })

  it('closes by itself once it is over, also where nothing comes any more', async () => {
    await pairTraffic('mended', [0, 400], 20)
    await pairTraffic('gone', [0, 400], 20)
    await tellSlowPairs(store.pool)
    expect(await open()).toHaveLength(2)
    await store.rows(`delete from metric_minute where labels like '%gone%'`)
    await store.rows(
      `update metric_minute set counts = array_fill(50::bigint, array[14]) where minute > clock_timestamp() - interval '40 minutes'`,
    )
    await tellSlowPairs(store.pool)
    expect(await open()).toEqual([])
  })

  it('opens fifty at most, and one that says how many more pairs are slow', async () => {
    for (let pair = 0; pair < 53; pair += 1) await pairTraffic(`slow-${pair}`, [0, 70], 20)
    for (let look = 0; look < 2; look += 1) await tellSlowPairs(store.pool)
    const alerts = await listAlerts(store.pool, { limit: 60, kind: 'latency.pair' })
    expect(alerts).toHaveLength(51)
    expect(alerts).toContainEqual(
      expect.objectContaining({ subject: { morePairs: '3' }, occurrences: 1 }),
    )
    await store.rows(`delete from metric_minute where labels like '%slow-5%'`)
    for (let look = 0; look < 2; look += 1) await tellSlowPairs(store.pool)
    const left = await listAlerts(store.pool, { limit: 60, kind: 'latency.pair' })
    expect(left.map(({ subject }) => subject['morePairs']).filter(Boolean)).toEqual([])
    expect(left).toHaveLength(49)
  })
})

// What counters rose by, minute by minute, then hour by hour and day by day: written by any process, summed by age, bounded in time.
import { columns, text, timestamptz } from '@baton/postgres'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** What one series rose by in one minute. */
export interface MinuteCounts {
  readonly minute: Date
  readonly metric: string
  readonly labels: string
  readonly counts: readonly number[]
}

const bigints = {
  sql: 'text',
  encode: (rows: readonly (readonly number[] | null)[]) =>
    rows.map((counts) => `{${(counts ?? []).join(',')}}`),
}

const MINUTES = columns({ minute: timestamptz, metric: text, labels: text, counts: bigints })

// Counts only rise, so an array that is not greater is a write that was repeated or overtaken. What could have been
// rolled up already is not taken any more: it would be counted twice.
const WRITE = `
with written as (
  insert into metric_minute as m (minute, process, metric, labels, counts)
  select i.minute, $1::uuid, i.metric, i.labels, i.counts::bigint[] from ${MINUTES.unnest('i', { after: 1 })}
  where i.minute > clock_timestamp() - interval '2 hours'
  on conflict (minute, process, metric, labels) do update set counts = excluded.counts
    where m.counts < excluded.counts
)
select clock_timestamp() as now`

/** Writes what a process counted; a repeated set changes nothing. Answers the database's time, also for an empty set. */
export async function writeMinutes(
  db: Database,
  process: string,
  rows: readonly MinuteCounts[],
): Promise<Date> {
  const values = [process, ...MINUTES.values(rows)]
  const [row] = await run<{ now: Date }>(db, 'write_metric_minutes', WRITE, values)
  return row?.now ?? new Date()
}

const ROLL_MAX = 2_000

// A row is deleted and added in one statement: it is in one of the two tables, never in both or neither. What is added to is
// locked in the order of its keys, so that two who roll up wait for each other and never in a circle.
const rollUp = (fine: 'minute' | 'hour', coarse: 'hour' | 'day', after: string) => `
with gone as (
  delete from metric_${fine} where ctid = any(array(
    select ctid from metric_${fine}
    where ${fine} < date_trunc('${coarse}', clock_timestamp() - interval '${after}', 'UTC')
    order by ${fine} limit ${ROLL_MAX} for update skip locked))
  returning date_trunc('${coarse}', ${fine}, 'UTC') as ${coarse}, metric, labels, counts
), places as (
  select ${coarse}, metric, labels, place, sum(n)::bigint as n
  from gone, unnest(counts) with ordinality as c (n, place) group by ${coarse}, metric, labels, place
), summed as (
  select ${coarse}, metric, labels, array_agg(n order by place) as counts
  from places group by ${coarse}, metric, labels
), added as (
  insert into metric_${coarse} as h (${coarse}, metric, labels, counts)
  select ${coarse}, metric, labels, counts from summed order by ${coarse}, metric, labels
  on conflict (${coarse}, metric, labels) do update set counts = (
    select array_agg(coalesce(a, 0) + coalesce(b, 0) order by place)
    from unnest(h.counts, excluded.counts) with ordinality as c (a, b, place))
)
select count(*)::int as count from gone`

const MINUTES_TO_HOURS = rollUp('minute', 'hour', '3 hours')
const HOURS_TO_DAYS = rollUp('hour', 'day', '4 days')

/** Moves a bounded number of minutes older than three hours into their hours; answers how many. Any number may at once. */
export async function rollUpMinutes(db: Database): Promise<number> {
  return (await run<Count>(db, 'roll_up_minutes', MINUTES_TO_HOURS))[0]?.count ?? 0
}

/** Moves a bounded number of hours older than four days into their days; answers how many. Any number may at once. */
export async function rollUpHours(db: Database): Promise<number> {
  return (await run<Count>(db, 'roll_up_hours', HOURS_TO_DAYS))[0]?.count ?? 0
}

interface Count {
  readonly count: number
}

const FORGET_MAX = 2_000

const FORGET = `
with gone as (
  delete from metric_day where ctid = any(array(
    select ctid from metric_day where day < clock_timestamp() - interval '31 days'
    order by day limit ${FORGET_MAX} for update skip locked))
  returning day
)
select count(*)::int as count from gone`

/** Forgets a bounded number of days older than 31 days; answers how many. */
export async function forgetDays(db: Database): Promise<number> {
  return (await run<Count>(db, 'forget_metric_days', FORGET))[0]?.count ?? 0
}

/** As many rows at most as a call of one of the three above takes. */
export const METRIC_ROWS_MAX = Math.min(ROLL_MAX, FORGET_MAX)

/** The counts of one series between two ages. */
export interface AgedCounts {
  readonly metric: string
  readonly labels: string
  /** How many of the given ages it has reached: 0 is younger than the first. */
  readonly age: number
  readonly counts: readonly number[]
}

const COUNTS_MAX = 16
const SUMS = Array.from({ length: COUNTS_MAX }, (_, index) => `sum(counts[${index + 1}]::float8)`)
const SUMMED = `array_remove(array[${SUMS.join(', ')}], null)`

// Ages are counted in whole minutes, so that the minute under way is always the youngest. Counts stay below 2^53, so floats
// are exact, and are summed several times faster than numerics.
const SINCE = `(select at from now) - ($1::float8[])[cardinality($1::float8[])] * interval '1 second'`
const SERIES = `
with now as (select date_trunc('minute', clock_timestamp(), 'UTC') as at), rows as (
  select minute as at, metric, labels, counts from metric_minute where minute > ${SINCE}
  union all
  select hour, metric, labels, counts from metric_hour where hour > ${SINCE}
  union all
  select day, metric, labels, counts from metric_day where day > ${SINCE}
), aged as (
  select width_bucket(date_part('epoch', now.at - rows.at), $1::float8[]) as age, metric, labels, counts
  from rows, now where $2::text is null or metric = $2
), series as (
  select metric, labels, age, ${SUMMED} as counts from aged group by metric, labels, age
)`

const SUM = `${SERIES}
select metric, labels, age, counts from series`

/**
 * Every series summed by age: `agesSeconds` rise, and what is older than the last is left out. Minutes, hours and days
 * count by when they began, so a span of time never takes in what is older than it.
 */
export function sumByAge(
  db: Database,
  agesSeconds: readonly number[],
  metric: string | null = null,
): Promise<AgedCounts[]> {
  return run<AgedCounts>(db, 'sum_metrics_by_age', SUM, [agesSeconds, metric])
}

// What is kept is read once for both: a place in $3 and $4 says which age of its own list an age of $1 belongs to.
const SUM_TWICE = `${SERIES}
select false as "isOfLabel", metric, labels, ($3::int[])[age + 1] as age, ${SUMMED} as counts
from series group by metric, labels, 4
union all
select true, metric, labels::jsonb ->> $6, ($4::int[])[age + 1], ${SUMMED}
from series where metric = $5 group by metric, 3, 4`

/** One metric, for each value of one of its labels; `labels` of what is answered is that value. */
export interface LabelAsked {
  readonly metric: string
  readonly label: string
  readonly agesSeconds: readonly number[]
}

/** The same, and one metric for each value of a label by ages of its own. */
export async function sumByAgeAndLabel(
  db: Database,
  agesSeconds: readonly number[],
  { metric, label, agesSeconds: labelAges }: LabelAsked,
): Promise<{ readonly rows: AgedCounts[]; readonly byLabel: AgedCounts[] }> {
  const ages = [...new Set([...agesSeconds, ...labelAges])].toSorted((a, b) => a - b)
  const placesIn = (own: readonly number[]) =>
    [0, ...ages].map((age) => own.filter((one) => one <= age).length)
  const values = [ages, null, placesIn(agesSeconds), placesIn(labelAges), metric, label]
  const summed = await run<AgedCounts & { readonly isOfLabel: boolean }>(
    db,
    'sum_metrics_by_age_and_label',
    SUM_TWICE,
    values,
  )
  const within =
    (own: readonly number[]) =>
    ({ age }: AgedCounts) =>
      age < own.length
  return {
    rows: summed.filter(({ isOfLabel }) => !isOfLabel).filter(within(agesSeconds)),
    byLabel: summed.filter(({ isOfLabel }) => isOfLabel).filter(within(labelAges)),
  }
}

const KEPT = `
select clock_timestamp() as now, least((select min(minute) from metric_minute),
  (select min(hour) from metric_hour), (select min(day) from metric_day)) as since`

export interface KeptMetrics {
  /** By the database's clock. */
  readonly now: Date
  /** When the oldest of what is kept was counted; null before the first. */
  readonly since: Date | null
}

export async function findKeptMetrics(db: Database): Promise<KeptMetrics> {
  const [row] = await run<KeptMetrics>(db, 'find_kept_metrics', KEPT)
  return row ?? { now: new Date(), since: null }
}

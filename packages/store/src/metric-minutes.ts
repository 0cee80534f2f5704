// What counters rose by, minute by minute and then hour by hour: written by any process, summed by age, bounded in time.
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
  where i.minute > clock_timestamp() - interval '6 hours'
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

// A row is deleted and added in one statement: it is in one of the two tables, never in both or neither. Hours are added to
// in the order of their keys, so that two who roll up wait for each other and never in a circle.
const ROLL_UP = `
with gone as (
  delete from metric_minute where ctid = any(array(
    select ctid from metric_minute
    where minute < date_trunc('hour', clock_timestamp() - interval '7 hours', 'UTC')
    order by minute limit ${ROLL_MAX} for update skip locked))
  returning date_trunc('hour', minute, 'UTC') as hour, metric, labels, counts
), places as (
  select hour, metric, labels, place, sum(n)::bigint as n
  from gone, unnest(counts) with ordinality as c (n, place) group by hour, metric, labels, place
), hours as (
  select hour, metric, labels, array_agg(n order by place) as counts
  from places group by hour, metric, labels
), added as (
  insert into metric_hour as h (hour, metric, labels, counts)
  select hour, metric, labels, counts from hours order by hour, metric, labels
  on conflict (hour, metric, labels) do update set counts = (
    select array_agg(coalesce(a, 0) + coalesce(b, 0) order by place)
    from unnest(h.counts, excluded.counts) with ordinality as c (a, b, place))
)
select count(*)::int as count from gone`

/** Moves a bounded number of minutes older than seven hours into their hours; answers how many. Any number may at once. */
export async function rollUpMinutes(db: Database): Promise<number> {
  return (await run<{ count: number }>(db, 'roll_up_minutes', ROLL_UP))[0]?.count ?? 0
}

const FORGET_MAX = 2_000

const FORGET = `
with gone as (
  delete from metric_hour where ctid = any(array(
    select ctid from metric_hour where hour < clock_timestamp() - interval '31 days'
    order by hour limit ${FORGET_MAX} for update skip locked))
  returning hour
)
select count(*)::int as count from gone`

/** Forgets a bounded number of hours older than 31 days; answers how many. */
export async function forgetHours(db: Database): Promise<number> {
  return (await run<{ count: number }>(db, 'forget_metric_hours', FORGET))[0]?.count ?? 0
}

/** As many rows at most as a call of one of the two above takes. */
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
const SUMS = Array.from({ length: COUNTS_MAX }, (_, index) => `sum(counts[${index + 1}])::float8`)
const SUMMED = `array_remove(array[${SUMS.join(', ')}], null)`

// Ages are counted in whole minutes, so that the minute under way is always the youngest.
const AGED = `
with now as (select date_trunc('minute', clock_timestamp(), 'UTC') as at), rows as (
  select minute as at, metric, labels, counts from metric_minute
  where minute > (select at from now) - ($1::float8[])[cardinality($1::float8[])] * interval '1 second'
  union all
  select hour, metric, labels, counts from metric_hour
  where hour > (select at from now) - ($1::float8[])[cardinality($1::float8[])] * interval '1 second'
), aged as (
  select width_bucket(extract(epoch from now.at - rows.at)::float8, $1::float8[]) as age, metric, labels, counts
  from rows, now where $2::text is null or metric = $2
)`

const SUM = `${AGED}
select metric, labels, age, ${SUMMED} as counts from aged group by metric, labels, age`

/**
 * Every series summed by age: `agesSeconds` rise, and what is older than the last is left out. Minutes and hours count by
 * when they began, so a span of time never takes in what is older than it.
 */
export function sumByAge(
  db: Database,
  agesSeconds: readonly number[],
  metric: string | null = null,
): Promise<AgedCounts[]> {
  return run<AgedCounts>(db, 'sum_metrics_by_age', SUM, [agesSeconds, metric])
}

const LABEL = `${AGED}, series as (
  select metric, labels, age, ${SUMMED} as counts from aged group by metric, labels, age
)
select metric, labels::jsonb ->> $3 as labels, age, ${SUMMED} as counts from series group by 1, 2, 3`

/** The same of one metric, for each value of one of its labels; `labels` is that value. */
export function sumLabelByAge(
  db: Database,
  agesSeconds: readonly number[],
  { metric, label }: { readonly metric: string; readonly label: string },
): Promise<AgedCounts[]> {
  return run<AgedCounts>(db, 'sum_label_by_age', LABEL, [agesSeconds, metric, label])
}

const KEPT = `
select clock_timestamp() as now, least((select min(minute) from metric_minute), (select min(hour) from metric_hour)) as since`

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

// What the counters behind the service levels rose by since somebody asked last: every rise is answered exactly once.
import type { MetricValueWithName, Registry } from 'prom-client'
import { RATES } from './objectives.ts'
import type { Series } from './objectives.ts'

export const LATENCY_METRIC = 'baton_handoff_latency_seconds'

/** A rise of one series. */
export interface LevelRise {
  readonly metric: string
  /** A JSON object with its keys in order, so that equal labels are equal texts. */
  readonly labels: string
  /** One number; of a histogram one for each bucket, each with what the buckets below it hold. */
  readonly counts: readonly number[]
}

/** What the rates need, each series once: one number for all label sets that it takes in. */
const COUNTED_SERIES: readonly Series[] = [
  ...new Map(
    RATES.flatMap(({ part, whole }) => [part, whole]).map((one) => [seriesKey(one), one]),
  ).values(),
]

export function labelsText(labels: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return JSON.stringify(Object.fromEntries(entries))
}

export function seriesKey({ metric, where = {} }: Series): string {
  return `${metric} ${labelsText(where)}`
}

/** Where the last reading of each registry ended: whoever reads the same one goes on from there. */
const ENDS = new WeakMap<Registry, Map<string, readonly number[]>>()

/** The rises since the last call for this registry; series that did not rise are left out. */
export async function takeRises(registry: Registry): Promise<readonly LevelRise[]> {
  const read = await readSeries(registry)
  const ends = ENDS.get(registry) ?? new Map<string, readonly number[]>()
  ENDS.set(registry, ends)
  return read.flatMap(({ metric, labels, counts }) => {
    const key = `${metric} ${labels}`
    const before = ends.get(key)
    const rise = counts.map((count, index) => count - (before?.[index] ?? 0))
    // Another reading may have begun later and ended sooner: what it answered is not answered again.
    if (!rise.some((by) => by > 0)) return []
    ends.set(key, counts)
    return [{ metric, labels, counts: rise }]
  })
}

async function readSeries(registry: Registry): Promise<LevelRise[]> {
  const counted = COUNTED_SERIES.map(async (series) => ({
    metric: series.metric,
    labels: labelsText(series.where ?? {}),
    counts: [await total(registry, series)],
  }))
  const latency = await valuesOf(registry, LATENCY_METRIC)
  return [...(await Promise.all(counted)), ...histograms(latency)]
}

async function valuesOf(registry: Registry, family: string) {
  const metric = await registry.getSingleMetric(family)?.get()
  return (metric?.values ?? []) as MetricValueWithName<string>[]
}

/** Series named `…_count` count the observations of a histogram. */
async function total(registry: Registry, { metric, where = {} }: Series): Promise<number> {
  const family = registry.getSingleMetric(metric) ? metric : metric.replace(/_count$/, '')
  let sum = 0
  for (const { metricName = metric, labels, value } of await valuesOf(registry, family)) {
    if (metricName !== metric) continue
    if (Object.entries(where).every(([name, wanted]) => labels[name] === wanted)) sum += value
  }
  return sum
}

/** prom-client lists the buckets of each label set in order, from the lowest to the infinite one. */
function histograms(values: readonly MetricValueWithName<string>[]): LevelRise[] {
  const sets = new Map<string, number[]>()
  for (const { metricName, labels, value } of values) {
    if (metricName !== `${LATENCY_METRIC}_bucket`) continue
    const { le: _, ...others } = labels as Record<string, unknown>
    const key = labelsText(others)
    const counts = sets.get(key)
    if (counts === undefined) sets.set(key, [value])
    else counts.push(value)
  }
  return [...sets].map(([labels, counts]) => ({ metric: LATENCY_METRIC, labels, counts }))
}

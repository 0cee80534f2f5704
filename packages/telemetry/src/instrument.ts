// Small typed instruments over prom-client: labels are bound once, and their number is bounded.
import { Counter as PromCounter, Gauge as PromGauge, Histogram as PromHistogram } from 'prom-client'
import type { Registry } from 'prom-client'

export interface Counter {
  inc(by?: number): void
}

export interface Gauge {
  set(value: number): void
  /** Asks `source` whenever the metrics are read; several sources of one gauge are added up. */
  read(source: () => number): void
}

/** Where a slow observation can be looked at: shown only in the OpenMetrics format. */
export interface Exemplar {
  readonly traceId: string
  readonly spanId: string
}

export interface Histogram {
  observe(seconds: number, exemplar?: Exemplar): void
}

/** `with` returns the instrument of one label set; the same set gives the same object. */
export interface Labelled<Label extends string, Instrument> {
  with(labels: Readonly<Record<Label, string>>): Instrument
}

interface Description<Label extends string> {
  readonly name: string
  readonly help: string
  readonly labels: readonly Label[]
  /** Those of the labels whose values others choose; all by default. */
  readonly openLabels?: readonly string[] | undefined
}

/** Agent types come from messages, so a sender could invent label values without end. */
const LABEL_SETS_MAX = 1_000
/** Beyond the first thousand label sets this is the value of every label that others choose; the others keep theirs. */
export const OVERFLOW_LABEL = 'other'

function labelled<Label extends string, Instrument>(
  { labels: names, openLabels = names }: Pick<Description<Label>, 'labels' | 'openLabels'>,
  bind: (labels: Record<Label, string>) => Instrument,
): Labelled<Label, Instrument> {
  const bound = new Map<string, Instrument>()
  const pick = (value: (name: Label) => string): Record<Label, string> =>
    Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Label, string>
  const keyOf = (labels: Readonly<Record<Label, string>>): string => {
    let key = ''
    for (const name of names) key += `${labels[name]}\u0000`
    return key
  }
  const overflowed = (labels: Readonly<Record<Label, string>>): Record<Label, string> =>
    pick((name) => (openLabels.includes(name) ? OVERFLOW_LABEL : labels[name]))
  return {
    with(labels) {
      const known = bound.get(keyOf(labels))
      if (known !== undefined) return known
      const own = bound.size < LABEL_SETS_MAX ? pick((name) => labels[name]) : overflowed(labels)
      const key = keyOf(own)
      const instrument = bound.get(key) ?? bind(own)
      bound.set(key, instrument)
      return instrument
    },
  }
}

/** A counter of one label set per `with`. The name must end in `_total`. */
export function labelledCounter<Label extends string>(
  registry: Registry,
  description: Description<Label>,
): Labelled<Label, Counter> {
  const { name, help, labels } = description
  const counter = new PromCounter({ name, help, labelNames: labels, registers: [registry] })
  return labelled(description, (set) => {
    counter.inc(set, 0)
    return { inc: (by = 1) => counter.inc(set, by) }
  })
}

/**
 * A gauge of one label set per `with`. A gauge without labels shows 0 from the start; one with labels
 * shows a label set once it was set or is read, because 0 would be a statement about it.
 */
export function labelledGauge<Label extends string>(
  registry: Registry,
  description: Description<Label>,
): Labelled<Label, Gauge> {
  const { name, help, labels } = description
  const reading: (() => void)[] = []
  const collect = () => reading.forEach((read) => read())
  const gauge = new PromGauge({ name, help, labelNames: labels, registers: [registry], collect })
  return labelled(description, (set) => {
    const sources: (() => number)[] = []
    const sum = () =>
      gauge.set(
        set,
        sources.reduce((total, source) => total + source(), 0),
      )
    return {
      set: (value) => gauge.set(set, value),
      read(source) {
        if (sources.push(source) === 1) reading.push(sum)
      },
    }
  })
}

interface HistogramDescription<Label extends string> extends Description<Label> {
  readonly edges: readonly number[]
}

/** A histogram in seconds whose buckets remember the last exemplar given to them. */
export function labelledHistogram<Label extends string>(
  registry: Registry,
  description: HistogramDescription<Label>,
): Labelled<Label, Histogram> {
  const { name, help, labels, edges } = description
  const histogram = new PromHistogram({
    name,
    help,
    labelNames: labels,
    buckets: [...edges],
    enableExemplars: true,
    registers: [],
  })
  registry.registerMetric(histogram)
  return labelled(description, (set) => {
    histogram.zero(set)
    return {
      observe(seconds, exemplar) {
        if (exemplar === undefined) return histogram.observe({ labels: set, value: seconds })
        const exemplarLabels = { trace_id: exemplar.traceId, span_id: exemplar.spanId }
        // prom-client types exemplar labels as metric labels; they are free names.
        histogram.observe({ labels: set, value: seconds, exemplarLabels: exemplarLabels as never })
      },
    }
  })
}

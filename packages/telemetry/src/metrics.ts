// One process's instruments, one for each metric of the catalogue and typed by it.
import { Registry } from 'prom-client'
import { expose } from './exposition.ts'
import type { Exposition } from './exposition.ts'
import { labelledCounter, labelledGauge, labelledHistogram } from './instrument.ts'
import type { Counter, Gauge, Histogram, Labelled } from './instrument.ts'
import type { MetricDefinition } from './metric-definition.ts'
import { METRIC_DEFINITIONS } from './metric-definitions.ts'
import { LATENCY_EDGES_SECONDS } from './slo.ts'

type Definitions = typeof METRIC_DEFINITIONS

interface Kinds {
  readonly counter: Counter
  readonly gauge: Gauge
  readonly histogram: Histogram
}

/** Without labels an instrument, with fixed values one for each of them, else one for each set of labels. */
type FieldOf<Definition extends MetricDefinition> = Definition extends {
  readonly values: readonly (infer Value extends string)[]
}
  ? Readonly<Record<Value, Kinds[Definition['kind']]>>
  : Definition['labels'] extends readonly []
    ? Kinds[Definition['kind']]
    : Labelled<Definition['labels'][number], Kinds[Definition['kind']]>

/** Each field is the metric `baton_<field in snake case>` of the catalogue. */
type Instruments = { readonly [Field in keyof Definitions]: FieldOf<Definitions[Field]> }

/** One process's instruments. */
export interface Metrics extends Instruments {
  /** What is exported other than by `expose`. */
  readonly registry: Registry
  /** The text for `GET /metrics`, in the format the client's Accept header asks for. */
  expose(accept?: string): Promise<Exposition>
}

/** Creates all instruments on a registry of their own: nothing is global, tests do not meet. */
export function createMetrics(): Metrics {
  const registry = new Registry()
  const fields = Object.entries(METRIC_DEFINITIONS).map(([field, definition]) => [
    field,
    fieldOf(registry, definition),
  ])
  return {
    // The type says of each field what `fieldOf` makes of its definition.
    ...(Object.fromEntries(fields) as Instruments),
    registry,
    expose: (accept) => expose(registry, accept),
  }
}

function fieldOf(registry: Registry, definition: MetricDefinition): unknown {
  const { labels, values } = definition
  const instruments = labelled(registry, definition)
  if (labels.length === 0) return instruments.with({})
  const [label = ''] = labels
  if (values === undefined) return instruments
  return Object.fromEntries(values.map((value) => [value, instruments.with({ [label]: value })]))
}

function labelled(
  registry: Registry,
  definition: MetricDefinition,
): Labelled<string, Counter | Gauge | Histogram> {
  switch (definition.kind) {
    case 'counter':
      return labelledCounter(registry, definition)
    case 'gauge':
      return labelledGauge(registry, definition)
    case 'histogram':
      return labelledHistogram(registry, { ...definition, edges: LATENCY_EDGES_SECONDS })
  }
}

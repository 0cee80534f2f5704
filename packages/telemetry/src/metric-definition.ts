// What the catalogue says of one metric; the instruments' types are made from it.

export interface MetricDefinition {
  /** `baton_` and the field's name in snake case; counters end in `_total`. */
  readonly name: `baton_${string}`
  readonly kind: 'counter' | 'gauge' | 'histogram'
  /** What it says, in one sentence, for Prometheus and the page. */
  readonly help: string
  readonly labels: readonly string[]
  /** Those of its labels whose values others choose, all of them where it is left out: beyond a bound these become one. */
  readonly openLabels?: readonly string[]
  /** The values of its only label where they are fixed: each is shown from the start. */
  readonly values?: readonly string[]
  /** Which processes fill it; all the others show 0, or nothing where there are labels. */
  readonly filledBy: string
}

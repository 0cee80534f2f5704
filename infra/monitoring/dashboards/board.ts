// A dashboard as data: what it asks Prometheus, and how the answer is drawn. Nothing here knows Grafana.

export interface Query {
  readonly expression: string
  /** The name of each series, with `{{label}}`. */
  readonly legend?: string
}

/** `figures` are single numbers, `lines` change over time, `areas` add up, `heat` counts by bucket. */
export type Shape = 'figures' | 'bars' | 'lines' | 'areas' | 'heat' | 'table'

export interface Panel {
  readonly title: string
  /** What it tells and what to do where it looks wrong; shown behind the panel's i. */
  readonly says: string
  readonly shape: Shape
  /** One of Grafana's units. */
  readonly unit: string
  readonly queries: readonly Query[]
  /** Of 24 columns. */
  readonly width: number
  /** From which value on it is bad, and from which it warns; below where bad is the smaller one. */
  readonly warnsAt?: number
  readonly badAt?: number
  /** Points that open the trace behind them. */
  readonly exemplars?: boolean
}

export interface Board {
  readonly uid: string
  readonly title: string
  readonly about: string
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[]
}

/** The choice made above every dashboard; a process has a tenant where its scrape target says so. */
const TENANT = 'tenant=~"$tenant"'

/** Series of `metric` that fit the choice, and these matchers. */
export const chosen = (metric: string, ...matchers: readonly string[]): string =>
  `${metric}{${[TENANT, ...matchers].join(', ')}}`

const PAIR = ['transport=~"$transport"', 'from_agent=~"$from_agent"', 'to_agent=~"$to_agent"']
export const latency = (suffix: 'bucket' | 'count' | 'sum', ...matchers: readonly string[]) =>
  chosen(`baton_handoff_latency_seconds_${suffix}`, ...PAIR, ...matchers)

export const perSecond = (series: string): string => `rate(${series}[$__rate_interval])`

/** A line of a histogram's quantile, by these labels. */
export function quantile(share: number, buckets: string, ...by: readonly string[]): string {
  return `histogram_quantile(${share}, sum by (${['le', ...by].join(', ')}) (${perSecond(buckets)}))`
}

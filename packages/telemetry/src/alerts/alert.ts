// One alert as data: the rule, its texts and its runbook's name come from here, and so do documentation and game days.

/** `page` wakes somebody; `ticket` waits for a working day. */
export type Severity = 'page' | 'ticket'

/** Writes a number of seconds as PromQL takes it; a game day passes one that shortens time. */
export type SpanWriter = (seconds: number) => string

export interface Alert {
  /** In CamelCase, beginning with Baton. The runbook is the rest in lower case with hyphens. */
  readonly name: string
  readonly severity: Severity
  /** The part of the system that the alert is about: dashboards and tables group by it. */
  readonly area: 'service level' | 'delivery' | 'audit log' | 'machine'
  /** One line for whoever is woken, with `{{ $labels… }}` and `{{ $value }}` as Prometheus fills them. */
  readonly summary: string
  /** What is true while it fires, for the table and the annotation. */
  readonly meaning: string
  readonly expression: (span: SpanWriter) => string
  /** How long the expression must hold before it fires. */
  readonly forSeconds?: number
  /** How long it goes on firing once the expression no longer holds, so that it does not flap. */
  readonly keepFiringSeconds?: number
}

export const MINUTE = 60
export const HOUR = 3_600
export const DAY = 86_400

const UNITS: readonly (readonly [number, string])[] = [
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'm'],
]

/** 300 is `5m`, 5,400 is `90m`. */
export const inPromql: SpanWriter = (seconds) => {
  const [size, unit] = UNITS.find(([size]) => seconds >= size && seconds % size === 0) ?? [1, 's']
  return `${Math.round(seconds / size)}${unit}`
}

/** The number behind what a `SpanWriter` wrote, where PromQL takes no duration. */
export function inSeconds(written: string): number {
  const size = UNITS.find(([, unit]) => written.endsWith(unit))?.[0] ?? 1
  return Number.parseInt(written, 10) * size
}

/** The name of an alert's runbook: `BatonOutboxStale` is `outbox-stale`. */
export function runbookOf({ name }: Pick<Alert, 'name'>): string {
  return name
    .replace(/^Baton/, '')
    .replaceAll(/(?<=[a-z\d])(?=[A-Z])/g, '-')
    .toLowerCase()
}

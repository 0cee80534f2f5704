// Every expression that is written, of rules and of panels, is PromQL, and reads only metrics that somebody exposes.
import { alertingGroups, METRIC_DEFINITIONS, recordingGroups } from '@baton/telemetry'
import { parser } from '@prometheus-io/lezer-promql'
import { describe, expect, it } from 'vitest'
import { BOARDS } from './dashboards/boards.ts'

/** What Grafana puts in for its variables. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$\w+/g, '.*')

const groups = [...recordingGroups(), ...alertingGroups('')]
const expressions = [
  ...groups.flatMap(({ rules }) => rules.map(({ expr }) => expr)),
  ...BOARDS.flatMap(({ rows }) => rows)
    .flatMap(({ panels }) => panels)
    .flatMap(({ queries }) => queries)
    .map(({ expression }) => filledIn(expression)),
]

interface Read {
  readonly metrics: readonly string[]
  readonly isWrong: boolean
}

function read(expression: string): Read {
  const metrics: string[] = []
  let isWrong = false
  parser.parse(expression).iterate({
    enter: ({ name, from, to, type, node }) => {
      isWrong ||= type.isError
      if (name === 'Identifier' && node.parent?.name === 'VectorSelector')
        metrics.push(expression.slice(from, to))
    },
  })
  return { metrics, isWrong }
}

const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_count', '_sum'],
  counter: [''],
  gauge: [''],
}
/** Exposed by Prometheus itself, and by every Node process. */
const ELSEWHERE = /^(?:up|ALERTS|process_\w+|nodejs_\w+)$/

describe('expressions of rules and panels', () => {
  it('are PromQL', () => {
    expect(expressions.length).toBeGreaterThan(150)
    expect(expressions.filter((expression) => read(expression).isWrong)).toEqual([])
    expect(read('sum(rate(broken[5m])').isWrong).toBe(true)
  })

  it('read metrics that are exposed or recorded', () => {
    const exposed = Object.values(METRIC_DEFINITIONS).flatMap(({ name, kind }) =>
      (SUFFIXES[kind] ?? []).map((suffix) => `${name}${suffix}`),
    )
    const recorded = groups.flatMap(({ rules }) =>
      rules.flatMap((rule) => ('record' in rule ? [rule.record] : [])),
    )
    const known = new Set([...exposed, ...recorded])
    const unknown = new Set(
      expressions
        .flatMap((expression) => read(expression).metrics)
        .filter((metric) => !known.has(metric) && !ELSEWHERE.test(metric)),
    )
    expect([...unknown]).toEqual([])
  })

  it('show every metric somewhere', () => {
    const shown = expressions.join('\n')
    const hidden = Object.values(METRIC_DEFINITIONS)
      .map(({ name }) => name)
      .filter((name) => !shown.includes(name))
    expect(hidden).toEqual([])
  })
})

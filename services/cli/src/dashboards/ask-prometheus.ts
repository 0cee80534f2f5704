// What a Prometheus answers to the queries of a dashboard, as numbers over time.
import { createHttpClient } from '@baton/http/client'
import type { HttpClient } from '@baton/http/client'
import type { Tls } from '@baton/runtime'

export interface Line {
  /** The name that the query gives its series, filled in. */
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  /** Unix seconds and value; a gap where Prometheus had none. */
  readonly points: readonly (readonly [seconds: number, value: number])[]
}

export interface AskedQuery {
  readonly expression: string
  readonly legend?: string
}

export interface Period {
  readonly fromSeconds: number
  readonly toSeconds: number
  readonly stepSeconds: number
}

interface Matrix {
  readonly data: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>
      readonly values: readonly (readonly [number, string])[]
    }[]
  }
}

const ANSWER_MAX_MS = 30_000

export function openPrometheus(url: string, tls: Tls): HttpClient {
  return createHttpClient({
    url,
    name: 'Prometheus',
    tls: { tls, setting: '--prometheus', whose: 'others' },
    timeoutMs: ANSWER_MAX_MS,
    unavailable: {
      code: 'BATON_PROMETHEUS_UNAVAILABLE',
      fix: 'Start it (infra/monitoring/README.md says how), or name another with --prometheus.',
    },
  })
}

/** Grafana fills these in itself: a window that holds several scrapes, and the choice of everything. */
const filledIn = (expression: string): string =>
  expression.replaceAll('$__rate_interval', '1m').replaceAll(/\$[a-z_]+/g, '.*')

/** Every series of a query over the period that has a number in it. */
export async function askRange(
  client: HttpClient,
  query: AskedQuery,
  { fromSeconds, toSeconds, stepSeconds }: Period,
): Promise<readonly Line[]> {
  const parameters = new URLSearchParams({
    query: filledIn(query.expression),
    start: String(fromSeconds),
    end: String(toSeconds),
    step: String(stepSeconds),
  })
  const { data } = await client.json<Matrix>(`/api/v1/query_range?${parameters.toString()}`)
  const lines = data.result.map(({ metric, values }) => ({
    name: (query.legend ?? '').replaceAll(/{{(\w+)}}/g, (_, label: string) => metric[label] ?? ''),
    labels: metric,
    points: values
      .map(([seconds, value]) => [seconds, Number(value)] as const)
      .filter(([, value]) => Number.isFinite(value)),
  }))
  return lines.filter(({ points }) => points.length > 0)
}

// The same numbers in two text formats: Prometheus 0.0.4 by default, OpenMetrics with exemplars on request.
import Negotiator from 'negotiator'
import { Registry } from 'prom-client'
import type { Metric, OpenMetricsContentType } from 'prom-client'

export interface Exposition {
  readonly contentType: string
  readonly body: string
}

const OPEN_METRICS = 'application/openmetrics-text'

/** Only media types and weights count: collectors add parameters of formats that are not offered. */
function prefersOpenMetrics(accept = ''): boolean {
  const weighted = accept.toLowerCase().replaceAll(/;\s*(?!q=)[^;,]*/g, '')
  const negotiator = new Negotiator({ headers: { accept: weighted } })
  return negotiator.mediaType(['text/plain', OPEN_METRICS]) === OPEN_METRICS
}

// A registry writes one format, and OpenMetrics names a family of counters without its suffix.
async function inOpenMetrics(registry: Registry): Promise<Registry<OpenMetricsContentType>> {
  const written = new Registry<OpenMetricsContentType>()
  written.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const family of await registry.getMetricsAsJSON()) {
    const named = { ...family, name: family.name.replace(/_total$/, '') }
    written.registerMetric({ ...named, get: async () => named } as unknown as Metric)
  }
  return written
}

/** Renders `registry` for a client that sent the header `Accept: <accept>`. */
export async function expose(registry: Registry, accept?: string): Promise<Exposition> {
  const chosen = prefersOpenMetrics(accept) ? await inOpenMetrics(registry) : registry
  return { contentType: chosen.contentType, body: await chosen.metrics() }
}

// The same numbers in two text formats: Prometheus 0.0.4 by default, OpenMetrics with exemplars on request.
import { Registry } from 'prom-client'
import type { OpenMetricsContentType } from 'prom-client'

export interface Exposition {
  readonly contentType: string
  readonly body: string
}

const OPEN_METRICS = 'application/openmetrics-text'

interface Preference {
  readonly mediaType: string
  readonly quality: number
}

function parsePreference(range: string): Preference {
  const [mediaType = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
  const weight = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = weight === undefined ? 1 : Number(weight.slice(2))
  return { mediaType, quality: Number.isFinite(quality) ? quality : 0 }
}

/** OpenMetrics only when the client names it at least as gladly as plain text. */
function prefersOpenMetrics(accept: string | undefined): boolean {
  const preferences = (accept ?? '').split(',').map(parsePreference)
  const qualityOf = (mediaType: string): number =>
    preferences.find((preference) => preference.mediaType === mediaType)?.quality ?? 0
  const openMetrics = qualityOf(OPEN_METRICS)
  return openMetrics > 0 && openMetrics >= qualityOf('text/plain')
}

// prom-client fixes the format per registry and renames counters in place when it writes
// OpenMetrics. The second registry therefore holds views: objects that inherit every value from
// the real metric and keep their own name.
function openMetricsView(registry: Registry): Registry<OpenMetricsContentType> {
  const view = new Registry<OpenMetricsContentType>()
  view.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  for (const { name } of registry.getMetricsAsArray()) {
    const metric = registry.getSingleMetric(name)
    if (metric === undefined) continue
    view.registerMetric(Object.create(metric, { name: { value: name, writable: true } }))
  }
  return view
}

/** Renders `registry` for a client that sent the header `Accept: <accept>`. */
export async function expose(registry: Registry, accept?: string): Promise<Exposition> {
  const chosen = prefersOpenMetrics(accept) ? openMetricsView(registry) : registry
  return { contentType: chosen.contentType, body: await chosen.metrics() }
}

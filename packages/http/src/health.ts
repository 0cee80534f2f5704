// What probes and monitoring ask of a server that takes other requests too.
import type { Metrics } from '@baton/telemetry'
import type { FastifyInstance, RouteShorthandOptions } from 'fastify'

interface HealthOptions {
  /** Without them there is no /metrics here. */
  readonly metrics?: Pick<Metrics, 'expose'>
  /** Whether work may be sent here; what else it tells stands in the answer. */
  readonly ready: () => Promise<{ readonly isReady: boolean; readonly checks?: object }>
  readonly routes?: Readonly<
    Partial<Record<'healthz' | 'readyz' | 'metrics', RouteShorthandOptions>>
  >
}

/** GET and HEAD of /healthz and /readyz, and of /metrics where there are any. */
export function addHealthRoutes(
  scope: FastifyInstance,
  { metrics, ready, routes = {} }: HealthOptions,
): void {
  scope.get('/healthz', { ...routes.healthz, exposeHeadRoute: true }, () => ({ status: 'ok' }))
  scope.get('/readyz', { ...routes.readyz, exposeHeadRoute: true }, async (_, reply) => {
    const { isReady, ...more } = await ready()
    if (isReady) return { status: 'ready', ...more }
    return reply
      .code(503)
      .header('retry-after', '1')
      .send({ status: 'not ready', ...more })
  })
  if (metrics === undefined) return
  scope.get('/metrics', { ...routes.metrics, exposeHeadRoute: true }, async (request, reply) => {
    const { contentType, body } = await metrics.expose(request.headers.accept)
    return reply.header('content-type', contentType).header('vary', 'accept').send(body)
  })
}

// Spans and metrics arrive where OpenTelemetry's own variables point, and nothing is sent where they point nowhere.
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { env } from 'node:process'
import { buffer } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createMetrics } from './metrics.ts'
import { startSpan } from './span.ts'
import { startTelemetry } from './telemetry.ts'
import type { Telemetry } from './telemetry.ts'

interface Named {
  readonly name: string
}
interface Attribute {
  readonly key: string
  readonly value: object
}
interface Received {
  readonly resourceSpans?: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly Named[] }[]
  }[]
  readonly resourceMetrics?: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeMetrics: readonly { readonly metrics: readonly Named[] }[]
  }[]
}

let receiver: Server
let endpoint: string
let received: Map<string, Received>

beforeEach(async () => {
  received = new Map()
  receiver = createServer((request, response) => {
    void buffer(request).then((body) => {
      received.set(request.url ?? '', JSON.parse(body.toString()) as Received)
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await once(receiver.listen(0, '127.0.0.1'), 'listening')
  endpoint = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  vi.stubEnv('OTEL_EXPORTER_OTLP_PROTOCOL', 'http/json')
})

afterEach(() => {
  vi.unstubAllEnvs()
  receiver.closeAllConnections()
  receiver.close()
})

async function work(telemetry: Telemetry): Promise<void> {
  startSpan({ name: 'publish' }).end()
  await telemetry.shutdown()
}

const spansOf = (from: Received | undefined) => from?.resourceSpans?.[0]?.scopeSpans[0]?.spans
const metricsOf = (from: Received | undefined) =>
  from?.resourceMetrics?.[0]?.scopeMetrics.flatMap(({ metrics }) => metrics) ?? []
const serviceOf = (from: Received | undefined) => {
  const { resource } = (from?.resourceSpans ?? from?.resourceMetrics)?.[0] ?? {}
  return resource?.attributes.find(({ key }) => key === 'service.name')?.value
}
const start = (metrics = createMetrics(), otlpUrl?: string) =>
  startTelemetry({ service: 'baton-relay', environment: env, otlpUrl, metrics })

describe('with an OTLP endpoint', () => {
  beforeEach(() => void vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', endpoint))

  it('spans and metrics arrive, under the name of the service', async () => {
    const metrics = createMetrics()
    const telemetry = await start(metrics)
    metrics.handoffsTotal.with({ outcome: 'ACCEPTED', reason: '' }).inc(3)
    metrics.outboxDepth.set(7)
    metrics.hopSeconds.queue.observe(0.3)
    metrics.hopSeconds.queue.observe(20)
    await work(telemetry)
    expect(spansOf(received.get('/v1/traces'))).toMatchObject([{ name: 'publish' }])
    expect(serviceOf(received.get('/v1/traces'))).toEqual({ stringValue: 'baton-relay' })
    const sent = received.get('/v1/metrics')
    expect(serviceOf(sent)).toEqual({ stringValue: 'baton-relay' })
    const named = new Map(metricsOf(sent).map((metric) => [metric.name, metric]))
    expect(named.get('baton_handoffs_total')).toMatchObject({
      sum: { isMonotonic: true, aggregationTemporality: 2, dataPoints: [{ asDouble: 3 }] },
    })
    expect(named.get('baton_outbox_depth')).toMatchObject({
      gauge: { dataPoints: [{ asDouble: 7 }] },
    })
    const { histogram } = named.get('baton_hop_seconds') as unknown as {
      histogram: { dataPoints: { attributes: Attribute[] }[] }
    }
    const queue = histogram.dataPoints.find(({ attributes }) =>
      attributes.some(({ value }) => JSON.stringify(value) === '{"stringValue":"queue"}'),
    )
    expect(queue).toMatchObject({
      count: 2,
      sum: 20.3,
      explicitBounds: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10],
      bucketCounts: [0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1],
    })
  })

  it('every metric of the process is among them', async () => {
    const metrics = createMetrics()
    await work(await start(metrics))
    const exposed = (await metrics.expose()).body.matchAll(/^# TYPE (\S+) /gm)
    const names = metricsOf(received.get('/v1/metrics')).map(({ name }) => name)
    expect(names.toSorted()).toEqual([...exposed].map(([, name]) => name).toSorted())
  })

  it('the names and attributes that the environment gives win', async () => {
    vi.stubEnv('OTEL_SERVICE_NAME', 'ours')
    vi.stubEnv('OTEL_RESOURCE_ATTRIBUTES', 'deployment.environment=test')
    await work(await start())
    const traces = received.get('/v1/traces')
    expect(serviceOf(traces)).toEqual({ stringValue: 'ours' })
    expect(traces?.resourceSpans?.[0]?.resource.attributes).toContainEqual({
      key: 'deployment.environment',
      value: { stringValue: 'test' },
    })
  })

  it('a sampler that takes nothing sends no spans', async () => {
    vi.stubEnv('OTEL_TRACES_SAMPLER', 'always_off')
    await work(await start())
    expect([...received.keys()]).toEqual(['/v1/metrics'])
  })

  it('a signal whose exporter is none is not sent', async () => {
    vi.stubEnv('OTEL_METRICS_EXPORTER', 'none')
    await work(await start())
    expect([...received.keys()]).toEqual(['/v1/traces'])
  })

  it('nothing is sent where the SDK is disabled', async () => {
    vi.stubEnv('OTEL_SDK_DISABLED', 'true')
    const telemetry = await start()
    expect(telemetry.recording).toBe(false)
    await work(telemetry)
    expect(received.size).toBe(0)
  })
})

describe('without one for all signals', () => {
  it('only the signal whose endpoint is named is sent', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_METRICS_ENDPOINT', `${endpoint}/numbers`)
    await work(await start())
    expect([...received.keys()]).toEqual(['/numbers'])
  })

  it('spans alone go to the URL of a setting', async () => {
    await work(await start(createMetrics(), `${endpoint}/somewhere/traces`))
    expect([...received.keys()]).toEqual(['/somewhere/traces'])
  })

  it('a receiver that is away fails nobody', async () => {
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', 'http://127.0.0.1:9')
    vi.stubEnv('OTEL_EXPORTER_OTLP_TIMEOUT', '100')
    await expect(work(await start())).resolves.toBeUndefined()
  })
})

// Starts the OpenTelemetry SDK: batches leave in the background, ids and numbers never wait for them.
import { context, metrics as metricsApi, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { ConsoleMetricExporter, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions'
import { metricProducer } from './metric-producer.ts'
import type { Metrics } from './metrics.ts'
import type { Telemetry } from './telemetry.ts'

type Environment = Readonly<Record<string, string | undefined>>

interface SdkOptions {
  readonly service: string
  /** An exporter, the URL of an OTLP/HTTP receiver, or whether the environment's are used. */
  readonly spans: SpanExporter | string | boolean
  readonly metrics: Metrics | undefined
  readonly environment: Environment
}

/** The SDK reads samplers, limits, batches, headers, time-outs and resources from the environment itself. */
export async function startSdk(options: SdkOptions): Promise<Telemetry> {
  const { service, spans, metrics, environment } = options
  const sdk = new NodeSDK({
    resource: defaultResource().merge(resourceFromAttributes({ [ATTR_SERVICE_NAME]: service })),
    ...spanOptions(spans),
    metricReaders: metrics === undefined ? [] : await metricReaders(metrics, environment),
    logRecordProcessors: [],
  })
  sdk.start()
  return {
    recording: true,
    async shutdown() {
      trace.disable()
      metricsApi.disable()
      context.disable()
      propagation.disable()
      await sdk.shutdown().catch(() => undefined)
    },
  }
}

function spanOptions(spans: SdkOptions['spans']) {
  if (spans === false) return { spanProcessors: [] }
  if (spans === true) return {}
  const isUrl = typeof spans === 'string'
  return { traceExporter: isUrl ? new OTLPTraceExporter({ url: spans }) : spans }
}

const INTERVAL_MS = 60_000
const TIMEOUT_MS = 30_000

// The SDK makes readers from the environment too, but those read none but its own instruments.
async function metricReaders(metrics: Metrics, environment: Environment) {
  const names = environment['OTEL_METRICS_EXPORTER']?.split(',').map((name) => name.trim())
  const exporters = await Promise.all(
    (names ?? ['otlp']).map((name) => exporterOf(name, environment)),
  )
  const intervalMs = Number(environment['OTEL_METRIC_EXPORT_INTERVAL'] || INTERVAL_MS)
  const timeoutMs = Number(environment['OTEL_METRIC_EXPORT_TIMEOUT'] || TIMEOUT_MS)
  return exporters.flatMap((exporter) =>
    exporter === undefined
      ? []
      : new PeriodicExportingMetricReader({
          exporter,
          exportIntervalMillis: intervalMs,
          exportTimeoutMillis: Math.min(timeoutMs, intervalMs),
          metricProducers: [metricProducer(metrics.registry)],
        }),
  )
}

// Prometheus reads /metrics; of what else is named here, nothing but these is an exporter of metrics.
async function exporterOf(
  name: string,
  environment: Environment,
): Promise<PushMetricExporter | undefined> {
  if (name === 'console') return new ConsoleMetricExporter()
  if (name !== 'otlp' && name !== '') return undefined
  const protocol =
    environment['OTEL_EXPORTER_OTLP_METRICS_PROTOCOL'] ?? environment['OTEL_EXPORTER_OTLP_PROTOCOL']
  const { OTLPMetricExporter } = await exporterModule(protocol)
  return new OTLPMetricExporter()
}

function exporterModule(protocol = '') {
  if (protocol === 'grpc') return import('@opentelemetry/exporter-metrics-otlp-grpc')
  if (protocol === 'http/json') return import('@opentelemetry/exporter-metrics-otlp-http')
  return import('@opentelemetry/exporter-metrics-otlp-proto')
}

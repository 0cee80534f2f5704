// Starts the OpenTelemetry SDK: batches leave in the background, and nothing waits for them, not even the end of the process for long.
import { context, logs, metrics as metricsApi, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import { ConsoleMetricExporter, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import type { PushMetricExporter } from '@opentelemetry/sdk-metrics'
import { NodeSDK } from '@opentelemetry/sdk-node'
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { ATTR_SERVICE_NAME, ATTR_SERVICE_VERSION } from '@opentelemetry/semantic-conventions'
import manifest from '../package.json' with { type: 'json' }
import { exporterNames, numberOf, protocolOf } from './exporter-environment.ts'
import type { Environment } from './exporter-environment.ts'
import { logProcessors, sendLines } from './log-export.ts'
import type { LogLines } from './log-lines.ts'
import { metricProducer } from './metric-producer.ts'
import type { Metrics } from './metrics.ts'
import type { Telemetry } from './telemetry.ts'

interface SdkOptions {
  readonly service: string
  /** An exporter, the URL of an OTLP/HTTP receiver, or whether the environment's are used. */
  readonly spans: SpanExporter | string | boolean
  readonly metrics: Metrics | undefined
  readonly logLines: LogLines | undefined
  readonly environment: Environment
}

/** How long the end of a process waits for a collector. */
const SHUTDOWN_MS = 5_000

/** The SDK reads samplers, limits, batches, headers, time-outs and resources from the environment itself. */
export async function startSdk(options: SdkOptions): Promise<Telemetry> {
  const { service, spans, metrics, logLines, environment } = options
  const sdk = new NodeSDK({
    resource: defaultResource().merge(resourceOf(service)),
    ...spanOptions(spans),
    metricReaders: metrics === undefined ? [] : await metricReaders(metrics, environment),
    logRecordProcessors:
      logLines === undefined ? [] : [...(await logProcessors(logLines, environment))],
  })
  sdk.start()
  if (logLines !== undefined) sendLines(logLines)
  return {
    recording: true,
    async shutdown() {
      trace.disable()
      logs.disable()
      metricsApi.disable()
      context.disable()
      propagation.disable()
      const flushed = sdk.shutdown().catch(() => undefined)
      const waited = new Promise<void>((resolve) => {
        setTimeout(resolve, SHUTDOWN_MS).unref()
      })
      await Promise.race([flushed, waited])
    },
  }
}

/** The SDK adds a service.instance.id for each start of a process; what the environment says wins. */
const resourceOf = (service: string) =>
  resourceFromAttributes({ [ATTR_SERVICE_NAME]: service, [ATTR_SERVICE_VERSION]: manifest.version })

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
  const names = exporterNames(environment, 'METRICS')
  const exporters = await Promise.all(names.map((name) => exporterOf(name, environment)))
  const intervalMs = numberOf(environment, 'OTEL_METRIC_EXPORT_INTERVAL', INTERVAL_MS)
  const timeoutMs = numberOf(environment, 'OTEL_METRIC_EXPORT_TIMEOUT', TIMEOUT_MS)
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
  if (name !== 'otlp') return undefined
  const { OTLPMetricExporter } = await exporterModule(protocolOf(environment, 'METRICS'))
  return new OTLPMetricExporter()
}

function exporterModule(protocol: string) {
  if (protocol === 'grpc') return import('@opentelemetry/exporter-metrics-otlp-grpc')
  if (protocol === 'http/json') return import('@opentelemetry/exporter-metrics-otlp-http')
  return import('@opentelemetry/exporter-metrics-otlp-proto')
}

// Sends a process's spans and metrics where OpenTelemetry's own variables say; nothing is loaded where they say nothing.
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import type { Metrics } from './metrics.ts'

export interface TelemetryOptions {
  /** The service's name on everything that is sent; OTEL_SERVICE_NAME wins. */
  readonly service: string
  /** The environment of this process, which the SDK reads too. */
  readonly environment?: Readonly<Record<string, string | undefined>>
  /** Full URL of an OTLP/HTTP trace receiver, such as http://127.0.0.1:4318/v1/traces; wins over the environment. */
  readonly otlpUrl?: string | undefined
  /** Where spans go instead: tests give an exporter in memory. */
  readonly exporter?: SpanExporter
  readonly metrics?: Metrics
}

export interface Telemetry {
  readonly recording: boolean
  /** Sends what is still queued and unregisters. Never rejects: telemetry must not fail a drain. */
  shutdown(): Promise<void>
}

const NOT_RECORDING: Telemetry = { recording: false, shutdown: async () => undefined }

/**
 * Registers the process's spans and metrics for export. A signal is sent where its exporter or an endpoint
 * is named: OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT, or that of one
 * signal. Everything else about it the SDK reads itself. Without any of them, and with
 * OTEL_SDK_DISABLED, `startSpan` only makes ids.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { service, environment = {}, otlpUrl, exporter, metrics } = options
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return NOT_RECORDING
  const spans = exporter ?? otlpUrl ?? isNamed(environment, 'TRACES')
  const exported = isNamed(environment, 'METRICS') ? metrics : undefined
  if (spans === false && exported === undefined) return NOT_RECORDING
  const { startSdk } = await import('./open-telemetry.ts')
  return startSdk({ service, spans, metrics: exported, environment })
}

function isNamed(
  environment: NonNullable<TelemetryOptions['environment']>,
  signal: 'TRACES' | 'METRICS',
): boolean {
  const exporter = `OTEL_${signal}_EXPORTER`
  if (environment[exporter] === 'none') return false
  const endpoints = ['OTEL_EXPORTER_OTLP_ENDPOINT', `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`]
  return [exporter, ...endpoints].some((name) => (environment[name] ?? '') !== '')
}

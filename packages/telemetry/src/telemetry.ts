// Sends a process's spans, metrics and log lines where OpenTelemetry's own variables say; nothing is loaded where they say nothing.
import type { SpanExporter } from '@opentelemetry/sdk-trace'
import { isExported, numberOf } from './exporter-environment.ts'
import type { Environment } from './exporter-environment.ts'
import { createLogLines } from './log-lines.ts'
import type { LogLines } from './log-lines.ts'
import type { Metrics } from './metrics.ts'

export interface TelemetryOptions {
  /** The service's name on everything that is sent; OTEL_SERVICE_NAME wins. */
  readonly service: string
  /** The environment of this process, which the SDK reads too. */
  readonly environment?: Environment
  /** Full URL of an OTLP/HTTP trace receiver, such as http://127.0.0.1:4318/v1/traces; wins over the environment. */
  readonly otlpUrl?: string | undefined
  /** Where spans go instead: tests give an exporter in memory. */
  readonly exporter?: SpanExporter
  readonly metrics?: Metrics
  /** What `exportedLines` made. */
  readonly logLines?: LogLines | undefined
}

export interface Telemetry {
  readonly recording: boolean
  /** Sends what is still queued and unregisters. Never rejects: telemetry must not fail a drain. */
  shutdown(): Promise<void>
}

const NOT_RECORDING: Telemetry = { recording: false, shutdown: async () => undefined }

/** Where the process is to give each log line that it writes; undefined where none is sent. */
export function exportedLines(
  environment: Environment,
  { logRecordsDroppedTotal }: Metrics,
): LogLines | undefined {
  if (!isExported(environment, 'LOGS')) return undefined
  const waitingMax = numberOf(environment, 'OTEL_BLRP_MAX_QUEUE_SIZE', 2_048)
  return createLogLines(waitingMax, logRecordsDroppedTotal)
}

/**
 * Registers the process's spans, metrics and log lines for export. A signal is sent where its exporter or an
 * endpoint is named: OTEL_TRACES_EXPORTER, OTEL_METRICS_EXPORTER, OTEL_LOGS_EXPORTER, OTEL_EXPORTER_OTLP_ENDPOINT,
 * or that of one signal. Everything else about it the SDK reads itself. Without any of them, and with
 * OTEL_SDK_DISABLED, `startSpan` only makes ids.
 */
export async function startTelemetry(options: TelemetryOptions): Promise<Telemetry> {
  const { service, environment = {}, otlpUrl, exporter, metrics, logLines } = options
  if (environment['OTEL_SDK_DISABLED']?.toLowerCase() === 'true') return NOT_RECORDING
  const spans = exporter ?? otlpUrl ?? isExported(environment, 'TRACES')
  const exported = isExported(environment, 'METRICS') ? metrics : undefined
  if (spans === false && exported === undefined && logLines === undefined) return NOT_RECORDING
  const { startSdk } = await import('./open-telemetry.ts')
  return startSdk({ service, spans, metrics: exported, logLines, environment })
}

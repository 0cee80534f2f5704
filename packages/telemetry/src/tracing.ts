// Turns span recording on for a process; the recorder is loaded only where spans are wanted.
import type { SpanExporter } from '@opentelemetry/sdk-trace-node'

export interface TracingOptions {
  /** The service's name on every span. */
  readonly service: string
  /** Where spans go; wins over `otlpEndpoint`. Tests give an in-memory one. */
  readonly exporter?: SpanExporter
  /** Full URL of an OTLP/HTTP trace receiver, such as http://127.0.0.1:4318/v1/traces. */
  readonly otlpEndpoint?: string | undefined
}

export interface Tracing {
  readonly recording: boolean
  /** Sends what is still queued and unregisters. Never rejects: telemetry must not fail a drain. */
  shutdown(): Promise<void>
}

const NOT_RECORDING: Tracing = { recording: false, shutdown: async () => undefined }

/**
 * Registers the process's span recording. Without an exporter and without an endpoint nothing is
 * registered or loaded and `startSpan` only makes ids. At most 2,048 spans wait for export; more
 * are dropped.
 */
export async function startTracing(options: TracingOptions): Promise<Tracing> {
  const { service, exporter, otlpEndpoint } = options
  const loadRecorder = () => import('./span-recorder.ts')
  if (exporter !== undefined) return (await loadRecorder()).recordTo(exporter, service)
  if (otlpEndpoint === undefined) return NOT_RECORDING
  const { recordTo, sendTo } = await loadRecorder()
  return recordTo(sendTo(otlpEndpoint), service)
}

// Turns span recording on for a process: batches leave in the background, ids never wait for them.
import { context, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { SpanExporter } from '@opentelemetry/sdk-trace-node'
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions'

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
 * registered and `startSpan` only makes ids. At most 2,048 spans wait for export; more are dropped.
 */
export function startTracing({ service, exporter, otlpEndpoint }: TracingOptions): Tracing {
  const target =
    exporter ??
    (otlpEndpoint === undefined ? undefined : new OTLPTraceExporter({ url: otlpEndpoint }))
  if (target === undefined) return NOT_RECORDING
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: service }),
    spanProcessors: [new BatchSpanProcessor(target, { maxQueueSize: 2_048 })],
  })
  provider.register()
  return { recording: true, shutdown: () => unregister(provider) }
}

async function unregister(provider: NodeTracerProvider): Promise<void> {
  trace.disable()
  context.disable()
  propagation.disable()
  await provider.shutdown().catch(() => undefined)
}

// Records spans with the OpenTelemetry SDK: batches leave in the background, ids never wait for them.
import { context, propagation, trace } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider } from '@opentelemetry/sdk-trace-node'
import type { SpanExporter } from '@opentelemetry/sdk-trace-node'
import { ATTR_SERVICE_NAME } from '@opentelemetry/semantic-conventions'
import type { Tracing } from './tracing.ts'

/** An exporter to an OTLP/HTTP trace receiver at a full URL. */
export const sendTo = (url: string): SpanExporter => new OTLPTraceExporter({ url })

/** Registers `exporter` for every span of the process, under the name of its service. */
export function recordTo(exporter: SpanExporter, service: string): Tracing {
  const provider = new NodeTracerProvider({
    resource: resourceFromAttributes({ [ATTR_SERVICE_NAME]: service }),
    spanProcessors: [new BatchSpanProcessor(exporter, { maxQueueSize: 2_048 })],
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

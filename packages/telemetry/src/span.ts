// Spans that join the trace a message carries. Ids flow even when nobody records them (I9).
import {
  context,
  createTraceState,
  ProxyTracerProvider,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api'
import type { Attributes, Context, Link, Span as RecordedSpan, Tracer } from '@opentelemetry/api'
import { ATTR_ERROR_TYPE } from '@opentelemetry/semantic-conventions'
import {
  formatTraceparent,
  newSpanId,
  newTraceId,
  parseTraceparent,
  SAMPLED,
} from './trace-context.ts'
import type { TraceContext } from './trace-context.ts'

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
} as const

export type SpanAttributes = Readonly<Record<string, string | number | boolean>>

export interface SpanOptions {
  readonly name: string
  readonly kind?: keyof typeof KINDS
  /** The traceparent that came with the work. Absent or malformed: a new trace starts. */
  readonly parent?: string | undefined
  /** The tracestate that came with `parent`; handed on unchanged, dropped when a new trace starts. */
  readonly tracestate?: string | undefined
  /** Traceparents of related work in other traces: the messages of a batch. */
  readonly links?: readonly string[]
  readonly attributes?: SpanAttributes
}

export interface Span {
  /** What the next hop gets as its parent. */
  readonly traceparent: string
  readonly tracestate: string | undefined
  readonly traceId: string
  readonly spanId: string
  setAttributes(attributes: SpanAttributes): void
  /** Runs `work` with this span as the active one, so that spans a library makes nest under it. */
  run<Result>(work: () => Result): Result
  /** `error` is a stable code (BATON_*), never a message. Ending twice does nothing. */
  end(outcome?: { readonly error?: string }): void
}

// Undefined while no provider is registered, which saves the detour through the API's no-op spans.
function recordingTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer('baton')
  return provider.getTracer('baton')
}

/** Starts a span. Costs about a microsecond while no OpenTelemetry provider is registered. */
export function startSpan(options: SpanOptions): Span {
  const parent = options.parent === undefined ? undefined : parseTraceparent(options.parent)
  const tracestate = parent === undefined ? undefined : options.tracestate
  const tracer = recordingTracer()
  if (tracer === undefined) return unrecordedSpan(parent, tracestate)
  const recorded = tracer.startSpan(
    options.name,
    recordingOptions(options),
    parent === undefined ? ROOT_CONTEXT : remoteContext(parent, tracestate),
  )
  const own = ownContext(recorded, parent)
  return own === undefined
    ? unrecordedSpan(parent, tracestate)
    : recordedSpan(recorded, { own, tracestate })
}

function recordingOptions({ kind = 'internal', attributes, links }: SpanOptions) {
  return {
    kind: KINDS[kind],
    ...(attributes === undefined ? {} : { attributes: attributes as Attributes }),
    ...(links === undefined ? {} : { links: links.flatMap(toLink) }),
  }
}

function toLink(traceparent: string): Link[] {
  const linked = parseTraceparent(traceparent)
  if (linked === undefined) return []
  const { traceId, spanId, flags } = linked
  return [{ context: { traceId, spanId, traceFlags: flags, isRemote: true } }]
}

function remoteContext(parent: TraceContext, tracestate: string | undefined): Context {
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId: parent.traceId,
    spanId: parent.spanId,
    traceFlags: parent.flags,
    isRemote: true,
    ...(tracestate === undefined ? {} : { traceState: createTraceState(tracestate) }),
  })
}

// A no-op provider answers with the parent itself, or with an all-zero context.
function ownContext(
  recorded: RecordedSpan,
  parent: TraceContext | undefined,
): TraceContext | undefined {
  const { traceId, spanId, traceFlags } = recorded.spanContext()
  if (spanId === parent?.spanId || !trace.isSpanContextValid(recorded.spanContext())) {
    return undefined
  }
  const randomFlag = (parent?.flags ?? 0) & ~SAMPLED
  return { traceId, spanId, flags: (traceFlags & SAMPLED) | randomFlag }
}

function unrecordedSpan(parent: TraceContext | undefined, tracestate: string | undefined): Span {
  const traceId = parent?.traceId ?? newTraceId()
  const spanId = newSpanId()
  const traceparent = formatTraceparent({ traceId, spanId, flags: parent?.flags ?? SAMPLED })
  return {
    traceparent,
    tracestate,
    traceId,
    spanId,
    setAttributes: () => undefined,
    run: (work) => work(),
    end: () => undefined,
  }
}

interface Identity {
  readonly own: TraceContext
  readonly tracestate: string | undefined
}

function recordedSpan(recorded: RecordedSpan, { own, tracestate }: Identity): Span {
  let ended = false
  return {
    traceparent: formatTraceparent(own),
    tracestate,
    traceId: own.traceId,
    spanId: own.spanId,
    setAttributes: (attributes) => void recorded.setAttributes(attributes as Attributes),
    run: (work) => context.with(trace.setSpan(context.active(), recorded), work),
    end({ error } = {}) {
      if (ended) return
      ended = true
      if (error !== undefined) {
        recorded.setAttribute(ATTR_ERROR_TYPE, error)
        recorded.setStatus({ code: SpanStatusCode.ERROR, message: error })
      }
      recorded.end()
    },
  }
}

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
import type { Exemplar } from './instrument.ts'
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
  /** A span of this process, or the traceparent that came with the work. Absent or malformed: a new trace starts. */
  readonly parent?: Span | string | undefined
  /** The tracestate that came with a traceparent; handed on unchanged, dropped when a new trace starts. */
  readonly tracestate?: string | undefined
  /** Traceparents of related work in other traces: the messages of a batch. */
  readonly links?: readonly string[]
  readonly attributes?: SpanAttributes
  /** When it began, where that is earlier than now: milliseconds since 1970. */
  readonly startedAt?: number
}

export interface Span {
  /** What the next hop gets as its parent. */
  readonly traceparent: string
  readonly tracestate: string | undefined
  readonly traceId: string
  readonly spanId: string
  /** For a histogram: undefined where the trace is not sampled, because it would point to a trace that nobody keeps. */
  readonly exemplar: Exemplar | undefined
  setAttributes(attributes: SpanAttributes): void
  /** Runs `work` with this span as the active one, so that spans a library makes nest under it. */
  run<Result>(work: () => Result): Result
  /** `error` is a stable code (BATON_*), never a message. Ending twice does nothing. */
  end(outcome?: { readonly error?: string }): void
}

/** A part of a span that hands nothing on, so that nobody needs its ids. */
export type Step = Pick<Span, 'setAttributes' | 'end'>

// Undefined while no provider is registered, which saves the detour through the API's no-op spans.
function recordingTracer(): Tracer | undefined {
  const provider = trace.getTracerProvider()
  if (provider instanceof ProxyTracerProvider) return provider.getDelegateTracer('baton')
  return provider.getTracer('baton')
}

/** Starts a span. Costs about a microsecond while no OpenTelemetry provider is registered. */
export function startSpan(options: SpanOptions): Span {
  const parent = parentOf(options)
  const tracer = recordingTracer()
  if (tracer === undefined) return unrecordedSpan(parent)
  const recorded = tracer.startSpan(options.name, recordingOptions(options), contextOf(parent))
  const own = ownContext(recorded, parent)
  return own === undefined
    ? unrecordedSpan(parent)
    : recordedSpan(recorded, { own, tracestate: parent?.tracestate })
}

const NOT_RECORDED: Step = { setAttributes: () => undefined, end: () => undefined }

/** Starts a step of `parent`; nothing is made while no OpenTelemetry provider is registered. */
export const startStep = (
  parent: Span,
  options: Omit<SpanOptions, 'parent' | 'tracestate'>,
): Step => (recordingTracer() === undefined ? NOT_RECORDED : startSpan({ ...options, parent }))

/** What a histogram may show of a trace: its ids where it is sampled. */
export function exemplarOf(traceparent: string): Exemplar | undefined {
  const known = parseTraceparent(traceparent)
  return known === undefined ? undefined : exemplarIn(known)
}

const exemplarIn = ({ traceId, spanId, flags }: TraceContext): Exemplar | undefined =>
  (flags & SAMPLED) === 0 ? undefined : { traceId, spanId }

interface Parent extends TraceContext {
  readonly tracestate: string | undefined
  readonly isRemote: boolean
}

function parentOf({ parent, tracestate }: SpanOptions): Parent | undefined {
  const isRemote = typeof parent !== 'object'
  const known = parseTraceparent((isRemote ? parent : parent.traceparent) ?? '')
  if (known === undefined) return undefined
  return { ...known, tracestate: isRemote ? tracestate : parent.tracestate, isRemote }
}

function recordingOptions({ kind = 'internal', attributes, links, startedAt }: SpanOptions) {
  return {
    kind: KINDS[kind],
    ...(attributes === undefined ? {} : { attributes: attributes as Attributes }),
    ...(links === undefined ? {} : { links: links.flatMap(toLink) }),
    ...(startedAt === undefined ? {} : { startTime: startedAt }),
  }
}

function toLink(traceparent: string): Link[] {
  const linked = parseTraceparent(traceparent)
  if (linked === undefined) return []
  const { traceId, spanId, flags } = linked
  return [{ context: { traceId, spanId, traceFlags: flags, isRemote: true } }]
}

function contextOf(parent: Parent | undefined): Context {
  if (parent === undefined) return ROOT_CONTEXT
  const { traceId, spanId, flags, tracestate, isRemote } = parent
  return trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId,
    traceFlags: flags,
    isRemote,
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

function unrecordedSpan(parent: Parent | undefined): Span {
  const traceId = parent?.traceId ?? newTraceId()
  const spanId = newSpanId()
  const own = { traceId, spanId, flags: parent?.flags ?? SAMPLED }
  return {
    traceparent: formatTraceparent(own),
    tracestate: parent?.tracestate,
    traceId,
    spanId,
    exemplar: exemplarIn(own),
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
    exemplar: exemplarIn(own),
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

// A log line as a record of OpenTelemetry: all that stands in the line, and nothing else.
import { ROOT_CONTEXT, SeverityNumber, trace } from '@opentelemetry/api'
import type { AnyValue, Context, LogRecord } from '@opentelemetry/api'
import {
  ATTR_ERROR_TYPE,
  ATTR_EXCEPTION_MESSAGE,
  ATTR_EXCEPTION_STACKTRACE,
  ATTR_EXCEPTION_TYPE,
} from '@opentelemetry/semantic-conventions'
import { parseTraceparent } from './trace-context.ts'

interface Line {
  readonly level: string
  readonly time: string
  readonly event?: string
  readonly traceId?: string
  readonly spanId?: string
  readonly traceparent?: string
  readonly error?: LoggedError
}

interface LoggedError {
  readonly type: string
  readonly code?: string
  readonly message?: string
  readonly at?: readonly string[]
  readonly cause?: AnyValue
}

const SEVERITIES: Readonly<Record<string, SeverityNumber>> = {
  trace: SeverityNumber.TRACE,
  debug: SeverityNumber.DEBUG,
  info: SeverityNumber.INFO,
  warn: SeverityNumber.WARN,
  error: SeverityNumber.ERROR,
  fatal: SeverityNumber.FATAL,
}

/** Of the line, the resource says these: service.name and process.pid. */
const IN_RESOURCE = ['service', 'pid']
const OWN_FIELDS = new Set(['level', 'time', 'event', 'error', ...IN_RESOURCE])
const TRACE_FIELDS = new Set(['traceId', 'spanId', 'traceparent'])

/**
 * The record of one JSON line: the event is its body and its name, a trace that the line names becomes its trace, an error is
 * told as the conventions tell exceptions, and each other field is an attribute of the same name.
 */
export function logRecordOf(line: string): LogRecord {
  const known = JSON.parse(line) as Line
  const { level, time, event = '', error } = known
  const context = contextOf(known)
  const others = Object.entries(known).filter(
    ([name]) => !OWN_FIELDS.has(name) && !(context !== ROOT_CONTEXT && TRACE_FIELDS.has(name)),
  )
  return {
    timestamp: Date.parse(time),
    severityNumber: SEVERITIES[level] ?? SeverityNumber.UNSPECIFIED,
    severityText: level,
    body: event,
    eventName: event,
    context,
    attributes: {
      ...(Object.fromEntries(others) as Record<string, AnyValue>),
      ...(error === undefined ? {} : errorAttributes(error)),
    },
  }
}

// A record has a trace where its line names a span of it, too.
function contextOf({ traceId = '', spanId = '', traceparent }: Line): Context {
  const parsed = parseTraceparent(traceparent ?? `00-${traceId}-${spanId}-00`)
  if (parsed === undefined) return ROOT_CONTEXT
  const own = { traceId: parsed.traceId, spanId: parsed.spanId, traceFlags: parsed.flags }
  return trace.setSpanContext(ROOT_CONTEXT, own)
}

const errorAttributes = ({ type, code = type, message, at = [], cause }: LoggedError) => ({
  [ATTR_ERROR_TYPE]: code,
  [ATTR_EXCEPTION_TYPE]: type,
  [ATTR_EXCEPTION_MESSAGE]: message,
  [ATTR_EXCEPTION_STACKTRACE]: at.length === 0 ? undefined : at.join('\n'),
  'error.cause': cause,
})

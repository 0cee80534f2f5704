// W3C trace context as Baton carries it: one traceparent string, never a vendor's object.
import { randomFillSync } from 'node:crypto'

export interface TraceContext {
  readonly traceId: string
  readonly spanId: string
  readonly flags: number
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
/** The two flags W3C defines: sampled, and (level 2) "the trace id is random". */
const KNOWN_FLAGS = 0x03
export const SAMPLED = 0x01

/** Reads a traceparent; undefined when the standard says to ignore it and start a new trace. */
export function readTraceparent(traceparent: string): TraceContext | undefined {
  const match = TRACEPARENT.exec(traceparent)
  if (match === null) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS }
}

export function writeTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags & KNOWN_FLAGS}`
}

// One system call fills ids for hundreds of spans.
const pool = Buffer.alloc(4_096)
let used = pool.length

function randomHex(bytes: 8 | 16): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  used += bytes
  return pool.toString('hex', used - bytes, used)
}

/** A span id is never all zeros, which the standard reserves for "none". */
export function newSpanId(): string {
  const spanId = randomHex(8)
  return spanId === NO_SPAN ? newSpanId() : spanId
}

export function newTraceId(): string {
  const traceId = randomHex(16)
  return traceId === NO_TRACE ? newTraceId() : traceId
}

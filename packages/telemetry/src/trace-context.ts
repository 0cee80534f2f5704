// W3C trace context as Baton carries it: one traceparent string, never a vendor's object. One trace id
// from the first request to the last effect (I9).
import { randomFillSync } from 'node:crypto'

export interface TraceContext {
  /** 32 hex digits, not all zero. */
  readonly traceId: string
  /** 16 hex digits, not all zero. */
  readonly spanId: string
  /** Bit 0 sampled, bit 1 random trace id. */
  readonly flags: number
}

const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const LENGTH_MAX = 512
const NO_TRACE = '0'.repeat(32)
const NO_SPAN = '0'.repeat(16)
export const SAMPLED = 0x01
const RANDOM = 0x02
const KNOWN_FLAGS = SAMPLED | RANDOM

/**
 * Reads a traceparent strictly; undefined when the standard says to ignore it and start a new trace.
 * Versions above 00 may carry more fields, which are dropped, as are the flags that level 2 of the
 * standard does not define: it wants them zero in what is handed on.
 */
export function parseTraceparent(traceparent: string): TraceContext | undefined {
  if (traceparent.length > LENGTH_MAX) return undefined
  const match = TRACEPARENT.exec(traceparent)
  if (match === null) return undefined
  const [, version = '', traceId = '', spanId = '', flags = '', rest] = match
  if (version === 'ff' || (version === '00' && rest !== undefined)) return undefined
  if (traceId === NO_TRACE || spanId === NO_SPAN) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) & KNOWN_FLAGS }
}

/** The header, in version 00. */
export function formatTraceparent({ traceId, spanId, flags }: TraceContext): string {
  return `00-${traceId}-${spanId}-0${flags & KNOWN_FLAGS}`
}

/** A fresh, sampled trace with random ids. */
export const newTraceparent = (): string =>
  formatTraceparent({ traceId: newTraceId(), spanId: newSpanId(), flags: KNOWN_FLAGS })

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

// W3C trace context: one trace id from the first request to the last effect (I9).
import { randomBytes } from 'node:crypto'

export interface Traceparent {
  /** 32 hex digits, not all zero. */
  readonly traceId: string
  /** 16 hex digits, not all zero. */
  readonly spanId: string
  /** Bit 0 sampled, bit 1 random trace id; all bits are kept. */
  readonly flags: number
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/
const LENGTH_MAX = 512
const SAMPLED = 0x01
const RANDOM = 0x02

/**
 * Reads a traceparent header strictly; undefined means that the trace restarts. Versions above 00
 * may carry more fields, which are dropped; version ff and all-zero ids are invalid.
 */
export function parseTraceparent(header: string): Traceparent | undefined {
  if (header.length > LENGTH_MAX) return undefined
  const match = FORM.exec(header)
  if (match === null) return undefined
  const [, version, traceId = '', spanId = '', flags = '', more] = match
  if (version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined
  return { traceId, spanId, flags: Number.parseInt(flags, 16) }
}

/** The header, in version 00. */
export function formatTraceparent({ traceId, spanId, flags }: Traceparent): string {
  return `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`
}

/** The same trace one span further down; a parent that is invalid starts a new trace. */
export function childTraceparent(parent: string, spanId: string = randomId(8)): string {
  const context = parseTraceparent(parent)
  return context === undefined ? newTraceparent() : formatTraceparent({ ...context, spanId })
}

/** A fresh, sampled trace with random ids. */
export function newTraceparent(): string {
  return formatTraceparent({
    traceId: randomId(16),
    spanId: randomId(8),
    flags: SAMPLED | RANDOM,
  })
}

function randomId(bytes: number): string {
  const id = randomBytes(bytes).toString('hex')
  return /^0+$/.test(id) ? randomId(bytes) : id
}

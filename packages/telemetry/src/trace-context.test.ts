// Trace contexts are read strictly and written so that others can read them.
import { describe, expect, it } from 'vitest'
import { newSpanId, newTraceId, readTraceparent, writeTraceparent } from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('traceparent', () => {
  it.each(['00', '01', '02', '03'])('keeps flags %s', (flags) => {
    const traceparent = `00-${TRACE}-${SPAN}-${flags}`
    const read = readTraceparent(traceparent)
    expect(read).toEqual({ traceId: TRACE, spanId: SPAN, flags: Number(flags) })
    expect(read && writeTraceparent(read)).toBe(traceparent)
  })

  it('drops flags nobody has defined, and reads later versions as the first', () => {
    expect(readTraceparent(`00-${TRACE}-${SPAN}-ff`)?.flags).toBe(3)
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-ever`)?.traceId).toBe(TRACE)
  })

  it.each([
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-extra`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01\n`,
  ])('refuses %j', (traceparent) => {
    expect(readTraceparent(traceparent)).toBeUndefined()
  })
})

describe('new ids', () => {
  it('have the length of the standard and do not repeat across the random pool', () => {
    const spans = new Set(Array.from({ length: 5_000 }, newSpanId))
    const traces = new Set(Array.from({ length: 5_000 }, newTraceId))
    expect(spans.size).toBe(5_000)
    expect(traces.size).toBe(5_000)
    for (const id of spans) expect(id).toMatch(/^[0-9a-f]{16}$/)
    for (const id of traces) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })
})

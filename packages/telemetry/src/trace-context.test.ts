// Trace contexts are read strictly, by the header cases of W3C Trace Context, and written so that others can read them.
import { describe, expect, it } from 'vitest'
import {
  formatTraceparent,
  newSpanId,
  newTraceId,
  newTraceparent,
  parseTraceparent,
} from './trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'

describe('traceparent', () => {
  it.each(['00', '01', '02', '03'])('keeps flags %s', (flags) => {
    const traceparent = `00-${TRACE}-${SPAN}-${flags}`
    const read = parseTraceparent(traceparent)
    expect(read).toEqual({ traceId: TRACE, spanId: SPAN, flags: Number(flags) })
    expect(read && formatTraceparent(read)).toBe(traceparent)
  })

  it('drops flags nobody has defined, and reads later versions as the first', () => {
    expect(parseTraceparent(`00-${TRACE}-${SPAN}-ff`)?.flags).toBe(3)
    expect(parseTraceparent(`cc-${TRACE}-${SPAN}-01-what-ever`)?.traceId).toBe(TRACE)
  })

  it.each([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`00-${TRACE}-${SPAN}-03`, 3],
    [`00-${TRACE}-${SPAN}-ff`, 3],
    [`01-${TRACE}-${SPAN}-01`, 1],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be-like`, 1],
    [`fe-${TRACE}-${SPAN}-01-`, 1],
  ])('accepts %s', (header, flags) => {
    expect(parseTraceparent(header)).toEqual({ traceId: TRACE, spanId: SPAN, flags })
  })

  it.each([
    '',
    'garbage',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01-`,
    `cc-${TRACE}-${SPAN}-01.what`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN.toUpperCase()}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `000-${TRACE}-${SPAN}-01`,
    `00-${TRACE}a-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}a-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-0x`,
    `00-${TRACE}-${SPAN}`,
    `00-${TRACE}-${SPAN}-01 `,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01\n`,
    `00-${TRACE}-${SPAN}-01,00-${TRACE}-${SPAN}-01`,
    `.0-${TRACE}-${SPAN}-01`,
    `00-${TRACE.slice(1)}.-${SPAN}-01`,
    `cc-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`,
  ])('restarts the trace on %j', (header) => {
    expect(parseTraceparent(header)).toBeUndefined()
  })

  it('starts with random ids, sampled', () => {
    const [first, second] = [parseTraceparent(newTraceparent()), parseTraceparent(newTraceparent())]
    expect(first?.flags).toBe(3)
    expect(first?.traceId).not.toBe(second?.traceId)
  })

  it('writes what it read', () => {
    const header = `00-${TRACE}-${SPAN}-01`
    expect(
      formatTraceparent(parseTraceparent(header) ?? { traceId: '', spanId: '', flags: 0 }),
    ).toBe(header)
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

// The header cases of W3C Trace Context.
import { describe, expect, it } from 'vitest'
import {
  childTraceparent,
  formatTraceparent,
  newTraceparent,
  parseTraceparent,
} from './traceparent.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'

describe('traceparent', () => {
  it.each([
    [`00-${TRACE}-${SPAN}-01`, 1],
    [`00-${TRACE}-${SPAN}-00`, 0],
    [`00-${TRACE}-${SPAN}-03`, 3],
    [`00-${TRACE}-${SPAN}-ff`, 255],
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

  it('keeps trace id and flags in a child', () => {
    const child = childTraceparent(`00-${TRACE}-${SPAN}-03`, '00f067aa0ba902b7')
    expect(child).toBe(`00-${TRACE}-00f067aa0ba902b7-03`)
  })

  it('gives a child a span id of its own', () => {
    const child = parseTraceparent(childTraceparent(`00-${TRACE}-${SPAN}-01`))
    expect(child).toMatchObject({ traceId: TRACE, flags: 1 })
    expect(child?.spanId).not.toBe(SPAN)
  })

  it('starts a new trace below an invalid parent', () => {
    expect(parseTraceparent(childTraceparent('garbage'))).toBeDefined()
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

// What a thread is given is what the event loop would have worked on.
import { describe, expect, it } from 'vitest'
import { plainSize } from './plain-size.ts'

describe('the size of a value', () => {
  it.each([
    ['a text', 'x'.repeat(1_000)],
    ['many small values', Array.from({ length: 500 }, (_, nth) => ({ nth, name: `n${nth}` }))],
    ['scalars', { a: null, b: true, c: 1, d: undefined }],
    ['without a prototype', Object.assign(Object.create(null) as object, { text: 'y'.repeat(99) })],
  ])('is about that of its JSON: %s', (_, value) => {
    const size = plainSize(value) ?? 0
    const { length } = JSON.stringify(value)
    expect(size).toBeGreaterThan(length / 2)
    expect(size).toBeLessThan(length * 2 + 32)
  })

  const endless: Record<string, unknown> = {}
  endless['self'] = endless
  it.each([
    ['a function', () => 1],
    ['of a class', { at: new Date(0) }],
    ['of a map', [new Map([[1, 2]])]],
    ['without an end', endless],
  ])('is not known of what would not be the same in a thread: %s', (_, value) => {
    expect(plainSize({ value })).toBeUndefined()
  })
})

// What the quick check accepts the rules accept too, whatever is done to a record.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { followsRules } from './check-record.ts'
import { chainOf, entryOf } from './fixtures/chain.ts'
import { isPlainRecord } from './plain-record.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }

const segments = [{ kind: 'message' as const, subject: null, text: 'a message' }]
const sample = (): { [name: string]: Json } => {
  const { records } = chainOf([entryOf({ segments })])
  return JSON.parse(Buffer.from(records[0]?.body ?? []).toString()) as { [name: string]: Json }
}
const record = sample()

/** Every place in a record, members and elements, as a path. */
function places(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([name, inner]) => places(inner, [...path, name]))]
}

function changed(
  path: readonly string[],
  change: (holder: { [name: string]: Json }, name: string) => void,
) {
  const copy = structuredClone(record)
  let holder: { [name: string]: Json } = copy
  for (const step of path.slice(0, -1)) holder = holder[step] as { [name: string]: Json }
  change(holder, path.at(-1) ?? '')
  return copy
}

const inner = places(record).filter((path) => path.length > 0)
const value = fc.oneof(
  fc.jsonValue() as fc.Arbitrary<Json>,
  fc.constantFrom<Json>(null, -1, 0, 1.5, 2 ** 53, 1_000_001, '', 'A', 'ab'.repeat(32), [], {}),
)

describe('the quick check of a record', () => {
  test('knows the usual forms', () => {
    expect(isPlainRecord(record)).toBe(true)
    for (const name of ['verdicts', 'cost', 'reason', 'parentHandoffId']) {
      expect(isPlainRecord({ ...record, [name]: null })).toBe(true)
    }
  })

  test('accepts nothing that the rules refuse: values', () => {
    fc.assert(
      fc.property(fc.constantFrom(...inner), value, (path, other) => {
        const copy = changed(path, (holder, name) => (holder[name] = other))
        expect(!isPlainRecord(copy) || followsRules(copy)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  test('accepts nothing that the rules refuse: members gone, added or renamed', () => {
    for (const path of inner) {
      const gone = changed(path, (holder, name) => delete holder[name])
      const more = changed(path, (holder) => (holder['extra'] = 1))
      const renamed = changed(path, (holder, name) => {
        holder[`${name}2`] = holder[name] as Json
        delete holder[name]
      })
      for (const copy of [gone, more, renamed]) {
        expect([path, !isPlainRecord(copy) || followsRules(copy)]).toEqual([path, true])
      }
    }
  })
})

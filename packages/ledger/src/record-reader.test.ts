// The reader of usual records says what parsing and the rules would say of the same bytes, or nothing.
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { chainOf } from '../fixtures/chain.ts'
import { entryOf } from '../fixtures/entry.ts'
import { SEGMENT_KINDS } from './audit-entry.ts'
import type { AuditEntry } from './audit-entry.ts'
import { canonicalBytes, canonicalJson } from './canonical-json.ts'
import { isRecordBody } from './check-entry.ts'
import { RecordReader } from './record-reader.ts'

type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
type Members = { [name: string]: Json }

const latin1 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('latin1')
const readAll = (bytes: Uint8Array) => new RecordReader(bytes, latin1(bytes)).read(0, bytes.length)
const bodyOf = (changes: Partial<AuditEntry>): Uint8Array =>
  chainOf([entryOf(changes)]).records[0]?.body ?? new Uint8Array(0)

/** What the rules say of a value that stands in its canonical form; undefined for anything else. */
function readByRules(bytes: Uint8Array): unknown {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
    const value: unknown = JSON.parse(text)
    return isRecordBody(value) && canonicalJson(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

const agrees = (bytes: Uint8Array): boolean => {
  const read = readAll(bytes)
  if (read === undefined) return true
  const expected = readByRules(bytes)
  return expected !== undefined && canonicalJson(read) === canonicalJson(expected)
}

const ink = fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code))
const name = fc.string({ unit: ink, minLength: 1, maxLength: 20 })
const plainName = name.filter((text) => !/["\\]/.test(text))
const count = fc.oneof(fc.nat(20), fc.integer({ min: 0, max: 10 ** 15 - 1 }))
const segment = fc.record({
  kind: fc.constantFrom(...SEGMENT_KINDS),
  subject: fc.constant(null),
  // As long as is stored compressed, and shorter.
  text: fc.constantFrom('a message', 'a clause '.repeat(40)),
})
const entryWith = (names: fc.Arbitrary<string>) =>
  fc.record<Partial<AuditEntry>>({
    event: fc.constantFrom('HANDOFF_ACCEPTED', 'EXECUTION_STARTED', 'ROLLED_BACK'),
    parentHandoffId: fc.option(fc.uuid()),
    attempt: fc.constantFrom(0, 1, 999_999, 1_000_000),
    epoch: count,
    fromAgent: fc.record({ agentId: names, agentVersion: names, executionId: names }),
    toAgent: fc.record({ agentType: names, agentVersion: fc.option(names) }),
    verdicts: fc.constantFrom(null, entryOf().verdicts),
    reason: fc.constantFrom(null, 'SAFETY_REJECTED', 'A'),
    cost: fc.option(
      fc.record({
        spentMicroUSD: count,
        remainingMicroUSD: fc.oneof(
          count,
          count.map((value) => (value === 0 ? 0 : -value)),
        ),
        promptTokens: count,
        completionTokens: count,
      }),
    ),
    segments: fc.array(segment, { maxLength: 3 }),
  })

const usual = bodyOf({ segments: [{ kind: 'message', subject: null, text: 'a message' }] })
const members = JSON.parse(latin1(usual)) as Members

/** Every place in a value, members and elements, as a path. */
function places(value: Json, path: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [path, ...Object.entries(value).flatMap(([step, inner]) => places(inner, [...path, step]))]
}

function changed(path: readonly string[], change: (holder: Members, step: string) => void) {
  const copy = structuredClone(members)
  let holder: Members = copy
  for (const step of path.slice(0, -1)) holder = holder[step] as Members
  change(holder, path.at(-1) ?? '')
  return copy
}

const inner = places(members).filter((path) => path.length > 0)

describe('what is usual', () => {
  test('is read, and as JSON.parse reads it', () => {
    fc.assert(
      fc.property(entryWith(plainName), (changes) => {
        const bytes = bodyOf(changes)
        expect(readAll(bytes)).toEqual(JSON.parse(latin1(bytes)))
      }),
      { numRuns: 500 },
    )
  })

  test('is read record by record, whatever stood before', () => {
    const alike = fc.constantFrom('a', 'ab', 'abc', 'b c', 'a b')
    fc.assert(
      fc.property(fc.array(entryWith(alike), { minLength: 2, maxLength: 6 }), (entries) => {
        const bodies = entries.map(bodyOf)
        const bytes = Buffer.concat(bodies)
        const reader = new RecordReader(bytes, latin1(bytes))
        let from = 0
        for (const body of bodies) {
          expect(reader.read(from, from + body.length)).toEqual(JSON.parse(latin1(body)))
          expect(reader.read(from, from + body.length - 1)).toBeUndefined()
          expect(reader.read(from + 1, from + body.length)).toBeUndefined()
          from += body.length
        }
      }),
      { numRuns: 100 },
    )
  })
})

describe('nothing is read that the rules refuse', () => {
  test('where any one byte is another', () => {
    const bytes = [
      0,
      9,
      10,
      13,
      127,
      128,
      195,
      255,
      ...Buffer.from(' "\\-+.,:[]{}0159aAfFgGzZTnE_'),
    ]
    const wrong: string[] = []
    for (let at = 0; at < usual.length; at += 1) {
      for (const byte of bytes) {
        const copy = Uint8Array.from(usual)
        copy[at] = byte
        if (!agrees(copy)) wrong.push(`${byte} at ${at}`)
      }
    }
    expect(wrong).toEqual([])
  })

  test('where bytes are gone or added', () => {
    const edit = fc.record({ from: fc.nat(usual.length), gone: fc.nat(4), more: fc.string() })
    fc.assert(
      fc.property(edit, ({ from, gone, more }) => {
        const after = usual.subarray(from + gone)
        expect(agrees(Buffer.concat([usual.subarray(0, from), Buffer.from(more), after]))).toBe(
          true,
        )
      }),
      { numRuns: 5_000 },
    )
  })

  test('where members have other values', () => {
    const odd = [null, -1, 0, -0, 1.5, 2 ** 53, 10 ** 15, 1_000_001, '', ' a', 'a ', 'A', [], {}]
    const value = fc.oneof(
      fc.jsonValue() as fc.Arbitrary<Json>,
      fc.constantFrom<Json>(...odd, 'ab'.repeat(32), 'x'.repeat(256), 'x'.repeat(257)),
      name,
    )
    fc.assert(
      fc.property(fc.constantFrom(...inner), value, (path, other) => {
        const copy = changed(path, (holder, step) => (holder[step] = other))
        expect(agrees(canonicalBytes(copy))).toBe(true)
        expect(agrees(Buffer.from(JSON.stringify(copy)))).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })

  test('where members are gone, added, renamed or in another order', () => {
    for (const path of inner) {
      const gone = changed(path, (holder, step) => delete holder[step])
      const more = changed(path, (holder) => (holder['extra'] = 1))
      const last = changed(path, (holder, step) => {
        const value = holder[step] as Json
        delete holder[step]
        holder[step] = value
      })
      const renamed = changed(path, (holder, step) => {
        holder[`${step}2`] = holder[step] as Json
        delete holder[step]
      })
      for (const copy of [gone, more, renamed, last]) {
        const text = JSON.stringify(copy)
        expect([path, agrees(Buffer.from(text))]).toEqual([path, true])
        expect([path, agrees(canonicalBytes(JSON.parse(text)))]).toEqual([path, true])
      }
    }
  })

  test('where a word is none of those there are, or a list or a word is too long', () => {
    const [reference] = members['payload'] as Members[]
    const verdicts = members['verdicts'] as { safety: Members } & Members
    const payload = (length: number) => Array.from({ length }, () => reference as Json)
    const changes: Members[] = [
      { payload: [{ ...reference, kind: 'other' }] },
      { payload: payload(257) },
      { reason: 'A'.repeat(65) },
      { event: 'HANDOFF_OTHER' },
      { event: 'toString' },
      { verdicts: { ...verdicts, size: 'other' } },
      { verdicts: { ...verdicts, safety: { ...verdicts.safety, decision: 'other' } } },
      { verdicts: { ...verdicts, safety: { ...verdicts.safety, findings: 1_000_001 } } },
    ]
    for (const change of changes) {
      expect(readAll(canonicalBytes({ ...members, ...change }))).toBeUndefined()
    }
    const longest = { ...members, payload: payload(256), reason: 'A'.repeat(64) }
    expect(readAll(canonicalBytes(longest))).toEqual(longest)
  })

  test('where a time does not exist', () => {
    for (const recordedAt of [
      '2026-13-01T00:00:00.000000Z',
      '2026-11-20T25:00:00.000000Z',
      '2026-11-20T10:60:00.000000Z',
      '2026-11-20T10:00:60.000000Z',
    ]) {
      expect(readAll(canonicalBytes({ ...members, recordedAt }))).toBeUndefined()
    }
  })
})

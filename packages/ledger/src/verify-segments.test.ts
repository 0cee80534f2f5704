// Whoever is erased, in whatever order: every segment is present or erased, and a list names exactly what went.
import { createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { erasureOf } from './erasure-list.ts'
import type { RecordBody } from './record.ts'
import { encryptSegment, saltText } from './segment.ts'
import type { StoredSegment } from './stored-record.ts'
import { judgeSegments } from './verify-segments.ts'

const ORIGIN = 'baton/test/e1/s0'

interface Told {
  readonly body: RecordBody
  readonly stored: readonly StoredSegment[]
}

/** One record with a segment for each subject; only what the judgement reads is filled in. */
function tell(seq: number, subjectRefs: readonly string[]): Told {
  const key = createSecretKey(randomBytes(32))
  const salted = subjectRefs.map((_, segment) => saltText(`text ${segment}`))
  const payload = subjectRefs.map((subjectRef, segment) => {
    const { bytes, commitment } = salted[segment] as ReturnType<typeof saltText>
    const committed = commitment.toString('hex')
    return { segment, kind: 'personal' as const, subjectRef, commitment: committed, bytes }
  })
  const stored = subjectRefs.map((subjectRef, segment) => {
    const place = { origin: ORIGIN, seq, segment }
    const encrypted = encryptSegment(key, place, salted[segment]?.salted ?? Buffer.alloc(0))
    return { segment, subjectRef, key, ...encrypted }
  })
  return { body: { origin: ORIGIN, seq, payload } as unknown as RecordBody, stored }
}

const SUBJECTS = Array.from({ length: 5 }, () => randomUUID())
const someone = fc.nat(SUBJECTS.length - 1).map((at) => SUBJECTS[at] as string)

it('holds for any subset of subjects in any order', () => {
  fc.assert(
    fc.property(
      fc.array(fc.array(someone, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 6 }),
      fc.uniqueArray(someone),
      (tasks, gone) => {
        const told = tasks.map((refs, seq) => tell(seq, refs))
        const erased = new Set<string>()
        for (const subject of gone) {
          erased.add(subject)
          for (const { body, stored } of told) {
            const left = stored.filter((one) => !erased.has(one.subjectRef))
            const named = new Map(
              stored
                .filter((one) => erased.has(one.subjectRef))
                .map((one) => [one.segment, one.subjectRef]),
            )
            for (const { subjectRef, verdict } of judgeSegments(body, left, named)) {
              expect(verdict).toBe(erased.has(subjectRef) ? 'erased' : 'present')
            }
            for (const { subjectRef, verdict } of judgeSegments(body, left)) {
              expect(verdict).toBe(erased.has(subjectRef) ? 'missing' : 'present')
            }
          }
        }
      },
    ),
    { numRuns: 100 },
  )
})

it('does not take another list, another order or another subject for the same', () => {
  const [anna = '', ben = ''] = SUBJECTS
  const places = [
    [ORIGIN, 7, 1],
    [ORIGIN, 2, 0],
  ] as const
  const list = erasureOf(anna, places)
  expect(erasureOf(anna, places.toReversed())).toEqual(list)
  expect(erasureOf(ben, places)).not.toEqual(list)
  expect(erasureOf(anna, places.slice(1)).listSha256).not.toBe(list.listSha256)
  expect(erasureOf(anna, [...places, [ORIGIN, 8, 0]]).listSha256).not.toBe(list.listSha256)
})

it('T25 whatever is edited of a segment is a mismatch, also where others of the record were erased', () => {
  const [anna = '', ben = ''] = SUBJECTS
  const { body, stored } = tell(3, [anna, ben])
  const erased = new Map([[0, anna]])
  const kept = stored[1] as StoredSegment & { readonly key: KeyObject }
  const { ciphertext, nonce, key } = kept
  const place = { origin: ORIGIN, seq: 3, segment: 1 }
  const flip = (bytes: Buffer): Buffer =>
    Buffer.from(bytes.map((byte, at) => (at === 3 ? byte ^ 1 : byte)))
  // By somebody who holds the key of the subject: only the commitment knows better.
  const anew = (words: string) => ({
    ...kept,
    ...encryptSegment(key, place, saltText(words).salted),
  })
  const verdicts = (found: StoredSegment, of = body) =>
    judgeSegments(of, [found], erased).map(({ verdict }) => verdict)
  expect(verdicts(kept)).toEqual(['erased', 'present'])
  const edits = [
    { ...kept, ciphertext: flip(ciphertext) },
    { ...kept, nonce: flip(nonce) },
    { ...kept, subjectRef: anna },
    anew('text 1'),
    anew('text 2'),
  ]
  for (const edit of edits) expect(verdicts(edit)).toEqual(['erased', 'mismatch'])
  const payload = body.payload.map((one) => ({ ...one, commitment: 'ab'.repeat(32) }))
  expect(verdicts(kept, { ...body, payload })).toEqual(['erased', 'mismatch'])
})

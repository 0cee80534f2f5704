// Whatever comes in gets a verdict: no exception, no endless work, no poisoned prototype.
import { createHmac } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalJson } from './canonical-json.ts'
import { judgeHandoff } from './judge-handoff.ts'
import { parseMessage } from './parse-message.ts'
import type { RejectionReason } from './rejection.ts'
import {
  sampleAgent,
  sampleKeyRing,
  sampleMessage,
  sampleScan,
} from '../fixtures/sample-handoff.ts'
import { signHandoff } from './signature.ts'
import type { Verdict } from './verdict.ts'

const MIB = 1_048_576
const options = { agent: sampleAgent, keyRing: sampleKeyRing, scan: sampleScan }
const key = sampleKeyRing.keys.get('fixture-key')?.key

/** The verdict on any bytes whose signature is right. */
function judgeSigned(text: string | Uint8Array): Verdict {
  const bytes = Buffer.from(text)
  const mac = createHmac('sha256', key ?? '')
    .update(bytes)
    .digest('hex')
  return judgeHandoff({ bytes, keyId: 'fixture-key', signature: `hmac-sha256:${mac}` }, options)
}

const sound = Buffer.from(signHandoff(sampleMessage(), sampleKeyRing).bytes).toString()
const withState = (json: string) =>
  sound.replace(/"currentState":\{/, `"currentState":{"a":${json},`)

/** Large inputs are made here rather than kept as files. */
const HOSTILE: readonly (readonly [name: string, text: string])[] = [
  ['a string of 1 MiB', withState(`"${'x'.repeat(MIB - 4000)}"`)],
  ['a string just over 256 Ki', withState(`"${'x'.repeat(262_145)}"`)],
  ['an escaped string of 1 MiB', withState(`"${'\\u0041'.repeat(170_000)}"`)],
  ['escapes without an end', `{"a":"${'\\\\'.repeat(500_000)}`],
  ['a key of 1 MiB', `{"${'k'.repeat(MIB - 10)}":1}`],
  ['half a million opening brackets', '['.repeat(500_000)],
  ['half a million opening braces', '{"a":'.repeat(200_000)],
  ['nested 65 deep', withState('['.repeat(64) + ']'.repeat(64))],
  ['10,001 numbers', withState(`[${Array.from({ length: 10_001 }, () => 0).join(',')}]`)],
  [
    '10,001 members',
    withState(
      `{${Array.from({ length: 10_001 }, (_, index) => `"k${String(index).padStart(5, '0')}":0`).join(',')}}`,
    ),
  ],
  ['a number of a million digits', withState('9'.repeat(MIB - 4000))],
  ['a fraction of a million digits', withState(`0.${'1'.repeat(MIB - 4000)}`)],
  ['an exponent of a million digits', withState(`1e${'0'.repeat(MIB - 4000)}`)],
  ['a million spaces', ' '.repeat(MIB)],
  ['a million commas', `[${','.repeat(MIB - 2)}]`],
  ['a million quotes', '"'.repeat(MIB)],
  ['a million backslashes', '\\'.repeat(MIB)],
  ['a million newlines', '\n'.repeat(MIB)],
  [
    '100,000 unknown fields',
    `{"schemaVersion":"2.0",${Array.from({ length: 9000 }, (_, index) => `"u${index}":1`).join(',')}}`,
  ],
  [
    '10,000 broken turns',
    sound.replace(
      '"conversationHistoryVerbatim":[',
      `"conversationHistoryVerbatim":[${'{},'.repeat(9990)}`,
    ),
  ],
  [
    'a version range of 256 odd characters',
    sound.replace('>=1.5.0', `${'>=1.5.0 '.repeat(30)}nonsense`),
  ],
  [
    'a semantic version that invites backtracking',
    sound.replace('"2.1.0"', `"1.0.0-${'0'.repeat(200)}a."`),
  ],
  [
    'a time that invites backtracking',
    sound.replace('2026-06-12T09:30:00Z', `2026-06-12T09:30:00.${'9'.repeat(100_000)}`),
  ],
  [
    'base64 that invites backtracking',
    sound
      .replace('"2.0"', '"2.1"')
      .replace(
        '"conversationHistoryS',
        `"contextSnapshot":{"bytes":"${'A'.repeat(260_000)}!","encoding":"base64","mediaType":"x","sha256":"${'0'.repeat(64)}"},"conversationHistoryS`,
      ),
  ],
  [
    'a reference that invites backtracking',
    sound
      .replace('"2.0"', '"2.1"')
      .replace('"schemaVersion', `"replySchemaRef":"http://${'a.'.repeat(900)}%","schemaVersion`),
  ],
]

describe('hostile text', () => {
  it.each(HOSTILE)('%s is SCHEMA_INVALID', (_, text) => {
    const verdict = judgeSigned(text)
    expect(verdict).toMatchObject({ valid: false, reason: 'SCHEMA_INVALID' })
    expect(JSON.stringify(verdict).length).toBeLessThan(100_000)
  })

  it('accepts what is large and legal', () => {
    expect(judgeSigned(withState(`"${'x'.repeat(262_144)}"`))).toMatchObject({ valid: true })
    expect(
      judgeSigned(withState(`[${Array.from({ length: 10_000 }, () => 0).join(',')}]`)),
    ).toMatchObject({ valid: true })
    expect(judgeSigned(withState('['.repeat(62) + ']'.repeat(62)))).toMatchObject({ valid: true })
  })

  it('never touches a prototype', () => {
    for (const member of [
      '"__proto__":{"polluted":1}',
      '"constructor":{"prototype":{"polluted":1}}',
    ])
      judgeSigned(sound.replace('"currentState":{', `"currentState":{${member},`))
    expect({}).not.toHaveProperty('polluted')
  })

  it('is not satisfied by what a polluted prototype lends every object', () => {
    const { taskId, ...message } = sampleMessage()
    const prototype = Object.prototype as { taskId?: string }
    prototype.taskId = taskId
    try {
      const verdict = judgeSigned(canonicalJson(message))
      expect(verdict).toMatchObject({ reason: 'SCHEMA_INVALID', details: [{ pointer: '/taskId' }] })
    } finally {
      delete prototype.taskId
    }
  })
})

const REASONS: readonly RejectionReason[] = [
  'SCHEMA_INVALID',
  'SIGNATURE_INVALID',
  'INCOMPLETE_CONTEXT',
  'BUDGET_EXHAUSTED',
  'SAFETY_VIOLATION',
]

describe('random text', () => {
  it('gets a verdict when any bytes of a sound message are replaced', () => {
    const places = fc.array(fc.tuple(fc.nat(sound.length - 1), fc.uint8Array({ maxLength: 4 })), {
      minLength: 1,
      maxLength: 5,
    })
    expect(() =>
      fc.assert(
        fc.property(places, (changes) => {
          const bytes = Buffer.from(sound)
          for (const [place, replacement] of changes)
            bytes.set(replacement.slice(0, bytes.length - place), place)
          const verdict = judgeSigned(bytes)
          return verdict.valid || REASONS.includes(verdict.reason)
        }),
        { numRuns: 2000 },
      ),
    ).not.toThrow()
  })

  it('gets a verdict when any field of a sound message is any JSON', () => {
    const fields = fc.constantFrom(...Object.keys(sampleMessage()))
    expect(() =>
      fc.assert(
        fc.property(fields, fc.jsonValue(), (field, value) => {
          const text = JSON.stringify({ ...JSON.parse(sound), [field]: value })
          const verdict = judgeSigned(text)
          return verdict.valid || verdict.details.length > 0
        }),
        { numRuns: 1000 },
      ),
    ).not.toThrow()
  })

  it('gets an answer for any bytes at all', () => {
    expect(() =>
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
          const parsed = parseMessage(bytes)
          return parsed.ok || parsed.details.length > 0
        }),
        { numRuns: 2000 },
      ),
    ).not.toThrow()
  })

  it.each([
    ['no key id', { keyId: undefined }],
    ['no signature', { signature: null }],
    ['a key id that objects inherit', { keyId: 'constructor' }],
    ['a long key id', { keyId: 'k'.repeat(MIB) }],
    ['a long signature', { signature: `hmac-sha256:${'0'.repeat(MIB)}` }],
  ])('is SIGNATURE_INVALID with %s', (_, change) => {
    const signed = { ...signHandoff(sampleMessage(), sampleKeyRing), ...change } as never
    expect(judgeHandoff(signed, options)).toMatchObject({ reason: 'SIGNATURE_INVALID' })
  })
})

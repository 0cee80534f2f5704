// Any bytes get an answer: the value, or what is wrong and where. Checked against JSON.parse.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalBytes } from './canonical-json.ts'
import { parseMessage } from './parse-message.ts'
import type { Parsed } from './parse-message.ts'

const parse = (text: string): Parsed => parseMessage(Buffer.from(text))
const json = fc
  .jsonValue({ maxDepth: 6 })
  .filter((value) => !JSON.stringify(value).includes('__proto__'))

describe('what is accepted', () => {
  it('reads back what the encoder writes, as canonical', () => {
    fc.assert(
      fc.property(json, (value) => {
        const expected = JSON.parse(JSON.stringify(value))
        expect(parseMessage(canonicalBytes(value))).toEqual({
          ok: true,
          value: expected,
          canonical: true,
        })
      }),
    )
  })

  it('reads any spelling as JSON.parse does', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(0, 1, '\t'), (value, indent) => {
        const text = ` \r\n${JSON.stringify(value, null, indent)}\t`
        expect(parse(text)).toEqual({ ok: true, value: JSON.parse(text), canonical: false })
      }),
    )
  })

  it.each([
    '[]',
    '{}',
    '[[] ]',
    '["a"]',
    '[1,null,3]',
    '[-0]',
    '[0e+1]',
    '[0e1]',
    '[ 4]',
    '[-1]',
    '[1E22]',
    '[1E-2]',
    '[123e45]',
    '[1e-2]',
    '[123.456789]',
    '["\\u0060\\u012a\\u12AB"]',
    '["\\uD801\\udc37"]',
    '["\\"\\\\\\/\\b\\f\\n\\r\\t"]',
    '["\\u0000"]',
    '["\\u002c"]',
    '["\u2028"]',
    '["\u007f"]',
    '["\uffff"]',
    '{"":0}',
    '{"a":{}}',
    '{"title":"\\u041f\\u043e"}',
    'false',
    'null',
    '42',
    '-0.1',
    '"asd"',
    ' [] ',
    '{"a":[{"b":"c"}], "d":"e"}',
    '[1e-400]',
    '["\\u005C\\u0022"]',
  ])('accepts %s', (text) => {
    expect(parse(text)).toMatchObject({ ok: true, value: JSON.parse(text) })
  })

  it('sees canonical text even where it has to take the long way', () => {
    for (const text of [
      '{"10":1,"9":2}',
      '{"a":"\\\\ud800"}',
      '{"a":"\\"__proto__\\""}',
      '{"a":"__proto__"}',
      '{"10":-51701937205749210,"9":0}',
    ])
      expect(parse(text)).toMatchObject({ ok: true, canonical: true })
  })

  it.each([
    '{"b":1,"a":2}',
    '[1.0]',
    '[1e0]',
    '["\\u0041"]',
    '["\\/"]',
    '[-0]',
    '[ ]',
    '{"9":2,"10":1}',
    '["\\u001F"]',
  ])('knows that %s is not canonical', (text) =>
    expect(parse(text)).toMatchObject({ ok: true, canonical: false }),
  )
})

const REFUSED: readonly (readonly [text: string, rule: string, pointer: string])[] = [
  ['', 'syntax', ''],
  [' ', 'syntax', ''],
  ['\ufeff{}', 'byteOrderMark', ''],
  ['{"a":1,"a":2}', 'duplicateKey', '/a'],
  ['{"a":1,"\\u0061":2}', 'duplicateKey', '/a'],
  ['{"x":[{"a":1,"b":2,"a":1}]}', 'duplicateKey', '/x/0/a'],
  ['{"":1,"":1}', 'duplicateKey', '/'],
  ['{"__proto__":{}}', 'proto', '/__proto__'],
  ['{"a":{"\\u005f_proto__":1}}', 'proto', '/a/__proto__'],
  ['["\\ud800"]', 'surrogate', '/0'],
  ['["\\uDFFF\\uD800"]', 'surrogate', '/0'],
  ['["\\ud800\\u0041"]', 'surrogate', '/0'],
  ['{"a":{"b":["x","\\udc00"]}}', 'surrogate', '/a/b/1'],
  ['[1e309]', 'numberRange', '/0'],
  ['[-1e999999]', 'numberRange', '/0'],
  ['[9007199254740993]', 'numberRange', '/0'],
  ['[12345678901234567890123]', 'numberRange', '/0'],
  ['[NaN]', 'syntax', '/0'],
  ['[Infinity]', 'syntax', '/0'],
  ['[-Infinity]', 'syntax', '/0'],
  ['[01]', 'syntax', ''],
  ['[1.]', 'syntax', ''],
  ['[.5]', 'syntax', '/0'],
  ['[+1]', 'syntax', '/0'],
  ['[1e]', 'syntax', ''],
  ['[0x1]', 'syntax', ''],
  ['[- 1]', 'syntax', '/0'],
  ['[1 000]', 'syntax', ''],
  ['[1,]', 'syntax', '/1'],
  ['[,1]', 'syntax', '/0'],
  ['[1,,2]', 'syntax', '/1'],
  ['[1', 'syntax', ''],
  ['["a', 'syntax', '/0'],
  ['["a\\"]', 'syntax', '/0'],
  ['["\\x00"]', 'syntax', '/0'],
  ['["\\u00A"]', 'syntax', '/0'],
  ['["\\u+123"]', 'syntax', '/0'],
  ['["\n"]', 'syntax', '/0'],
  ['["\u0000"]', 'syntax', '/0'],
  ["['a']", 'syntax', '/0'],
  ['{"a"}', 'syntax', ''],
  ['{"a":}', 'syntax', '/a'],
  ['{"a":1,}', 'syntax', ''],
  ['{a:1}', 'syntax', ''],
  ['{1:1}', 'syntax', ''],
  ['{"a":1 "b":2}', 'syntax', ''],
  ['{"a":/*comment*/1}', 'syntax', '/a'],
  ['[true', 'syntax', ''],
  ['[truE]', 'syntax', '/0'],
  ['nul', 'syntax', ''],
  ['{}}', 'syntax', ''],
  ['[][]', 'syntax', ''],
  ['[1]x', 'syntax', ''],
  ['\u00a0[]', 'syntax', ''],
  ['[\u000b1]', 'syntax', '/0'],
  ['<.>', 'syntax', ''],
  ['*', 'syntax', ''],
]

describe('what is refused', () => {
  it.each(REFUSED)('%j by %s at %j', (text, rule, pointer) => {
    const parsed = parse(text)
    expect(parsed).toMatchObject({ ok: false, details: [{ rule, pointer }] })
  })

  it('says line and column', () => {
    const parsed = parse('{\n  "a": 1,\n  "a": 2\n}')
    expect(parsed).toMatchObject({
      details: [{ message: expect.stringContaining('line 3, column 7') }],
    })
  })

  it.each([
    ['ff', 'not UTF-8 at all'],
    ['22c0af22', 'overlong'],
    ['22eda08022', 'a surrogate in UTF-8'],
    ['22f490808022', 'beyond Unicode'],
    ['22e282', 'cut in a character'],
    ['fffe7b007d00', 'UTF-16'],
  ])('bytes %s: %s', (hex) => {
    expect(parseMessage(Buffer.from(hex, 'hex'))).toMatchObject({
      ok: false,
      details: [{ rule: 'utf8' }],
    })
  })

  it('accepts nothing that JSON.parse refuses, and reads the rest alike', () => {
    const alphabet = fc.constantFrom(...'[]{}:,"\\u0a1-e. \ntruefalsn/d8')
    const texts = fc.string({ unit: alphabet, maxLength: 40 })
    fc.assert(
      fc.property(texts, (text) => {
        const parsed = parse(text)
        expect(parsed.ok ? parsed.value : 'refused').toEqual(
          parsed.ok ? JSON.parse(text) : 'refused',
        )
      }),
      { numRuns: 3000 },
    )
  })
})

describe('limits', () => {
  const limits = { bytesMax: 100, depthMax: 3, itemsMax: 4, stringMax: 5 }
  it.each([
    ['"12345"', undefined],
    ['"123456"', 'stringMax'],
    ['{"123456":1}', 'stringMax'],
    ['"\\u0031\\u0032\\u0033\\u0034\\u0035"', undefined],
    ['[[[1]]]', undefined],
    ['[[[[]]]]', 'depthMax'],
    ['{"a":{"b":{"c":{}}}}', 'depthMax'],
    ['[1,2,3,4]', undefined],
    ['[1,2,3,4,5]', 'itemsMax'],
    ['{"a":1,"b":1,"c":1,"d":1,"e":1}', 'itemsMax'],
    [`[${' '.repeat(98)}]`, undefined],
    [`[${' '.repeat(99)}]`, 'bytesMax'],
  ])('%s: %s', (text, rule) => {
    const parsed = parseMessage(Buffer.from(text), limits)
    const refused = { ok: false, details: [{ rule }] }
    expect(parsed).toMatchObject(rule === undefined ? { ok: true } : refused)
  })
})

// The canonical form is RFC 8785, and whatever JSON cannot say is refused.
import canonicalize from 'canonicalize'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { canonicalBytes, canonicalJson } from './canonical-json.ts'
import { ProtocolError } from './detail.ts'

// The public test files of RFC 8785.
const VECTORS: readonly (readonly [name: string, input: string, output: string])[] = [
  ['arrays', '[56,{"d":true,"10":null,"1":[ ]}]', '[56,{"1":[],"10":null,"d":true}]'],
  [
    'french',
    '{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ingnore locale"}',
    '{"peach":"This sorting order","péché":"is wrong according to French","pêche":"but canonicalization MUST","sin":"ingnore locale"}',
  ],
  [
    'structures',
    '{"1":{"f":{"f":"hi","F":5},"\\n":56.0},"10":{},"":"empty","a":{},"111":[{}],"A":{}}',
    '{"":"empty","1":{"\\n":56,"f":{"F":5,"f":"hi"}},"10":{},"111":[{}],"A":{},"a":{}}',
  ],
  ['unicode', '{"Unnormalized Unicode":"A\\u030a"}', '{"Unnormalized Unicode":"A\u030a"}'],
  [
    'values',
    '{"numbers":[1E30,4.50,333333333.33333329,2e-3,0.000000000000000000000000001],"escaping":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    '{"escaping":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/","literals":[null,true,false],"numbers":[1e+30,4.5,333333333.3333333,0.002,1e-27]}',
  ],
  [
    'weird',
    '{"\\u20ac":"Euro Sign","1":"One","\\u0080":"Control\\u007f","\\ud83d\\ude02":"Smiley","\\u00f6":"Latin Small Letter O With Diaeresis","\\ufb33":"Hebrew Letter Dalet With Dagesh","</script>":"Browser Challenge"}',
    '{"1":"One","</script>":"Browser Challenge","\u0080":"Control\u007f","ö":"Latin Small Letter O With Diaeresis","€":"Euro Sign","😂":"Smiley","\ufb33":"Hebrew Letter Dalet With Dagesh"}',
  ],
]

// RFC 8785, appendix B: the double by its bits, and its text.
const NUMBERS: readonly (readonly [bits: string, text: string])[] = [
  ['0000000000000000', '0'],
  ['8000000000000000', '0'],
  ['0000000000000001', '5e-324'],
  ['8000000000000001', '-5e-324'],
  ['7fefffffffffffff', '1.7976931348623157e+308'],
  ['ffefffffffffffff', '-1.7976931348623157e+308'],
  ['4340000000000000', '9007199254740992'],
  ['c340000000000000', '-9007199254740992'],
  ['4430000000000000', '295147905179352830000'],
  ['44b52d02c7e14af5', '9.999999999999997e+22'],
  ['44b52d02c7e14af6', '1e+23'],
  ['44b52d02c7e14af7', '1.0000000000000001e+23'],
  ['444b1ae4d6e2ef4e', '999999999999999700000'],
  ['444b1ae4d6e2ef4f', '999999999999999900000'],
  ['444b1ae4d6e2ef50', '1e+21'],
  ['3eb0c6f7a0b5ed8c', '9.999999999999997e-7'],
  ['3eb0c6f7a0b5ed8d', '0.000001'],
  ['41b3de4355555553', '333333333.3333332'],
  ['41b3de4355555554', '333333333.33333325'],
  ['41b3de4355555555', '333333333.3333333'],
  ['41b3de4355555556', '333333333.3333334'],
  ['41b3de4355555557', '333333333.33333343'],
  ['becbf647612f3696', '-0.0000033333333333333333'],
  ['43143ff3c1cb0959', '1424953923781206.2'],
]

describe('canonical form', () => {
  it.each(VECTORS)('%s is encoded as RFC 8785 says', (_, input, output) => {
    expect(canonicalJson(JSON.parse(input))).toBe(output)
  })

  it.each(NUMBERS)('the double %s is written %s', (bits, text) => {
    expect(canonicalJson(Buffer.from(bits, 'hex').readDoubleBE())).toBe(text)
  })

  it('is what the reference implementation writes, for any JSON', () => {
    const json = fc.jsonValue({ maxDepth: 6, depthSize: 'medium' })
    fc.assert(fc.property(json, sameAsReference))
  })

  it('is the same for integer-like keys, which objects keep out of order', () => {
    const keys = fc.constantFrom('9', '10', '1', '01', '-1', '4294967294', '4294967295', 'a', '')
    const objects = fc.dictionary(keys, fc.integer(), { maxKeys: 9 })
    fc.assert(fc.property(objects, sameAsReference))
  })

  it('does not depend on the order in which keys were added', () => {
    const entries = fc.uniqueArray(fc.tuple(fc.string(), fc.integer()), {
      selector: ([key]) => key,
    })
    fc.assert(
      fc.property(entries, (members) => {
        const legal = members.filter(([key]) => key !== '__proto__')
        const backward = canonicalJson(Object.fromEntries(legal.toReversed()))
        expect(canonicalJson(Object.fromEntries(legal))).toBe(backward)
      }),
    )
  })

  it('leaves out members that are undefined', () => {
    expect(canonicalJson({ a: undefined, b: 1 })).toBe('{"b":1}')
  })

  it('writes UTF-8', () => {
    expect(Buffer.from(canonicalBytes('é€😂'))).toEqual(Buffer.from('"é€😂"'))
  })

  it('accepts one object in two places', () => {
    const shared = { a: 1 }
    expect(canonicalJson([shared, shared])).toBe('[{"a":1},{"a":1}]')
  })
})

function sameAsReference(value: unknown): boolean {
  if (JSON.stringify(value).includes('__proto__')) return true
  expect(canonicalJson(value)).toBe(canonicalize(value))
  return true
}

const REFUSED: readonly (readonly [name: string, value: unknown, pointer: string, rule: string])[] =
  [
    ['NaN', { a: [1, Number.NaN] }, '/a/1', 'number'],
    ['Infinity', { a: Number.NEGATIVE_INFINITY }, '/a', 'number'],
    ['a big integer', { a: 1n }, '/a', 'type'],
    ['a function', { 'a/b': () => 1 }, '/a~1b', 'type'],
    ['a symbol', [Symbol('s')], '/0', 'type'],
    ['undefined itself', undefined, '', 'type'],
    ['a hole in a list', Array(3), '/0', 'type'],
    ['a date', { when: new Date(0) }, '/when', 'type'],
    ['a map', { m: new Map() }, '/m', 'type'],
    ['bytes', { b: Buffer.from('x') }, '/b', 'type'],
    ['a boxed number', { n: Object(1) }, '/n', 'type'],
    ['an object with toJSON', { o: { toJSON: () => 1 } }, '/o/toJSON', 'type'],
    ['half a surrogate pair', { 'a~b': ['\ud800'] }, '/a~0b/0', 'surrogate'],
    ['half a pair in a key', { '\udc00': 1 }, '/\udc00', 'surrogate'],
    ['the key __proto__', JSON.parse('{"a":{"__proto__":1}}'), '/a/__proto__', 'proto'],
    ['a long string', { s: 'x'.repeat(262_145) }, '/s', 'stringMax'],
    ['a long list', { l: Array.from({ length: 10_001 }, () => 0) }, '/l', 'itemsMax'],
    ['a list of absurd length', { l: { ...[] }, m: Array(4_000_000_000) }, '/m', 'itemsMax'],
  ]

describe('refusals', () => {
  it.each(REFUSED)('refuses %s', (_, value, pointer, rule) => {
    const error = caught(() => canonicalJson(value))
    expect(error.code).toBe('BATON_NOT_CANONICAL')
    expect(error.details[0]?.rule).toBe(rule)
    expect(error.pointer).toBe(pointer)
    expect(error.fix).not.toBe('')
  })

  it('refuses a value that leads back to itself', () => {
    const cycle: { self?: unknown } = {}
    cycle.self = { back: [cycle] }
    expect(caught(() => canonicalJson(cycle)).details[0]?.rule).toBe('depthMax')
  })

  it('refuses a getter that throws and a proxy that lies', () => {
    const trap = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('no')
        },
      },
    )
    expect(
      caught(() =>
        canonicalJson({
          get a() {
            throw new Error('no')
          },
        }),
      ).code,
    ).toBe('BATON_NOT_CANONICAL')
    expect(caught(() => canonicalJson({ trap })).code).toBe('BATON_NOT_CANONICAL')
  })

  it('refuses more bytes than a message may have', () => {
    const value = Array.from({ length: 5 }, () => 'x'.repeat(262_144))
    expect(caught(() => canonicalBytes(value)).details[0]?.rule).toBe('bytesMax')
  })
})

function caught(action: () => unknown): ProtocolError {
  try {
    action()
  } catch (error) {
    if (error instanceof ProtocolError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

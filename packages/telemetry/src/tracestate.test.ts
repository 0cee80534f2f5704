// The list cases of W3C Trace Context: strict, and all or nothing.
import { describe, expect, it } from 'vitest'
import { formatTracestate, parseTracestate } from './tracestate.ts'

const members = (count: number) =>
  Array.from({ length: count }, (_, index) => `k${index}=1`).join(',')

describe('tracestate', () => {
  it.each([
    ['foo=1', 'foo=1'],
    ['foo=1,bar=2', 'foo=1,bar=2'],
    ['foo=1 \t , \t bar=2, \t baz=3', 'foo=1,bar=2,baz=3'],
    ['foo=1\t \t,\t \tbar=2,\t \tbaz=3', 'foo=1,bar=2,baz=3'],
    ['foo=1,', 'foo=1'],
    [',foo=1,,bar=2', 'foo=1,bar=2'],
    ['', ''],
    [' ', ''],
    ['foo@=1,bar=2', 'foo@=1,bar=2'],
    ['foo@@bar=1,bar=2', 'foo@@bar=1,bar=2'],
    ['fw529a3039@dt=1', 'fw529a3039@dt=1'],
    ['0foo=1', '0foo=1'],
    ['foo=  1', 'foo=  1'],
    [`${'z'.repeat(256)}=1`, `${'z'.repeat(256)}=1`],
    [`foo=${'v'.repeat(256)}`, `foo=${'v'.repeat(256)}`],
    ['foo=!"#$%&\'()*+-./:;<>?@[\\]^_`{|}~', 'foo=!"#$%&\'()*+-./:;<>?@[\\]^_`{|}~'],
    [members(32), members(32)],
  ])('reads %j', (header, expected) => {
    expect(formatTracestate(parseTracestate(header) ?? [])).toBe(expected)
    expect(parseTracestate(header)).toBeDefined()
  })

  it.each([
    members(33),
    'foo',
    'foo=',
    'foo= ',
    'foo=1,bar=',
    'a=b=c',
    'foo =1',
    'FOO=1',
    'foo.bar=1',
    '@foo=1',
    '_foo=1',
    '-foo=1',
    '=1',
    `${'z'.repeat(257)}=1`,
    `foo=${'v'.repeat(257)}`,
    'foo=1,foo=1',
    'foo=1,foo=2',
    'foo=bär',
    'foo=1\u0000',
    'foo=1\n',
    'foo=1;bar=2\u007f',
    'x'.repeat(5000),
  ])('drops all of %j', (header) => {
    expect(parseTracestate(header)).toBeUndefined()
  })
})

// A seal names every chain once; a seal that loses, shrinks or rewrites one cannot follow another.
import { describe, expect, test } from 'vitest'
import { toBase64 } from './bytes.ts'
import { LedgerError } from './ledger-error.ts'
import { formatSealEntry, readSealEntry, sealFault } from './seal-entry.ts'
import type { SealEntry } from './seal-entry.ts'

const root = (byte: number): string => toBase64(new Uint8Array(32).fill(byte))
const entry: SealEntry = {
  v: 1,
  at: '2026-11-20T10:00:00.000000Z',
  chains: [
    { origin: 'baton/test/1/s0', size: 3, root: root(1) },
    { origin: 'baton/test/1/s1', size: 0, root: root(2) },
  ],
}
const tasks = { at: entry.at, root: root(3), seals: 7, sizes: [2, 0] }
const second: SealEntry = { ...entry, v: 2, tasks }
const [s0, s1] = entry.chains as [SealEntry['chains'][0], SealEntry['chains'][0]]

describe('a seal entry', () => {
  test('reads back from its bytes', () => {
    expect(Buffer.from(formatSealEntry(entry)).toString()).toBe(
      `{"at":"2026-11-20T10:00:00.000000Z","chains":[{"origin":"baton/test/1/s0","root":"${root(1)}","size":3},{"origin":"baton/test/1/s1","root":"${root(2)}","size":0}],"v":1}`,
    )
    expect(readSealEntry(formatSealEntry(entry))).toEqual(entry)
  })

  test.each([
    ['unsorted', { ...entry, chains: [s1, s0] }],
    ['a chain twice', { ...entry, chains: [s0, s0] }],
    ['no chain', { ...entry, chains: [] }],
    ['version 3 without hand-overs', { ...entry, v: 3 }],
    ['another version', { ...entry, v: 4 }],
    ['version 2 without tasks', { ...entry, v: 2 }],
    ['version 1 with tasks', { ...entry, tasks }],
    ['a size of tasks for each chain but one', { ...second, tasks: { ...tasks, sizes: [3] } }],
    ['a map that reaches past its seal', { ...second, tasks: { ...tasks, sizes: [4, 0] } }],
    [
      'a map of a later time',
      { ...second, tasks: { ...tasks, at: '2026-11-20T10:00:00.000001Z' } },
    ],
    ['a short root of tasks', { ...second, tasks: { ...tasks, root: 'AAAA' } }],
    ['a map that begins nowhere late', { ...second, tasks: { ...tasks, begins: [0, 0] } }],
    ['a map that begins behind its end', { ...second, tasks: { ...tasks, begins: [3, 0] } }],
    ['a beginning for each chain but one', { ...second, tasks: { ...tasks, begins: [1] } }],
    ['a member of tasks too many', { ...second, tasks: { ...tasks, more: 1 } }],
    ['another time', { ...entry, at: '2026-11-20' }],
    ['a short root', { ...entry, chains: [{ ...s0, root: 'AAAA' }] }],
    ['a negative size', { ...entry, chains: [{ ...s0, size: -1 }] }],
    ['a member too many', { ...entry, more: 1 }],
  ])('is not one with %s', (_, wrong) => {
    expect(() => formatSealEntry(wrong as SealEntry)).toThrow(LedgerError)
    expect(readSealEntry(Buffer.from(JSON.stringify(wrong)))).toBeUndefined()
  })

  test('says how many records had expired when the map was made anew', () => {
    const cut = { ...second, tasks: { ...tasks, begins: [2, 0] } }
    expect(readSealEntry(formatSealEntry(cut))).toEqual(cut)
  })

  test('of version 2 says what the map of tasks is, and reads back', () => {
    expect(Buffer.from(formatSealEntry(second)).toString()).toContain(
      `"tasks":{"at":"2026-11-20T10:00:00.000000Z","root":"${root(3)}","seals":7,"sizes":[2,0]},"v":2`,
    )
    expect(readSealEntry(formatSealEntry(second))).toEqual(second)
  })

  test('is not read from other bytes of equal meaning', () => {
    const text = Buffer.from(formatSealEntry(entry)).toString()
    for (const other of [
      ` ${text}`,
      text.replace('"size":3', '"size":3.0'),
      `\ufeff${text}`,
      '{',
      '',
    ]) {
      expect(readSealEntry(Buffer.from(other))).toBeUndefined()
    }
    expect(readSealEntry(Buffer.from([0xff]))).toBeUndefined()
  })
})

describe('one seal after another', () => {
  const at = '2026-11-20T10:00:01.000000Z'
  test.each([
    ['nothing grew', { ...entry, at }, undefined],
    ['the map of tasks came', { ...second, at }, undefined],
    ['a chain grew', { ...entry, at, chains: [{ ...s0, size: 4, root: root(9) }, s1] }, undefined],
    ['a chain is new', { ...entry, at, chains: [s0, s1, { ...s1, origin: 's2' }] }, undefined],
    ['the same moment', entry, 'EARLIER'],
    ['T14 a chain is gone', { ...entry, at, chains: [s1] }, 'CHAIN_MISSING'],
    ['T11 a chain shrank', { ...entry, at, chains: [{ ...s0, size: 2 }, s1] }, 'CHAIN_SHRANK'],
    [
      'T13 a root changed',
      { ...entry, at, chains: [{ ...s0, root: root(9) }, s1] },
      'ROOT_CHANGED',
    ],
  ] as const)('%s', (_, next, fault) => expect(sealFault(entry, next)).toBe(fault))

  const extended = { ...tasks, seals: 8, root: root(8) }
  test.each([
    ['the map stayed', { ...second, at }, undefined],
    ['the map grew', { ...second, at, tasks: extended }, undefined],
    ['the map is gone', { ...entry, at }, 'TASKS_MISSING'],
    ['the map reaches less far', { ...second, at, tasks: { ...tasks, seals: 6 } }, 'TASKS_SHRANK'],
    ['another map', { ...second, at, tasks: { ...tasks, root: root(8) } }, 'ROOT_CHANGED'],
  ] as const)('%s', (_, next, fault) => expect(sealFault(second, next)).toBe(fault))
})

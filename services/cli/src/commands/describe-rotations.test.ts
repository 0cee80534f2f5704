// Rotations are told in one line, and one by one: which key, what it was, what it is, when, by whom.
import { expect, it } from 'vitest'
import { rotationTable, summariseRotations } from './describe-rotations.ts'

const rotation = (at: string, key: string, from: readonly string[], to: readonly string[]) => {
  return { at, key, from, to, by: 'auditor', origin: 'baton/s0', seq: 1 }
}
const rotations = [
  rotation('2026-11-25T20:00:01.000001Z', 'batch', ['0011223344556677'], ['8899aabbccddeeff']),
  rotation('2026-11-25T20:05:00.000001Z', 'witness', ['a+01'], ['a+01', 'b+02']),
  rotation('2026-11-25T20:09:00.000001Z', 'handoff', ['f'.repeat(64)], ['k2']),
]

it('says nothing where no key ever changed', () => {
  expect(summariseRotations({ rotations: [], rotationsTotal: 0 })).toBeUndefined()
})

it('says of which keys, and when the last was', () => {
  const text =
    '3 changes of keys on record (batch, handoff, witness), the last at 2026-11-25 20:09:00'
  expect(summariseRotations({ rotations, rotationsTotal: 3 })).toBe(text)
})

it('shows each on a line of its own, several keys that are in force beside each other', () => {
  expect(rotationTable({ rotations, rotationsTotal: 3 }).split('\n')).toEqual([
    'TIME (UTC)           KEY      FROM               TO                BY',
    '2026-11-25 20:00:01  batch    0011223344556677   8899aabbccddeeff  auditor',
    '2026-11-25 20:05:00  witness  a+01               a+01, b+02        auditor',
    '2026-11-25 20:09:00  handoff  ffffffffffffffff…  k2                auditor',
  ])
})

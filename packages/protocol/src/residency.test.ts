// Where data may be: only where it is said, and never where nobody says where that is.
import { describe, expect, it } from 'vitest'
import { placesFor, residencyProblems, transferCode } from './residency.ts'
import type { Residency } from './residency.ts'

const staysIn = (jurisdiction: string): Residency => ({ jurisdiction, transferMechanism: 'none' })

describe('data that must stay', () => {
  it.each([
    ['DE', 'DE'],
    ['EU', 'EU'],
    ['EU', 'DE'],
    ['EU', 'SK'],
    ['US', 'US'],
  ])('in %s may be in %s', (jurisdiction, place) => {
    expect(residencyProblems(staysIn(jurisdiction), place)).toEqual([])
    expect(placesFor(staysIn(jurisdiction))).toContain(place)
  })

  it.each([
    ['DE', 'US'],
    ['DE', 'FR'],
    ['DE', 'EU'],
    ['EU', 'GB'],
    ['EU', 'CH'],
    ['EU', undefined],
    ['US', undefined],
  ])('in %s may not be in %s', (jurisdiction, place) => {
    const [problem] = residencyProblems(staysIn(jurisdiction), place)
    expect(problem).toMatchObject({ pointer: '/residency', expected: jurisdiction })
    expect(problem?.fix).toContain('BATON_JURISDICTION')
  })
})

it('lets everything be anywhere that says nothing, and transfers nothing', () => {
  expect(residencyProblems(undefined, undefined)).toEqual([])
  expect(placesFor(undefined)).toBeUndefined()
  expect(transferCode(undefined, 'US')).toBeUndefined()
})

it.each([
  ['scc', 'DE', 'US', 'TRANSFER_SCC_DE_US'],
  ['derogation', 'EU', undefined, 'TRANSFER_DEROGATION_EU'],
  ['adequacy', 'EU', 'JP', 'TRANSFER_ADEQUACY_EU_JP'],
  ['scc', 'EU', 'DE', undefined],
  ['none', 'DE', 'US', undefined],
] as const)(
  'names a transfer by %s from %s to %s',
  (transferMechanism, jurisdiction, place, code) => {
    const residency = { jurisdiction, transferMechanism }
    expect(transferCode(residency, place)).toBe(code)
    expect(residencyProblems(residency, place)).toHaveLength(transferMechanism === 'none' ? 1 : 0)
  },
)

// Where the data of a message may be processed, and on which ground elsewhere. Who does not say where it is, is nowhere.
import type { Detail } from './detail.ts'
import type { HandoffMessage } from './handoff-message.ts'

export type Residency = NonNullable<HandoffMessage['residency']>

/** A place that processes or stores: ISO 3166-1 alpha-2 in capitals, or EU; undefined where it is not stated. */
export type Jurisdiction = string | undefined

export const JURISDICTION_PATTERN = /^[A-Z]{2}$/

/** Whatever must stay in the EU may be in any of its members; what must stay in one of them may not be in another. */
const EU_MEMBERS: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
)

/** The places in which it may be processed without a transfer; undefined where it may be anywhere. */
export function placesFor(residency: Residency | undefined): readonly string[] | undefined {
  if (residency === undefined || residency.transferMechanism !== 'none') return undefined
  return homeOf(residency.jurisdiction)
}

const homeOf = (jurisdiction: string): readonly string[] =>
  jurisdiction === 'EU' ? ['EU', ...EU_MEMBERS] : [jurisdiction]

/** Whether `asked` lets the data be nowhere that `given` does not: the same place or one within it, and no transfer where there was none. */
export function keepsResidency(given: Residency, asked: Residency): boolean {
  const [home, inside] = [homeOf(given.jurisdiction), homeOf(asked.jurisdiction)]
  const isOpened = given.transferMechanism === 'none' && asked.transferMechanism !== 'none'
  return !isOpened && inside.every((place) => home.includes(place))
}

/** What keeps a message from being stored or processed in a place; empty where nothing does. */
export function residencyProblems(
  residency: Residency | undefined,
  place: Jurisdiction,
): readonly Detail[] {
  const places = placesFor(residency)
  if (residency === undefined || places === undefined) return []
  if (place !== undefined && places.includes(place)) return []
  const where = place === undefined ? 'a place that is not stated' : place
  return [
    {
      pointer: '/residency',
      rule: 'residency',
      message: `the data must stay in ${residency.jurisdiction}, and this is ${where}`,
      fix: 'Send it where it may be, or name the transferMechanism that allows it here; an installation says where it is with BATON_JURISDICTION.',
      expected: residency.jurisdiction,
    },
  ]
}

/**
 * The code that a decision record names for a transfer: TRANSFER_, mechanism, from, to, where the place is stated. Undefined where nothing is
 * transferred.
 */
export function transferCode(
  residency: Residency | undefined,
  place: Jurisdiction,
): string | undefined {
  if (residency === undefined || residency.transferMechanism === 'none') return undefined
  const { jurisdiction, transferMechanism } = residency
  if (place !== undefined && homeOf(jurisdiction).includes(place)) return undefined
  return ['TRANSFER', transferMechanism.toUpperCase(), jurisdiction, place]
    .filter((part) => part !== undefined)
    .join('_')
}

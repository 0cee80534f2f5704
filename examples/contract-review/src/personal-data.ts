// Moves the people out of a licence text: names and contacts go to the personal data, placeholders stay behind (E26).
import { createHash } from 'node:crypto'
import { permanent } from '@baton/sdk'
import type { JsonObject } from '@baton/sdk'
import { findNamedHolders } from './holder-lines.ts'
import type { NamedHolder } from './holder-lines.ts'
import type { HolderReference } from './review-state.ts'

export interface SeparatedText {
  /** The text with `[holder-1]` for a name and `[contact-1]` for a way to reach that person. */
  readonly text: string
  readonly holders: readonly HolderReference[]
  /** Ready for an agent state; absent where the text names nobody. */
  readonly personalData?: { readonly dataSubjects: readonly string[]; readonly payload: JsonObject }
}

interface Person {
  readonly names: Set<string>
  readonly contacts: Set<string>
}

const PERSONS_MAX = 1_000

/**
 * Separates a normalised text from the people it names. A holder that carries the mark of a company,
 * a group or the package itself is no person and stays in the text; when in doubt it is a person.
 * What was found as a name or contact occurs nowhere in the returned text, also not in other lines.
 * Throws BATON_REVIEW_HOLDERS_TOO_MANY for more than 1,000 people.
 */
export function separatePersonalData(text: string, packageName = ''): SeparatedText {
  const persons = gatherPersons(text, packageName)
  if (persons.length === 0) return { text, holders: [] }
  const holders = persons.map((person, index) => ({
    subject: dataSubjectId(identityOf(person)),
    placeholder: `[holder-${index + 1}]`,
  }))
  return {
    text: replacePersons(text, persons),
    holders,
    personalData: {
      dataSubjects: holders.map(({ subject }) => subject),
      payload: payloadFor(persons, holders),
    },
  }
}

/**
 * The opaque id of a person, the same in every text that names them: `ds-` and 32 hex digits of a
 * SHA-256. It is a pseudonym: who knows the name can compute the id, which is how a person is found
 * when they ask for erasure.
 */
export function dataSubjectId(nameOrContact: string): string {
  const digest = createHash('sha256')
    .update(`baton/data-subject/v1\n${asKey(nameOrContact)}`)
    .digest('hex')
  return `ds-${digest.slice(0, 32)}`
}

const identityOf = ({ names, contacts }: Person): string => [...names, ...contacts][0] ?? ''

function gatherPersons(text: string, packageName: string): readonly Person[] {
  const persons: Person[] = []
  const byKey = new Map<string, Person>()
  const holders = findNamedHolders(text).flatMap((holder) => onlyPersons(holder, packageName))
  for (const { name, contacts } of holders) {
    const keys = (name === undefined ? contacts : [name]).map(asKey)
    const known = keys.map((key) => byKey.get(key)).find((person) => person !== undefined)
    const person = known ?? { names: new Set(), contacts: new Set() }
    if (known === undefined) persons.push(person)
    if (persons.length > PERSONS_MAX) throw tooManyPersons()
    if (name !== undefined) person.names.add(name)
    for (const contact of contacts) person.contacts.add(contact)
    for (const key of [...keys, ...contacts.map(asKey)]) if (!byKey.has(key)) byKey.set(key, person)
  }
  return persons
}

// Leaving the rest in the text would break the promise, so such a text is refused.
const tooManyPersons = () =>
  permanent('BATON_REVIEW_HOLDERS_TOO_MANY', `the text names more than ${PERSONS_MAX} people`, {
    fix: 'Review the licences of the file one by one.',
  })

// Word boundaries of all scripts; `\b` knows ASCII letters only.
const GROUP =
  /(?<![\p{L}\p{N}])(?:contributors?|authors?|team|members|people|others|holders?|owners?|et al|foundation|inc|incorporated|llc|ltd|limited|gmbh|ab|lda|s\.?a|corp|corporation|company|co|labs?|group|projects?|community|consortium|collective|affiliates|development|whatwg|technolog(?:y|ies)|tooling|library|libs|university|universit\w+|institute|regents|committee|organi[sz]ation|society|association|stichting|centrum|center|centre|initiative|editors|reporters|developers|software|systems|studio|microsoft|google|facebook|meta|mozilla|walmart|year|name|notice|copyright|licen[sc]es?|rights?|reserved)(?![\p{L}\p{N}])|\.js$|^\p{L}{1,2}$/iu

// Behind an e-mail address is a person, also where it stands beside the name of a group.
function onlyPersons(holder: NamedHolder, packageName: string): readonly NamedHolder[] {
  if (holder.name === undefined || isPerson(holder.name, packageName)) return [holder]
  return holder.contacts
    .filter((contact) => /^[^@]+@/.test(contact))
    .map((contact) => ({ name: undefined, contacts: [contact] }))
}

// A project that is its own holder: `Copyright (c) 2021 pino` in pino-abstract-transport.
function isPerson(name: string, packageName: string): boolean {
  const parts = packageName.toLowerCase().split(/[@/]|-(?=\p{L})/u)
  return !GROUP.test(name) && ![...parts, packageName.toLowerCase()].includes(name.toLowerCase())
}

function payloadFor(persons: readonly Person[], holders: readonly HolderReference[]): JsonObject {
  const payload: Record<string, JsonObject> = {}
  for (const [index, { names, contacts }] of persons.entries()) {
    const subject = holders[index]?.subject ?? ''
    const place = `/currentState/holders/${index}`
    if (names.size > 0) payload[`${place}/names`] = { subject, value: [...names] }
    if (contacts.size > 0) payload[`${place}/contacts`] = { subject, value: [...contacts] }
  }
  return payload
}

// Longest first, so that an address is replaced before the handle inside it.
function replacePersons(text: string, persons: readonly Person[]): string {
  const placeholders = new Map<string, string>()
  for (const [index, { names, contacts }] of persons.entries()) {
    for (const name of names) setNew(placeholders, name, `[holder-${index + 1}]`)
    for (const contact of contacts) setNew(placeholders, contact, `[contact-${index + 1}]`)
  }
  const alternatives = [...placeholders.keys()]
    .toSorted((a, b) => b.length - a.length || (a < b ? -1 : 1))
    .map(asPattern)
  const anybody = new RegExp(
    String.raw`(?<![\p{L}\p{N}])(?:${alternatives.join('|')})(?![\p{L}\p{N}])`,
    'giu',
  )
  return text.replaceAll(anybody, (found) => placeholders.get(asKey(found)) ?? '[holder]')
}

// Brackets and quotation marks inside a name, and line breaks, do not matter: `Yuxi (Evan) You`.
const BETWEEN_WORDS = /[\s()<>[\]"*`]+/g

const asKey = (value: string): string =>
  value.normalize('NFC').toLowerCase().replaceAll(BETWEEN_WORDS, ' ').trim()

const asPattern = (value: string): string =>
  value
    .split(BETWEEN_WORDS)
    .map((word) => word.replaceAll(/[$()*+./?[\\\]^{|}]/g, String.raw`\$&`))
    .join(BETWEEN_WORDS.source)

function setNew(map: Map<string, string>, value: string, placeholder: string): void {
  const key = asKey(value)
  if (!map.has(key)) map.set(key, placeholder)
}

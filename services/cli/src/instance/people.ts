// The people of a development instance: a key each, made once, so that a review can be tried on one machine.
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { permanent } from '@baton/runtime'
import { readSecretFile, storeSecretsOnce } from './secret-files.ts'

/** `reviewer-1` and `reviewer-2` are two people: some decisions need two. */
export const PEOPLE = ['operator', 'reviewer-1', 'reviewer-2'] as const
export type Person = (typeof PEOPLE)[number]
/** What each of them sends as `Authorization: Bearer <key>`. */
export type PeopleKeys = Readonly<Record<Person, string>>

const REVIEWER =
  'handoffs:read+approvals:decide+dead-letters:review+dead-letters:redrive+tasks:resume+erasures:plan+erasures:approve'

/** What each of them may do at the gateway. */
export const SCOPES_OF: Readonly<Record<Person, string>> = {
  operator: `handoffs:send+handoffs:return+handoffs:cancel+metrics:read+${REVIEWER}`,
  'reviewer-1': REVIEWER,
  'reviewer-2': REVIEWER,
}

export const peoplePath = (home: string): string => join(home, 'secrets', 'people.json')

/** The keys of an instance's people; made and stored where this home has none yet. */
export async function ensurePeople(home: string): Promise<PeopleKeys> {
  const path = peoplePath(home)
  const known = await readSecretFile<PeopleKeys>(path)
  if (known !== null) return known
  const made = PEOPLE.map((name) => [name, `bk_${name}_${randomBytes(32).toString('base64url')}`])
  await storeSecretsOnce(path, Object.fromEntries(made) as object)
  return (await readSecretFile<PeopleKeys>(path)) ?? ensurePeople(home)
}

/** Throws BATON_USAGE for a name that an instance does not know. */
export function readPerson(name: string): Person {
  const known = PEOPLE.find((person) => person === name)
  if (known !== undefined) return known
  throw permanent('BATON_USAGE', `an instance has nobody called ${JSON.stringify(name)}`, {
    fix: `Give --as one of ${PEOPLE.join(', ')}, or a key of your own as BATON_API_KEY.`,
  })
}

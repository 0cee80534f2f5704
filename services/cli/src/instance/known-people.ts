// Whose decisions count in this home.
import { parsePeople, personEntry, ROLES } from '@baton/ledger'
import type { People } from '@baton/ledger'
import type { Context, Environment } from '../context.ts'
import { readPersonKey } from './person-key.ts'
import { PEOPLE, readStored } from './secrets.ts'
import type { Secrets } from './secrets.ts'

/** Whose decisions count here; nobody’s where neither is there. */
export async function knownPeople({ settings, environment, home }: Context): Promise<People> {
  if (settings.BATON_PEOPLE !== undefined) return parsePeople(settings.BATON_PEOPLE)
  const signing = await readStored(home, 'signing')
  return parsePeople(signing === null ? '' : peopleOf(environment, { signing }))
}

/** Whose decisions count: those whom the environment names, or the people of an instance, in every role. */
export const peopleOf = (environment: Environment, { signing }: Pick<Secrets, 'signing'>): string =>
  environment['BATON_PEOPLE'] ||
  PEOPLE.map((name) => personEntry(name, ROLES, readPersonKey(signing[name], name).publicKey)).join(
    ',',
  )

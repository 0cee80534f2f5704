// What a record may say of the settings that a process began with: public names and digests, never a secret.
import type { OperationDetail } from './audit-entry.ts'
import { LISTED, listedPeople } from './listed-people.ts'
import { facts } from './operation.ts'
import type { People } from './people.ts'

/** Whose decisions count: each key with its person, roles and end. */
export const peopleFacts = (people: People): readonly OperationDetail[] =>
  facts(LISTED, listedPeople(people))

/** What was allowed by name that is not allowed otherwise. */
export const waiverFacts = (settings: object): readonly OperationDetail[] =>
  facts(
    'ALLOWED',
    Object.entries(settings).flatMap(([name, value]) =>
      name.includes('_ALLOW_') && value === true ? [name] : [],
    ),
  )

// Whose decisions a process took, as its records list them: each key with its person, roles and end. Needs no node:crypto by itself.
import { detached } from './bytes.ts'
import { parseInstant } from './instant.ts'
import type { People } from './people.ts'
import type { RecordBody } from './record.ts'

/** The code of the facts that name them. */
export const LISTED = 'PERSON'

/** The subject of the auditor's lists: it records no decision by a key that it has not listed before. */
export const LISTED_AS = 'people'

/** One text for each key, in one order. */
export const listedPeople = (people: People): readonly string[] =>
  [...people]
    .map(([keyId, { person, roles, untilMs }]) => {
      const until = untilMs === undefined ? '' : `:${new Date(untilMs).toISOString()}`
      return `${person}:${[...roles].toSorted().join('+')}:${keyId}${until}`
    })
    .toSorted()

const TEXT = /^(?<person>[^:]+):[a-z+]*:(?<keyId>[0-9a-f]{16})(?::.*)?$/

/** What the records of a log list, as they come by. */
export interface ListedPeople {
  next(record: RecordBody): void
  /**
   * From when on the auditor has listed every key before the first decision by it, in microseconds since 1970; Infinity where it never
   * did.
   */
  completeFrom(): number
  /** Whether any process, at any time, took decisions of this person by this key. */
  has(person: string, keyId: string): boolean
}

export function createListedPeople(): ListedPeople {
  const keys = new Set<string>()
  let completeFrom = Infinity
  return {
    next({ event, operation, recordedAt }) {
      // Of a bundle it need not have been checked.
      if (event !== 'SETTINGS_CHANGED' || !Array.isArray(operation?.details)) return
      const listed = operation.details.filter(({ code }) => code === LISTED)
      for (const { value } of listed) {
        const { person, keyId } = TEXT.exec(value ?? '')?.groups ?? {}
        keys.add(detached(`${person} ${keyId}`))
      }
      if (operation.subject === LISTED_AS && listed.length > 0)
        completeFrom = Math.min(completeFrom, parseInstant(recordedAt) ?? Infinity)
    },
    completeFrom: () => completeFrom,
    has: (person, keyId) => keys.has(`${person} ${keyId}`),
  }
}

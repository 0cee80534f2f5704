// Whose decisions count here stands in the log before the first decision: a key that was listed at no time has decided nothing.
import { peopleEntries } from '@baton/ledger'
import type { AuditEntry, People } from '@baton/ledger'

/** Before the first signed entries are appended. Where it fails, they are not appended either. */
export function listingPeople(
  people: People,
  append: (entries: readonly AuditEntry[]) => Promise<unknown>,
): (before: readonly AuditEntry[]) => Promise<void> {
  const lists = peopleEntries(people)
  let isListed = lists.length === 0
  return async (before) => {
    if (isListed || before.every(({ act }) => act?.signed === undefined)) return
    await append(lists)
    isListed = true
  }
}

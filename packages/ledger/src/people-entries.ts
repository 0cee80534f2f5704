// The records in which an auditor lists whose decisions it takes. The same people are the same records, so that a start repeats none.
import type { AuditEntry } from './audit-entry.ts'
import { LISTED, LISTED_AS, listedPeople } from './listed-people.ts'
import { operationEntry, sameUuid, taskOfSettings } from './operation.ts'
import type { People } from './people.ts'

const AUDITOR = 'auditor'

/** So many keys in one record. */
const LISTED_AT_ONCE = 32

/** All of them, however many there are: a list that leaves out keys would say nothing of any other. */
export function peopleEntries(people: People): readonly AuditEntry[] {
  const texts = listedPeople(people)
  const parts = Array.from({ length: Math.ceil(texts.length / LISTED_AT_ONCE) }, (_, part) =>
    texts.slice(part * LISTED_AT_ONCE, (part + 1) * LISTED_AT_ONCE),
  )
  return parts.map((part) =>
    operationEntry({
      event: 'SETTINGS_CHANGED',
      id: sameUuid(`baton/people/v1|${part.join('\n')}`),
      // No day is part of their task.
      at: '',
      actor: AUDITOR,
      by: AUDITOR,
      subject: LISTED_AS,
      right: 'settings',
      details: part.map((value) => ({ code: LISTED, value })),
      about: { taskId: taskOfSettings(LISTED_AS) },
    }),
  )
}

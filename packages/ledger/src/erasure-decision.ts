// What two people sign who have somebody erased. Who is meant is in it by a salted digest only: without the salt, which is
// kept nowhere, nobody can tell from the signature whom it was about.
import { digestOf } from './decision.ts'
import type { People } from './people.ts'
import { actIdOf, entryFault } from './recorded-decision.ts'
import type { Decision, DecisionFault, RecordedSignature } from './recorded-decision.ts'

interface Meant {
  readonly id: string
  /** The id of the person who is to be erased; of the tenant that stands before the name of whoever signs. */
  readonly subject: string
  readonly basis: string
}

/** To ask for the erasure of this person, on this ground. */
export const erasureRequest = ({ id, subject, basis }: Meant, person: string): Decision => ({
  event: 'ERASURE_REQUESTED',
  taskId: id,
  handoffId: null,
  person,
  decided: digestOf(subject, basis),
})

/** What stands in a plan, as the second person is shown it. */
interface Plan extends Meant {
  readonly requestedBy: string
  readonly handoffIds: readonly string[]
}

/** To have exactly this plan carried out. */
export const erasureConfirmation = (
  { id, subject, basis, requestedBy, handoffIds }: Plan,
  person: string,
): Decision => ({
  event: 'ERASURE_COMPLETED',
  taskId: id,
  handoffId: null,
  person,
  decided: digestOf(subject, basis, requestedBy, digestOf(...handoffIds.toSorted())),
})

/** Who has signed an erasure, as it is kept of it: null for what came to be before people signed erasures. */
export interface SignedErasure {
  readonly id: string
  readonly requestedBy: string
  readonly requestedSigned: RecordedSignature | null
  readonly confirmedBy: string | null
  readonly confirmedSigned: RecordedSignature | null
}

/**
 * Why an erasure may not be carried out: undefined where two people with keys that are believed here have signed it, at `atMs` where it
 * is confirmed then. What is confirmed already was looked at when it came, and the auditor has signed that.
 */
export function erasureFault(
  erasure: SignedErasure,
  people: People,
  atMs = -Infinity,
): DecisionFault | undefined {
  const { id, requestedBy, requestedSigned, confirmedBy, confirmedSigned } = erasure
  if (requestedBy === confirmedBy) return 'other_person'
  const faultOf = (
    event: 'ERASURE_REQUESTED' | 'ERASURE_COMPLETED',
    actor: string | null,
    signed: RecordedSignature | null,
  ) => {
    if (signed === null || actor === null) return 'unsigned'
    const act = { id: actIdOf(signed), actor, signed }
    return entryFault({ event, taskId: id, handoffId: id, act }, people, atMs)
  }
  return (
    faultOf('ERASURE_REQUESTED', requestedBy, requestedSigned) ??
    faultOf('ERASURE_COMPLETED', confirmedBy, confirmedSigned)
  )
}

// What the log says of an erasure: a code, numbers and digests, who asked and who confirmed; never of whom.
import { actIdOf, erasureOf } from '@baton/ledger'
import type { AuditEntry, RecordedSignature } from '@baton/ledger'
import type { ErasedList } from './erased-segments.ts'
import type { Erasure } from './erasures.ts'

interface Told {
  readonly event: 'ERASURE_REQUESTED' | 'ERASURE_COMPLETED' | 'ERASURE_DEFERRED'
  /** The operator behind it. */
  readonly actor: string
  /** What the operator signed; undefined of what came to be before people signed erasures. */
  readonly signed: RecordedSignature | undefined
}

const SPAN_CHARACTERS = 16

/**
 * One entry for each subject whose key an erasure destroys; one without a list where it destroys none.
 * The same lists give the same entries, so that an erasure can be run again.
 */
export function erasureEntries(
  { id, basis }: Pick<Erasure, 'id' | 'basis'>,
  { event, actor, signed }: Told,
  lists: readonly ErasedList[] = [],
): AuditEntry[] {
  const hex = id.replaceAll('-', '')
  const entry: AuditEntry = {
    event,
    taskId: id,
    handoffId: id,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'baton-auditor', agentVersion: '1', executionId: id },
    toAgent: { agentType: 'baton-auditor', agentVersion: null },
    traceparent: `00-${hex}-${hex.slice(-SPAN_CHARACTERS)}-01`,
    verdicts: null,
    reason: event === 'ERASURE_DEFERRED' ? 'LEGAL_HOLD' : basis,
    cost: null,
    act: signed === undefined ? { id, actor } : { id: actIdOf(signed), actor, signed },
    segments: [],
  }
  if (lists.length === 0) return [entry]
  return lists.map(({ subjectRef, places }, epoch) => ({
    ...entry,
    epoch,
    erasure: erasureOf(subjectRef, places),
  }))
}

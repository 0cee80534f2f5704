// What a person steers: approvals and cancellations, each with the event that names who decided.
import { randomUUID } from 'node:crypto'
import type { AuditIntent, ExpiredHandoff } from '@baton/store'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'

/** The operator of the API key that was used. */
export interface Actor {
  readonly actor: string
}

/** The event of a decision about a handoff that waited for one (R15). */
export function approvalEvent(
  known: ExpiredHandoff,
  {
    actor,
    decision,
    reasonCode,
  }: Actor & { decision: 'approve' | 'reject'; reasonCode: string | null },
): AuditIntent {
  const event = decision === 'approve' ? 'HANDOFF_APPROVED' : 'APPROVAL_REFUSED'
  return toIntent({ ...lifecycleEntry(known, event, reasonCode), act: { id: randomUUID(), actor } })
}

/** The events of a request to cancel, one per handoff that it reached. */
export function cancelRequestEvents(
  reached: readonly ExpiredHandoff[],
  { actor }: Actor,
): readonly AuditIntent[] {
  const id = randomUUID()
  return reached.map((known) =>
    toIntent({ ...lifecycleEntry(known, 'CANCEL_REQUESTED'), act: { id, actor } }),
  )
}

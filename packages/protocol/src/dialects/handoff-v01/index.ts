// Protocol v0.1: its handoffs, their statuses, and what they are in Baton. Pure.
export { changeHandoff, timeAfter, writeHandoff, writeTime } from './document.ts'
export type { DocumentChange } from './document.ts'
export { HANDOFF_LIMITS, isTaskId, readHandoff, readHandoffBytes } from './handoff.ts'
export type { OfferedHandoff, ReadHandoff, Validation } from './handoff.ts'
export { outcomeOf, wayTo } from './outcome.ts'
export type { ToldHandoff } from './outcome.ts'
export {
  EARLIER_HANDOFF_ID,
  extensionProblem,
  HANDOFF_ID,
  importedHandoffId,
  offerHandoffId,
  offerSubmission,
  sentHandoffId,
} from './submission.ts'
export type { OfferSubmission } from './submission.ts'
export { isStatus, mayBecome, nextStatuses, STATUSES } from './transitions.ts'
export type { Status } from './transitions.ts'

// The operational database: one file per step of a handoff's way, one function per statement.
export { createPool, inTransaction, isConflict } from './database.ts'
export type { Database, Pool } from './database.ts'
export { migrateStore } from './migrate.ts'
export * from './send.ts'
export * from './outbox.ts'
export * from './executions.ts'
export * from './settlements.ts'
export * from './endings.ts'
export * from './sweeps.ts'
export * from './expiry.ts'
export type { ExpiredHandoff } from './ended-outside.ts'
export * from './approvals.ts'
export * from './cancellations.ts'
export * from './agent-registrations.ts'
export * from './queue-marks.ts'
export * from './give-back.ts'
export {
  acknowledgeNotices,
  listenToSenders,
  notifySenders,
  sweepNotices,
  takeNotices,
} from './notices.ts'
export type { SenderNotice, TakeRequest } from './notices.ts'
export * from './revisions.ts'
export * from './resumption.ts'
export * from './audit-outbox.ts'
export * from './idempotency.ts'
export * from './reads.ts'
export * from './dead-letters.ts'
export * from './reviews.ts'
export * from './redrives.ts'
export { addRelease, releaseEnd } from './releases.ts'
export * from './task-sets.ts'
export * from './invariants.ts'
export * from './receipt-checks.ts'
export * from './server-facts.ts'
export * from './erasures.ts'

// The operational database: one file per step of a handoff's way, one function per statement.
export { createPool, createSizeWatch, inTransaction, isConflict } from './database.ts'
export type { Database, Pool } from './database.ts'
export { migrateStore, planStore, storeMigrations } from './migrate.ts'
export {
  addRecordedMigrations,
  findNewestOperations,
  findWaitingOperations,
  listToldOperations,
  recordChangedSettings,
} from './recorded-operations.ts'
export type { NewestOperation, ToldOperation } from './recorded-operations.ts'
export { addShadowDifferences, listShadowDifferences } from './shadow-differences.ts'
export type { ListedDifference, ShadowDifference } from './shadow-differences.ts'
export {
  findArtefactBefore,
  findRecordedRuleset,
  recordChangedRuleset,
} from './recorded-rulesets.ts'
export type { ToldRuleset } from './recorded-rulesets.ts'
export { CONNECTION_SHARES, SPLIT_ROLES, TABLE_RIGHTS, WRITABLE_ROWS } from './roles.ts'
export type { SplitRole } from './roles.ts'
export * from './a2a-pushes.ts'
export * from './a2a-tasks.ts'
export {
  addApiKey,
  API_KEY_POSITION,
  countApiKeys,
  findApiKeys,
  listApiKeys,
  revokeApiKey,
} from './api-keys.ts'
export type { ListedApiKey, NewApiKey, StoredApiKey } from './api-keys.ts'
export {
  addTenant,
  createTenantPool,
  findTenantOfAgent,
  grantAgent,
  listTenants,
  namesOfOther,
  revokeAgent,
} from './tenants.ts'
export type { AgentGrant, TenantView } from './tenants.ts'
export { isSent, sendHandoffs } from './send.ts'
export type { NewHandoff, SendOutcome } from './send.ts'
export type { FanOutBounds } from './fan-out-bounds.ts'
export * from './fan-outs.ts'
export * from './joined-branches.ts'
export { GIVEN_UP_FROM, giveUpBranch } from './given-up-branches.ts'
export { findForkedHandoff } from './forked-handoffs.ts'
export * from './sent-fan-outs.ts'
export * from './outbox.ts'
export * from './pending-handoffs.ts'
export {
  claimExecutions,
  extendLeases,
  releaseOwnLeases,
  releaseLeases,
  findInterrupted,
  markExecuting,
  releaseLeasesLater,
} from './executions.ts'
export type {
  ClaimedApproval,
  ClaimedHandoff,
  ClaimedOverride,
  ClaimRequest,
  Fence,
  HeldLease,
  RefusedClaim,
  StartedExecution,
} from './executions.ts'
export * from './settlements.ts'
export * from './stream-chunks.ts'
export * from './metric-minutes.ts'
export * from './waiting.ts'
export * from './sweeps.ts'
export * from './waiting.ts'
export { expireHandoffs } from './ended-outside.ts'
export type { ExpiredHandoff } from './ended-outside.ts'
export * from './alerts.ts'
export * from './handled-alerts.ts'
export * from './alert-selections.ts'
export * from './alert-deliveries.ts'
export * from './escalations.ts'
export * from './approvals.ts'
export * from './cancellations.ts'
export { COUNTED_MAX, POSITION_PATTERN } from '@baton/postgres/list-positions'
export * from './agent-registrations.ts'
export * from './remote-executions.ts'
export * from './queue-watermarks.ts'
export {
  acknowledgeNotifications,
  listenToSenders,
  notifySenders,
  sweepNotifications,
  takeNotifications,
} from './sender-notifications.ts'
export type { SenderNotification } from './sender-notifications.ts'
export * from './revisions.ts'
export * from './resumption.ts'
export {
  addOutboxEvents,
  deleteOutboxEvents,
  listOutboxEvents,
  listHandoffEvents,
} from './audit-outbox.ts'
export type { OutboxEvent, WaitingEvent } from './audit-outbox.ts'
export * from './idempotency.ts'
export * from './external-refs.ts'
export * from './session-replies.ts'
export { listUnanswering } from './unanswering.ts'
export * from './task-budgets.ts'
export * from './reads.ts'
export * from './dead-letters.ts'
export * from './reviews.ts'
export * from './redrives.ts'
export * from './task-sets.ts'
export * from './invariants.ts'
export * from './receipt-checks.ts'
export * from './server-facts.ts'
export * from './erasures.ts'
export type { PlannedMigration } from '@baton/postgres'
export {
  addAlertEvents,
  addEvents,
  addFollowed,
  eventHead,
  eventPositionAt,
  findEventFacts,
  findEventPosition,
  followFor,
  forgetEvents,
  leaveFollowing,
  listEvents,
  listLogPositions,
  wantEvents,
} from './events.ts'
export type { FedTenant, LogPosition, NewEvent, StoredEvent, ToldChange } from './events.ts'
export {
  changeSubscription,
  countEventDeliveries,
  countSubscriptions,
  deleteSubscription,
  findSubscription,
  findSubscriptionSecret,
  listEventDeliveries,
  listSubscriptions,
  makeSubscription,
  pauseSubscription,
  redriveEventDeliveries,
  replaySubscription,
  resumeSubscription,
  rotateSubscription,
} from './event-subscriptions.ts'
export type {
  DeliveryState,
  DeliveryView,
  EventMode,
  SubscriptionChange,
  SubscriptionView,
} from './event-subscriptions.ts'
export {
  claimSubscriptions,
  countWaitingEvents,
  forgetEventDeliveries,
  leaveSubscription,
  listNewEvents,
  listWaitingEvents,
  measureEventDeliveries,
  noteRound,
} from './event-deliveries.ts'
export type { DueEvent, DueSubscription, Tried } from './event-deliveries.ts'

// The one public package for agent developers: define agents, host them, send handoffs.
export { defineAgent } from './agent.ts'
export { createSender } from './sender.ts'
export type { Sender, SenderOptions, SendTarget } from './sender.ts'
export { createWorker } from './worker.ts'
export type { Worker, WorkerOptions } from './worker.ts'
export { receiptService, relayService, sweeperService } from './relay.ts'
export type { RelayParts } from './relay.ts'
export { shipperFor } from './recorder.ts'
export * from './settings.ts'
export { safeServers } from './safe-servers.ts'
export { UNSAFE_POSTGRES_SETTINGS, UNSAFE_REDIS_SETTINGS } from './unsafe-settings.ts'
export { parseSigningKeys } from './signing-keys.ts'
export { createNotifier } from './notifier.ts'
export { createReturns } from './returns.ts'
export type { Returns } from './returns.ts'
export { inSetOrSingly } from './in-set-or-singly.ts'
export { advanceRedrives, createReviewDesk } from './review.ts'
export type { ReviewDesk, TriedLetter } from './review.ts'
export { completeSteps, endSet, retrySet } from './settlement.ts'
export type {
  Agent,
  AgentContext,
  AgentResult,
  Correction,
  NextHandoff,
  ReadyMessage,
  ResumeChange,
  ReturnedHandoff,
  RolledBackHandoff,
  Sent,
} from '@baton/pipeline'
export {
  buildHandoffMessage,
  validateHandoffMessage,
  createKeyRing,
  type AgentState,
  type HandoffConstraints,
  type HandoffMessage,
  type KeyRing,
} from '@baton/protocol'
export { renderForAgent } from '@baton/safety'
export { BLOCKED_POLICIES, HandoffCanceled, type BlockedPolicy } from '@baton/pipeline'
export {
  createSteering,
  type ApprovalRequest,
  type Canceled,
  type CancelRequest,
  type Decided,
  type Steering,
} from './steering-acts.ts'
export { permanent, transient } from '@baton/runtime'

// The use cases: one file each, with its transaction; decide/* holds what is decided without I/O.
export { HandoffCanceled } from './agent.ts'
export type { JoinHandoff, NextHandoff } from '@baton/protocol/settlement'
export type { Agent, AgentContext, AgentResult } from './agent.ts'
export { createNotificationWatcher } from './answer-notifications.ts'
export type {
  NotificationHooks,
  ReturnedHandoff,
  RolledBackHandoff,
} from './answer-notifications.ts'
export { createActiveScanner, scannerOf } from './active-scanner.ts'
export type { ActiveScanner } from './active-scanner.ts'
export {
  makeApiKey,
  makeGrant,
  openTenant,
  recordBackup,
  recordMigrations,
  recordRestore,
  recordRestoreDrill,
  withdrawApiKey,
  withdrawGrant,
} from './administer.ts'
export type { Administrator } from './administer.ts'
export { answerApproval } from './approve.ts'
export type { ApprovalRequest, Decided } from './approve.ts'
export { watchAudit } from './audit-watch.ts'
export { requestCancel } from './cancel.ts'
export type { Canceled } from './cancel.ts'
export { CHUNK_KIND_PATTERN, readChunk } from './decide/chunks.ts'
export type { Chunk, CommittedChunk } from './decide/chunks.ts'
export { completeSteps, endSet, retrySet } from './commit-outcome.ts'
export { decideFailed, decideQuarantined, decideRejected } from './decide/outcome.ts'
export type { Backoff, CompletedStep, Outcome } from './decide/outcome.ts'
export type { Redaction } from './decide/redact-message.ts'
export { hasSent } from './decide/has-sent.ts'
export { reviewersNeeded } from './decide/review.ts'
export { proposeOverride, proposeRedaction } from './decide/review.ts'
export type { Decider, ReviewOutcome, ReviewRefusal } from './decide/review.ts'
export { approvalDecision, discardDecision, voteDecision } from './decide/signed-decisions.ts'
export type { Unsigned } from './decide/signed-decisions.ts'
export type { RevisionOutcome } from './decide/revision.ts'
export { confirmErasure, planErasure, replayErasures } from './erase-subject.ts'
export type { AuditErasures, ErasureView } from './erase-subject.ts'
export { branchesOf, sendOutgoing } from './commit-outgoing.ts'
export type { Sent, SentBranch } from './commit-outgoing.ts'
export { createDirectDelivery } from './deliver-directly.ts'
export type { DeliverDirectly, DirectlyDelivered } from './deliver-directly.ts'
export { createHost } from './execute-handoff.ts'
export type { Accepted, Execution, Executor, HostedAgent } from './execute-handoff.ts'
export { createHeartbeat } from './heartbeat.ts'
export { endingInvariant, operationInvariant, PROMISES, receiptInvariant } from './invariants.ts'
export type { Invariant, PromiseId } from './invariants.ts'
export { RATE_STATES } from './decide/service-levels.ts'
export { createLevelReporter } from './level-report.ts'
export type { LevelReport, LevelReporter } from './level-report.ts'
export { tellSlowPairs } from './level-keeper.ts'
export { createLevelRecorder } from './level-recorder.ts'
export { createAlertWebhooks } from './alert-webhooks.ts'
export { receiverOf } from './choose-receiver.ts'
export { artefactKeyFacts, followingArtefact } from './follow-artefact.ts'
export { openArtefact, readArtefactKeys, signArtefact } from './signed-artefact.ts'
export { readFanOutBounds } from './fan-out-bounds.ts'
export { createKnownReceivers } from './known-receivers.ts'
export type { CompressionBounds, KnownReceivers } from './known-receivers.ts'
export { openAlertWebhooks } from './open-alert-webhooks.ts'
export { openDirectCalls } from './open-direct-calls.ts'
export type { Exemption } from './decide/exemptions.ts'
export { followingExemptions } from './follow-exemptions.ts'
export { endFault, openExemptions, readExemptionEntries, termsOf } from './open-exemptions.ts'
export type { ExemptionEntry } from './open-exemptions.ts'
export { watchClassifier } from './ask-classifier.ts'
export type { Classifier } from './classifier.ts'
export { createHttpClassifier } from './http-classifier.ts'
export type { JudgingBeside } from './judge-delivery.ts'
export { judgingFacts, openJudging } from './open-judging.ts'
export type { Judging } from './open-judging.ts'
export { openSummariser } from './open-summariser.ts'
export { openTransport } from './open-transport.ts'
export { createOwnRelay } from './own-relay.ts'
export { OUTBOX_BOUNDS, createOutboxBound } from './outbox-bound.ts'
export type { RequireRoom } from './outbox-bound.ts'
export { describeGiven, outcomeOf } from './outside-agent.ts'
export type {
  CallEnd,
  CallOutcome,
  Given,
  GivenDocument,
  OutsideAgent,
  RemoteOutcome,
} from './outside-agent.ts'
export { prepareOutgoing, receiversOf } from './prepare-fan-out.ts'
export type { Outgoing } from './prepare-fan-out.ts'
export { prepareHandoff, prepareMessage, readMessage } from './prepare-handoff.ts'
export type { HandoffRequest, ReadyMessage } from './prepare-handoff.ts'
export { createShadow } from './shadow-scanner.ts'
export type { Shadow } from './shadow-scanner.ts'
export { createReceiver } from './receiver.ts'
export type { Receiver } from './receiver.ts'
export {
  createRemoteExecutor,
  emitRemote,
  recordStarted,
  releaseRemote,
  settleRemote,
} from './remote-execution.ts'
export type { RemoteSettled, SettleParts, SettleRequest } from './remote-execution.ts'
export { summarised } from './summarise-next.ts'
export { writeSummary } from './write-summary.ts'
export { createReceiptReconciler, reconcile } from './reconcile-receipts.ts'
export { createEventShipper } from './record-audit.ts'
export { createReadingRecorder } from './record-readings.ts'
export type { Reader, Reading, ReadingRecorder } from './record-readings.ts'
export { recordingSettings, recordSettings, signingKeyFacts } from './record-settings.ts'
export { recordOperation } from './record-operation.ts'
export type { DoneOperation } from './record-operation.ts'
export { createRefusalRecorder } from './record-refusals.ts'
export type { RefusalRecorder } from './record-refusals.ts'
export type { EventShipper } from './record-audit.ts'
export { readCompression } from './read-compression.ts'
export { startRedrive, stopRedrive, tryOut } from './redrive.ts'
export type { LeftOut, TriedDeadLetter } from './redrive.ts'
export { createRegistrar } from './registrar.ts'
export { createRelay } from './relay-outbox.ts'
export { findAskedRequest, resumeTask } from './resume-task.ts'
export type { ResumeChange } from './resume-task.ts'
export { createReviewer } from './review-dead-letter.ts'
export type { Reviewer } from './review-dead-letter.ts'
export { refusedRevision, reviseHandoff } from './revise-handoff.ts'
export type { Correction, ReturnParts } from './revise-handoff.ts'
export { safeServers } from './safe-servers.ts'
export { createLargeWork } from './large-work.ts'
export type { LargeWork } from './large-work.ts'
export { readLargeWork } from './large-work-bounds.ts'
export type { LargeWorkBounds } from './large-work-bounds.ts'
export { createHandoffSender, requireResidency } from './send-handoff.ts'
export type { Author, HandoffSender } from './send-handoff.ts'
export * from './settings.ts'
export { createSweeper } from './sweep.ts'
export { createEventDeliveries } from './deliver-events.ts'
export type { EventDeliveries, EventDeliveryTimes } from './deliver-events.ts'
export { createEventFollowing } from './follow-events.ts'
export type { EventFollowing, FollowedLog, FollowRequest } from './follow-events.ts'
export { createEventSecrets, newWebhookSecret } from './event-secrets.ts'
export type { EventSecrets } from './event-secrets.ts'
export { roomLeft } from './tenant-shares.ts'
export { createWebhookSender, nextTryMs } from './webhook-sender.ts'
export type {
  Sent as SentWebhook,
  WebhookSender,
  WebhookSending,
  WebhookTarget,
} from './webhook-sender.ts'
export { EVENT_TYPES, schemaOf, testEvent } from './decide/lifecycle-event.ts'
export { FILTER_DEPTH_MAX, FILTER_PARTS_MAX, passes, readFilters } from './decide/event-filter.ts'
export type { EventAttributes, EventFilter } from './decide/event-filter.ts'

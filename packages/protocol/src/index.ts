// What a handoff is, and whether to accept it: build, encode, sign, parse, judge. No I/O.
export { satisfiesAgentRange } from './agent-range.ts'
export { ANY_AGENT, type AgentRegistration } from './agent-registration.ts'
export type { AgentCost, AgentState, HandoffConstraints } from './agent-state.ts'
export { checkCompleteness } from './checks/completeness.ts'
export { completeState } from './given-state.ts'
export type { GivenState } from './given-state.ts'
export { buildHandoff, buildHandoffMessage, fitHandoff } from './build-handoff.ts'
export { canonicalBytes } from './canonical-json.ts'
export { strictestOf } from './classification.ts'
export { FACT_LOST, withoutLostFacts } from './checks/pinned-facts.ts'
export { checkSummary, type SummaryFault } from './check-summary.ts'
export type { Conversation, Summarise } from './compress-context.ts'
export type { ApprovalOverride, OfferedOverride } from './checks/approval-override.ts'
export { describeDetails, ProtocolError, type Detail } from './detail.ts'
export type { Checkpoint } from './generated/checkpoint.ts'
export type { PinnedFacts, Receiver } from './generated/handoff.ts'
export type { HandoffMessage } from './handoff-message.ts'
export type { DeadLetter } from './generated/dead-letter.ts'
export type { DecisionRecord } from './generated/decision-record.ts'
export { pointerTo, type JsonObject, type JsonValue } from './json.ts'
export type { LostFactsPolicy } from './judge-content.ts'
export { judgeEnded, judgeHandoff, judgeRaised } from './judge-handoff.ts'
export { judgeMessage } from './judge-message.ts'
export { createKeyRing, type KeyRing, type KeyStatus } from './key-ring.ts'
export { DEFAULT_LIMITS } from './limits.ts'
export { microUSD, usdFromMicro } from './money.ts'
export { parseMessage } from './parse-message.ts'
export { unmetRequirements } from './checks/requirements.ts'
export type { Job, NextWatermark, Pointer, Priority, QueueWatermark } from './queue-message.ts'
export { ROUTES, type RejectionReason } from './rejection.ts'
export {
  JURISDICTION_PATTERN,
  keepsResidency,
  placesFor,
  residencyProblems,
  transferCode,
  type Jurisdiction,
  type Residency,
} from './residency.ts'
export { prepareSchemas } from './schema-check.ts'
export { deliveryOf, encodeMessage, signHandoff, verifySignature } from './signature.ts'
export { summariseTurns, type SummaryOptions } from './summarise-turns.ts'
export { countTokens } from './token-count.ts'
export type { Acceptance, Rejection, Verdict } from './verdict.ts'
export {
  HANDOFF_STATES,
  hasHandoffEnded,
  hasTaskEnded,
  isTaskAtRest,
  TASK_ENDED,
  TASK_STATUSES,
} from './states.ts'
export { isSentId, isUuid, UUID_PATTERN } from './uuid.ts'

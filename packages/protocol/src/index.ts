// What a handoff is, and whether to accept it: build, encode, sign, parse, judge. No I/O.
export { isAgentRange, satisfiesAgentRange } from './agent-range.ts'
export type { AgentRegistration } from './agent-registration.ts'
export type { AgentCost, AgentState, HandoffConstraints } from './agent-state.ts'
export { buildHandoff, buildHandoffMessage, type BuiltHandoff } from './build-handoff.ts'
export { canonicalBytes, canonicalJson } from './canonical-json.ts'
export { INITIAL } from './checks/completeness.ts'
export type { TaskBudget } from './checks/consistency.ts'
export type { OfferedOverride } from './checks/approval-override.ts'
export type { Scan, ScanVerdict } from './checks/safety.ts'
export {
  compressContext,
  type Compression,
  type CompressionOptions,
  type Conversation,
} from './compress-context.ts'
export { describeDetails, ProtocolError, type Detail } from './detail.ts'
export type { Checkpoint } from './generated/checkpoint.ts'
export type { DeadLetter } from './generated/dead-letter.ts'
export type { DecisionRecord } from './generated/decision-record.ts'
export type {
  AgentIdentity,
  AgentTarget,
  CompletedSubtask,
  ContextExcerpt,
  ContextSnapshot,
  CostTracking,
  Delegation,
  ExternalReference,
  Receiver,
  RemainingSubtask,
  Requirements,
  Residency,
  StreamChunk,
  TokenCount,
  ToolCall,
  Turn,
} from './generated/handoff.ts'
export type { HandoffMessage } from './handoff-message.ts'
export { pointerTo, type JsonObject, type JsonPrimitive, type JsonValue } from './json.ts'
export { judgeHandoff, type JudgeOptions } from './judge-handoff.ts'
export { createKeyRing, type KeyRing, type KeyRingOptions, type KeyStatus } from './key-ring.ts'
export { DEFAULT_LIMITS, type Limits } from './limits.ts'
export { microUSD, usdFromMicro } from './money.ts'
export { parseMessage, type Parsed } from './parse-message.ts'
export { unmetRequirements } from './checks/requirements.ts'
export type { Job, NextWatermark, Pointer, Priority, QueueWatermark } from './queue-message.ts'
export { ROUTES, type RejectionReason, type Route } from './rejection.ts'
export {
  signOverride,
  verifyOverride,
  type Release,
  type OverrideTerms,
} from './approval-override.ts'
export { prepareSchemas } from './schema-check.ts'
export { NEWEST_MINOR, readSchemaVersion, type SchemaVersion } from './schema-version.ts'
export {
  deliveryOf,
  encodeMessage,
  signHandoff,
  verifySignature,
  type Delivery,
  type SignatureCheck,
  type SignatureProblem,
  type SignedHandoff,
} from './signature.ts'
export { countTokens } from './token-count.ts'
export { validateHandoffMessage, type ValidateOptions } from './validate-handoff.ts'
export type { Acceptance, CheckResult, Checks, Rejection, Verdict } from './verdict.ts'
export {
  HANDOFF_STATES,
  hasHandoffEnded,
  hasTaskEnded,
  TASK_ENDED,
  TASK_STATUSES,
} from './states.ts'
export { isUuid, UUID_PATTERN } from './uuid.ts'

// SW4RM handoffs: contexts to the byte, requests and responses, routing, and how they map to handoffs of Baton.
export { HANDOFF_CONTEXT_SCHEMA } from './context-schema.ts'
export {
  contextFrom,
  contextObject,
  deserializeContext,
  serializeContext,
} from './handoff-context.ts'
export type { ContextMode, ContextParts, HandoffContext, ReadOptions } from './handoff-context.ts'
export { handoffRequest, handoffResponse, STATUS_NUMBERS } from './handoff-request.ts'
export type {
  BudgetEnvelope,
  HandoffRequest,
  HandoffResponse,
  HandoffStatus,
} from './handoff-request.ts'
export { responseOf, statusOf } from './handoff-status.ts'
export type { HandoffFacts } from './handoff-status.ts'
export { contextOf, fromHandoff, SW4RM, toHandoff } from './map-handoff.ts'
export type { MappedHandoff, MappingOptions } from './map-handoff.ts'
export { prepareHandoffContext } from './prepare-context.ts'
export type { PythonDict, PythonValue } from './python-value.ts'
export type { WriteOptions } from './python-json-writer.ts'
export { rejectionCode } from './rejection-code.ts'
export {
  ALL_UNAVAILABLE,
  answerRequest,
  findCapableAgent,
  NO_CAPABLE_AGENT,
  requestWithFallback,
  routeHandoff,
} from './routing.ts'
export type { RegisteredAgent } from './routing.ts'
export { unpackContext } from './snapshot.ts'
export { Sw4rmError } from './sw4rm-error.ts'

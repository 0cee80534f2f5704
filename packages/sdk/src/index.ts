// What an agent developer needs, and nothing else: define agents, host them, send handoffs.
export { defineAgent } from './agent.ts'
export { defineA2aAgent } from './a2a-agent.ts'
export type { A2aAgentOptions, A2aAnswer } from './a2a-agent.ts'
export { definePushAgent } from './push-agent.ts'
export type { PushAgentOptions } from './push-agent.ts'
export { readSenderOptions, readWorkerOptions } from './connection.ts'
export { createSender } from './sender.ts'
export type { Sender, SenderOptions, SendTarget, SentSync } from './sender.ts'
export type { TaskOutcome } from './task-outcome.ts'
export { jsonOf, messagesOf, textOf, turnsOf } from './conversation.ts'
export type { ChatMessage, ConversationTurns, MessagePart } from './conversation.ts'
export { defineConversationAgent } from './conversation-agent.ts'
export type {
  ConversationAgentOptions,
  ConversationAnswer,
  ConversationTurn,
  ModelUsage,
} from './conversation-agent.ts'
export { answerOf, completedResult, createHandOver, keyMissing } from './hand-over.ts'
export type {
  HandedOver,
  HandOver,
  HandOverAnswer,
  HandOverOptions,
  HandOverRequest,
} from './hand-over.ts'
export { soundConversation } from './sound-calls.ts'
export { createWorker } from './worker.ts'
export type { Worker, WorkerOptions } from './worker.ts'
export { parsePeople } from '@baton/ledger'
export { parseSigningKeys } from './signing-keys.ts'
export { createHttpClassifier, HandoffCanceled, openExemptions, openTransport } from '@baton/engine'
export type {
  Agent,
  AgentContext,
  AgentResult,
  Chunk,
  Classifier,
  CommittedChunk,
  CompressionBounds,
  Correction,
  Exemption,
  HostedAgent,
  JoinHandoff,
  NextHandoff,
  OutsideAgent,
  ReadyMessage,
  ResumeChange,
  ReturnedHandoff,
  RolledBackHandoff,
  Sent,
} from '@baton/engine'
export { jobIdOf } from '@baton/transport/jobs'
export type { ConsumeOptions, Consumer, Job, Pointer, Transport } from '@baton/transport/jobs'
export { validateHandoffMessage } from './validate-handoff.ts'
export type { HandoffValidation, ValidateOptions } from './validate-handoff.ts'
export { buildHandoffMessage, createKeyRing } from '@baton/protocol'
export type {
  AgentState,
  GivenState,
  HandoffConstraints,
  HandoffMessage,
  JsonObject,
  JsonValue,
  KeyRing,
} from '@baton/protocol'
export { renderForAgent } from '@baton/safety'
export { createLogger, createTls, permanent, readTls, transient } from '@baton/runtime'
export type { Tls } from '@baton/runtime'
export { createModelSummariser } from '@baton/summarise'
export type { Summariser } from '@baton/summarise'
export { createMetrics } from '@baton/telemetry'

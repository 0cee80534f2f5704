// Generated from the schemas by generate-types.ts; do not edit.
import type { JsonObject } from '../json.ts'

/**
 * UUID version 4 in lower case.
 */
export type Uuid = string
/**
 * RFC 3339 date and time with seconds and a zone, at most nine fraction digits.
 */
export type DateTime = string
/**
 * An identifier chosen by people: not empty, no control characters.
 */
export type Name = string
/**
 * A semantic version 2.0.0.
 */
export type Version = string

/**
 * What a sender saves before it hands off, so that a rollback can restore it byte for byte and the sender can rebuild the handoff.
 */
export interface Checkpoint {
  /**
   * Version of this document.
   */
  checkpointVersion: 1
  checkpointId: Uuid
  taskId: Uuid
  handoffId: Uuid
  savedAt: DateTime
  agent: AgentIdentity
  /**
   * The sender's own state; empty where the request below holds all of it.
   */
  state: JsonObject
  /**
   * What the sender asked to be built, so that a returned handoff can be rebuilt.
   */
  request?: {
    /**
     * The agent state as given to the builder.
     */
    agentState: JsonObject
    targetAgentType: Name
    /**
     * The constraints as given to the builder.
     */
    constraints: JsonObject
  }
}
/**
 * The sending agent.
 */
export interface AgentIdentity {
  agentId: Name
  agentVersion: Version
  executionId: Uuid
}

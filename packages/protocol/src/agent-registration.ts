// What a receiving agent type says about itself when it registers.

/** What is addressed to it is for any agent type that can take it. */
export const ANY_AGENT = '*'

export interface AgentRegistration {
  readonly type: string
  /** Semantic version of the agent that runs here. */
  readonly version: string
  /** Keys that `currentState` must have before this agent can start (E06). */
  readonly requires: readonly string[]
  /** What the agent can do, for handoffs that require it (S18); nothing by default. */
  readonly capabilities?: readonly string[]
  /** The MCP servers the agent can reach, for handoffs that require them (S18); none by default. */
  readonly mcp?: readonly string[]
  /** Where it runs: ISO 3166-1 alpha-2 in capitals, or EU. Without it the agent takes nothing that must stay somewhere. */
  readonly jurisdiction?: string | undefined
  /** Size of the agent's context window; the builder compresses for it (E03). */
  readonly contextWindowTokens?: number
}

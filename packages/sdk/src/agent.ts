// Defining an agent: checked when it is defined, not when its first handoff arrives.
import type { Agent, NotificationHooks } from '@baton/engine'
import { JURISDICTION_PATTERN } from '@baton/protocol'
import type { AgentRegistration } from '@baton/protocol'
import { permanent } from '@baton/runtime'

const TYPE = /^\P{Cc}{1,256}$/u
const VERSION = /^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?$/

/**
 * Defines an agent type: its name, semantic version, the `currentState` keys it requires (E06) and
 * the function that does the work; what handoffs may require of it: its `capabilities` and `mcp` servers (S18). Throws BATON_AGENT_INVALID naming what is wrong.
 */
export function defineAgent(agent: Agent): Agent {
  const isCode = typeof agent.execute === 'function'
  refuse(agent, whatIsWrong(agent) ?? (isCode ? undefined : 'execute must be a function'))
  return Object.freeze({ ...agent })
}

/** The same for what every agent has, wherever it runs. */
export const checkAgent = (agent: AgentRegistration): void => refuse(agent, whatIsWrong(agent))

function refuse({ type }: AgentRegistration, problem: string | undefined): void {
  if (problem === undefined) return
  throw permanent('BATON_AGENT_INVALID', `agent ${JSON.stringify(type)}: ${problem}`, {
    fix: 'defineAgent({ type: "name", version: "1.0.0", requires: ["key"], execute: async (context) => ... })',
  })
}

function whatIsWrong(agent: AgentRegistration & NotificationHooks): string | undefined {
  if (typeof agent.type !== 'string' || !TYPE.test(agent.type))
    return 'type must be 1 to 256 characters'
  if (typeof agent.version !== 'string' || !VERSION.test(agent.version)) {
    return `version ${JSON.stringify(agent.version)} is not a semantic version`
  }
  if (!Array.isArray(agent.requires)) return 'requires must list the state keys it needs, or be []'
  if (!isNames(agent.capabilities)) return 'capabilities must list names, or be left out'
  if (!isNames(agent.mcp)) return 'mcp must list the names of MCP servers, or be left out'
  if (agent.jurisdiction !== undefined && !JURISDICTION_PATTERN.test(agent.jurisdiction))
    return 'jurisdiction must be two capital letters, or be left out'
  for (const hook of ['onReturn', 'onRollback'] as const) {
    if (!['undefined', 'function'].includes(typeof agent[hook]))
      return `${hook} must be a function, or be left out`
  }
  return undefined
}

const isNames = (value: unknown): boolean =>
  value === undefined || (Array.isArray(value) && value.every(isName))

const isName = (value: unknown): boolean => typeof value === 'string' && TYPE.test(value)

// What is for any agent (`*`) goes to one that is live and can take it: chosen when it is sent, by a rule that always answers the same.
import { ANY_AGENT, placesFor, satisfiesAgentRange } from '@baton/protocol'
import type { HandoffMessage, Residency } from '@baton/protocol'
import type { NextHandoff } from '@baton/protocol/settlement'
import { permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { findCapableTypes } from '@baton/store'
import type { CapableType, Pool } from '@baton/store'
import type { AgentResult } from './agent.ts'
import type { Step } from './decide/next-handoffs.ts'
import type { HandoffRequest } from './prepare-handoff.ts'

interface ChooseParts {
  readonly pool: Pool
  /** For whom, where the task begins. */
  readonly tenant?: string | null
  readonly logger: Logger
}

/** What of a handoff decides who can take it. */
interface Wanted {
  readonly taskId: string
  /** It never comes back to whoever sends it. */
  readonly sender: string
  readonly currentState: object
  readonly requirements: HandoffMessage['requirements'] | undefined
  readonly residency: Residency | undefined
  readonly agentVersion: string | undefined
}

/** As many agent types are looked at. */
const TYPES_MAX = 1_000

/**
 * The agent type for what is for any: every live worker of it has the capabilities, the MCP servers and the version that
 * are required, needs no state that is not there, and runs where the data may be. Of several it is the one with the most
 * workers, then the first by name. Throws BATON_NO_CAPABLE_AGENT where there is none.
 */
async function choose(
  { pool, tenant = null, logger }: ChooseParts,
  wanted: Wanted,
): Promise<string> {
  const { taskId, sender, currentState, requirements, residency, agentVersion } = wanted
  const needs = {
    capabilities: requirements?.capabilities ?? [],
    mcp: requirements?.mcp ?? [],
    stateKeys: Object.keys(currentState),
    places: placesFor(residency) ?? null,
  }
  const capable = await findCapableTypes(pool, needs, { sender, limit: TYPES_MAX, taskId, tenant })
  const candidates = capable.filter((one) => hasVersion(one, agentVersion))
  const [chosen] = candidates
  if (chosen === undefined) throw NOBODY
  const { type, workers } = chosen
  logger.info({ event: 'handoff.addressed', taskId, agent: type, workers, of: candidates.length })
  return type
}

const hasVersion = ({ versions }: CapableType, range: string | undefined): boolean =>
  range === undefined || versions.every((version) => satisfiesAgentRange(version, range))

const NOBODY = permanent(
  'BATON_NO_CAPABLE_AGENT',
  '/toAgent/agentType is "*", and no live agent type has all that this handoff requires',
  {
    fix: 'Start a worker whose agent has the required capabilities, MCP servers, version and jurisdiction and requires no state that is missing, or name an agent type; `baton agents` lists those that are live.',
  },
)

/** Whom a request goes to. */
export async function receiverOf(
  { agentState, targetAgentType, constraints }: HandoffRequest,
  parts: ChooseParts,
): Promise<string> {
  if (targetAgentType !== ANY_AGENT) return targetAgentType
  const { taskId, agent, currentState, residency } = agentState
  const { requirements, agentVersion } = constraints
  const sender = agent.agentId
  return choose(parts, { taskId, sender, currentState, requirements, residency, agentVersion })
}

/** Whom a message goes to that was built elsewhere. */
export async function receiverOfMessage(
  { taskId, fromAgent, toAgent, currentState, requirements, residency }: HandoffMessage,
  parts: ChooseParts,
): Promise<string> {
  if (toAgent.agentType !== ANY_AGENT) return toAgent.agentType
  const { agentVersion } = toAgent
  const sender = fromAgent.agentId
  return choose(parts, { taskId, sender, currentState, requirements, residency, agentVersion })
}

/** What an agent came to, with a receiver for all that it hands on to any. */
export async function withReceivers(step: Step, parts: ChooseParts): Promise<Step['execution']> {
  const { execution } = step
  const { result } = execution
  const { join } = result
  if (![...result.next, ...(join === undefined ? [] : [join])].some(isForAny)) return execution
  const { state } = result
  const next = await Promise.all(result.next.map((one) => addressed(step, one, state, parts)))
  // What joins branches finds what came out of them in its state.
  const atJoin = { ...state, branches: {} }
  const joined = join === undefined ? {} : { join: await addressed(step, join, atJoin, parts) }
  return { ...execution, result: { ...result, next, ...joined } satisfies AgentResult }
}

const isForAny = ({ to }: Pick<NextHandoff, 'to'>): boolean => to === ANY_AGENT

async function addressed<Next extends NextHandoff>(
  { claimed, message, execution }: Step,
  next: Next,
  currentState: object,
  parts: ChooseParts,
): Promise<Next> {
  if (!isForAny(next)) return next
  const to = await choose(parts, {
    taskId: claimed.taskId,
    sender: execution.agent.type,
    currentState,
    requirements: next.requirements,
    residency: next.residency ?? message.residency,
    agentVersion: next.agentVersion,
  })
  return { ...next, to }
}

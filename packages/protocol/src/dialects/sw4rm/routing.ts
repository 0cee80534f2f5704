// Who takes a handoff: capabilities, preferred agents in their order, and what is said when nobody does. Pure decisions.
import { handoffResponse } from './handoff-request.ts'
import type { HandoffRequest, HandoffResponse } from './handoff-request.ts'

export const NO_CAPABLE_AGENT = 'No capable agent available'
export const ALL_UNAVAILABLE = 'All preferred agents unavailable'

/** An agent as a registry knows it. */
export interface RegisteredAgent {
  readonly agentId: string
  readonly capabilities: readonly string[]
  /** Only RUNNABLE agents are given work. */
  readonly state: string
}

const refused = (handoffId: string, rejectionReason: string): HandoffResponse =>
  handoffResponse({ accepted: false, handoffId, rejectionReason, status: 'REJECTED' })

/** The agent that a request without one goes to: the first that is RUNNABLE and has every capability. */
export const findCapableAgent = (
  required: readonly string[],
  agents: readonly RegisteredAgent[],
): string | undefined =>
  agents.find(
    ({ capabilities, state }) =>
      state === 'RUNNABLE' && required.every((capability) => capabilities.includes(capability)),
  )?.agentId

/** The request with its agent, or the rejection where nobody can take it. */
export function routeHandoff(
  request: HandoffRequest,
  agents: readonly RegisteredAgent[],
): { readonly request: HandoffRequest } | { readonly rejected: HandoffResponse } {
  if (request.toAgent !== '') return { request }
  const toAgent = findCapableAgent(request.capabilitiesRequired, agents)
  if (toAgent !== undefined) return { request: { ...request, toAgent } }
  return { rejected: refused(request.requestId, NO_CAPABLE_AGENT) }
}

/** What an agent of these capabilities and this state answers: it takes what it has everything for, while it is RUNNABLE. */
export function answerRequest(
  request: Pick<HandoffRequest, 'requestId' | 'capabilitiesRequired'>,
  { capabilities, state }: Omit<RegisteredAgent, 'agentId'>,
): HandoffResponse {
  const { requestId, capabilitiesRequired } = request
  const missing = capabilitiesRequired.find((capability) => !capabilities.includes(capability))
  if (missing !== undefined) return refused(requestId, `Missing capability: ${missing}`)
  if (state !== 'RUNNABLE') return refused(requestId, `Agent busy: ${state}`)
  const metadata = { capabilities: [...capabilities] }
  return handoffResponse({ accepted: true, handoffId: requestId, status: 'ACCEPTED', metadata })
}

/** What to do next with a request that goes to preferred agents in turn, after what those before have answered. */
type NextAttempt =
  | { readonly kind: 'ask'; readonly agentId: string }
  | { readonly kind: 'answered'; readonly response: HandoffResponse }

function nextPreferred(
  preferred: readonly string[],
  answers: readonly HandoffResponse[],
  handoffId: string,
): NextAttempt {
  const accepted = answers.find((answer) => answer.accepted)
  if (accepted !== undefined) return { kind: 'answered', response: accepted }
  const agentId = preferred[answers.length]
  if (agentId !== undefined) return { kind: 'ask', agentId }
  return { kind: 'answered', response: refused(handoffId, ALL_UNAVAILABLE) }
}

/** Asks preferred agents in turn until one accepts. What asking throws is thrown on. */
export async function requestWithFallback(
  preferred: readonly string[],
  handoffId: string,
  ask: (agentId: string) => Promise<HandoffResponse>,
): Promise<HandoffResponse> {
  const askAfter = async (answers: readonly HandoffResponse[]): Promise<HandoffResponse> => {
    const next = nextPreferred(preferred, answers, handoffId)
    if (next.kind === 'answered') return next.response
    return askAfter([...answers, await ask(next.agentId)])
  }
  return askAfter([])
}

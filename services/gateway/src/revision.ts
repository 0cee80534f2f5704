// Turns a posted correction into one that can be committed, or into a problem that says where it is wrong.
import type { FastifyRequest } from 'fastify'
import { readMessage } from '@baton/engine'
import type { Correction } from '@baton/engine'
import { buildHandoffMessage } from '@baton/protocol'
import type { AgentState, HandoffConstraints, HandoffMessage, KeyRing } from '@baton/protocol'
import type { RevisionBase } from '@baton/store'
import { placed, requireDeliverable, requireSignature } from './deliverable.ts'
import type { Place } from './deliverable.ts'
import { placeInState } from './message-pointer.ts'

export interface PostedRevision {
  readonly revision: number
  /** Turns a pointer into the message into one into the posted body. */
  readonly place: Place
  /** The correction, of the message that stands; throws 422 problems. */
  correct(base: RevisionBase): Correction
}

interface StateBody {
  readonly revision: number
  readonly agentState: AgentState
  readonly constraints?: HandoffConstraints
}

interface MessageBody {
  readonly revision: number
  readonly message: HandoffMessage
  readonly checkpoint?: object
}

const placeInMessage: Place = (pointer) => `/message${pointer}`

/** Reads `{ revision, agentState, constraints }` or `{ revision, message, checkpoint }`, whose outer form was checked. */
export function readRevision(request: FastifyRequest, keyRing: KeyRing): PostedRevision {
  const body = request.body as StateBody | MessageBody
  return 'message' in body ? ofMessage(body, keyRing) : ofState(body)
}

function ofState({ revision, agentState, constraints }: StateBody): PostedRevision {
  return {
    revision,
    place: placeInState,
    correct(base) {
      const { traceparent } = base
      const { toAgent } = readMessage(base.body)
      const { receiverContextWindowTokens: _, ...others } = constraints ?? {}
      const state = { ...agentState, traceparent }
      const built = () => buildHandoffMessage(state, toAgent.agentType, others)
      requireDeliverable(placed(placeInState, built), placeInState)
      return { agentState: state, ...(constraints === undefined ? {} : { constraints }) }
    },
  }
}

function ofMessage(
  { revision, message, checkpoint }: MessageBody,
  keyRing: KeyRing,
): PostedRevision {
  return {
    revision,
    place: placeInMessage,
    correct() {
      requireDeliverable(message, placeInMessage)
      placed(placeInMessage, () => requireSignature(message, keyRing))
      return { message, ...(checkpoint === undefined ? {} : { checkpoint }) }
    },
  }
}

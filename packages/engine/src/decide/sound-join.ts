// A join is built once its branches have ended, when nobody is left to be told what is wrong with it: so it is built once
// ahead, and whoever asks for it is told.
import { buildHandoff, ProtocolError } from '@baton/protocol'
import type { HandoffRequest } from '../prepare-handoff.ts'

const PLACES: Readonly<Record<string, string>> = {
  '/toAgent/agentType': '/join/to',
  '/toAgent/agentVersion': '/join/agentVersion',
}

/** The request, as it is stored. Throws BATON_HANDOFF_INVALID where no message can be built of it, with pointers below `/join`. */
export function soundJoin(request: HandoffRequest): string {
  const { agentState, targetAgentType, constraints } = request
  const { receiverContextWindowTokens: _, ...others } = constraints
  try {
    buildHandoff(agentState, targetAgentType, others)
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    const [first, ...rest] = error.details.map((detail) => ({
      ...detail,
      pointer: PLACES[detail.pointer] ?? `/join${detail.pointer}`,
    }))
    throw first === undefined ? error : new ProtocolError('BATON_HANDOFF_INVALID', [first, ...rest])
  }
  return JSON.stringify(request)
}

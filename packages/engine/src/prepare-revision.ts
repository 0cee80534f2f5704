// A sender's correction as the next revision of its handoff: other content, the same identity, target and trace.
import { parseTraceparent } from '@baton/protocol'
import type { AgentState, Checkpoint, HandoffConstraints, HandoffMessage } from '@baton/protocol'
import type { NewHandoff, Revision, RevisionBase } from '@baton/store'
import { permanent } from '@baton/runtime'
import { prepareHandoff, prepareSaved } from './prepare-handoff.ts'
import type { PrepareOptions } from './prepare-handoff.ts'

/**
 * What a sender gives to mend a returned handoff: the corrected agent state, from which the message is
 * built anew, or the corrected message. Constraints that are left out stay as they were asked for; a
 * checkpoint that is left out stays as it was saved.
 */
export type Correction =
  | { readonly agentState: AgentState; readonly constraints?: HandoffConstraints }
  | { readonly message: HandoffMessage; readonly checkpoint?: object }

/** The document a sender saved; see schemas/checkpoint/1.json. */
export const readCheckpoint = (bytes: Uint8Array): Checkpoint =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as Checkpoint

export const readMessage = (bytes: Uint8Array): HandoffMessage =>
  JSON.parse(Buffer.from(bytes).toString('utf8')) as HandoffMessage

/**
 * Builds and signs revision `revision` of a handoff through the same checks as a send (E09). Throws
 * BATON_REVISION_INVALID where it would be another handoff: task, parent, sender, target type,
 * priority, trace and a demand for approval are kept.
 */
export function prepareRevision(
  base: RevisionBase,
  correction: Correction,
  { revision, ...options }: PrepareOptions & { readonly revision: number },
): Revision {
  const standing = readMessage(base.body)
  const message =
    'message' in correction
      ? correctedMessage(base, correction, options)
      : rebuilt({ base, standing }, correction, options)
  refuseOtherHandoff(standing, message)
  return { revision, message }
}

function correctedMessage(
  base: RevisionBase,
  { message, checkpoint }: Extract<Correction, { message: unknown }>,
  options: PrepareOptions,
): NewHandoff {
  const given = parseTraceparent(message.traceparent)
  const kept = parseTraceparent(base.traceparent)
  if (given !== undefined && given.traceId !== kept?.traceId) throw other('/traceparent')
  const { state, request } = readCheckpoint(base.checkpoint)
  const saved =
    checkpoint === undefined
      ? { state, ...(request === undefined ? {} : { asked: JSON.stringify(request) }) }
      : { state: checkpoint }
  const prepared = prepareSaved(message, saved, options)
  return { ...prepared, addedCostMicroUSD: 0, requestSha256: prepared.sha256 }
}

interface Standing {
  readonly base: RevisionBase
  readonly standing: HandoffMessage
}

function rebuilt(
  { base, standing }: Standing,
  { agentState, constraints }: Extract<Correction, { agentState: unknown }>,
  options: PrepareOptions,
): NewHandoff {
  const { handoffId, parentHandoffId, toAgent } = standing
  const asked = readCheckpoint(base.checkpoint).request?.constraints as
    | HandoffConstraints
    | undefined
  return prepareHandoff(
    {
      agentState: { handoffId, parentHandoffId, ...agentState },
      targetAgentType: toAgent.agentType,
      constraints: constraints ?? asked ?? {},
    },
    { ...options, traceparent: base.traceparent },
  )
}

function refuseOtherHandoff(standing: HandoffMessage, revised: NewHandoff): void {
  const kept = [
    ['/handoffId', standing.handoffId, revised.handoffId],
    ['/taskId', standing.taskId, revised.taskId],
    ['/parentHandoffId', standing.parentHandoffId, revised.parentId],
    ['/fromAgent/agentId', standing.fromAgent.agentId, revised.fromAgent],
    ['/toAgent/agentType', standing.toAgent.agentType, revised.toAgent],
    ['/priority', standing.priority ?? 2, revised.priority],
  ] as const
  const changed = kept.find(([, before, after]) => before !== after)
  if (changed !== undefined) throw other(changed[0])
  if (standing.requiresApproval === true && !revised.requiresApproval)
    throw other('/requiresApproval')
}

const other = (pointer: string) =>
  permanent('BATON_REVISION_INVALID', `${pointer} is not the returned handoff's`, {
    fix: 'Correct what the details name and keep task, parent, sender, target, priority, trace and approval; or let it roll back and send a new handoff.',
  })

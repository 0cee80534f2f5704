// Another message to a task that waits for one: its last handoff goes out again with what the message adds, once.
import type { FastifyRequest } from 'fastify'
import { findAskedRequest, resumeTask } from '@baton/engine'
import type { ReturnParts } from '@baton/engine'
import { ProtocolError } from '@baton/protocol'
import type { JsonObject } from '@baton/protocol'
import { isTerminal, withMessage } from '@baton/protocol/dialects/a2a'
import type { AskedA2a, StoredTask } from '@baton/protocol/dialects/a2a'
import { codeOf } from '@baton/runtime'
import { addA2aMessage, findRefHandoff, takeExternalRef } from '@baton/store'
import { keyOf } from '../acting.ts'
import type { Sending } from '../dialect.ts'
import { placeInState } from '../message-pointer.ts'
import { requireOwnAgents } from '../own-agents.ts'
import { requireOwnPriority } from '../own-priority.ts'
import { codeForCaller, invalidHandoff } from '../problem.ts'
import type { AgentTypes } from './agent-types.ts'
import { invalidRequest, taskBusy, taskClosed } from './refusals.ts'
import { refOf } from './send-message.ts'

export interface ContinueParts extends Pick<Sending, 'bounded' | 'requireRoom'> {
  readonly returns: ReturnParts
  readonly agentTypes: AgentTypes
}

interface ToContinue {
  readonly request: FastifyRequest
  readonly message: JsonObject
  readonly asked: AskedA2a
  readonly task: StoredTask
}

/** Resolves once it is durable. The same message sent again changes nothing; a task that waits for none refuses it. */
export async function continueTask(parts: ContinueParts, given: ToContinue): Promise<void> {
  const { returns } = parts
  const { request, message, asked, task } = given
  const key = keyOf(request)
  const { operator, tenant } = key
  // What a message goes on with does not say what it is: whoever sends it again finds another handoff there.
  const ref = refOf(message, { operator, messageId: asked.messageId, sender: '', recipient: '' })
  const isKnown = async () => (await findRefHandoff(returns.pool, { ...ref, tenant })) !== undefined
  if (await isKnown()) return
  if (isTerminal(task.state)) throw taskClosed(task.state)
  if (task.state !== 'TASK_STATE_INPUT_REQUIRED') throw taskBusy(task.state)
  requireOnlyContent(asked)
  const before = await findAskedRequest(returns.pool, task.handoffId)
  if (before === undefined) throw READY_MADE
  const { targetAgentType, constraints } = before
  const { agentId } = before.agentState.agent
  requireOwnAgents(key, agentId)
  requireOwnPriority(key, constraints.priority)
  const { taskId, contextId, handoffId } = task
  const known = await parts.agentTypes.find(targetAgentType, tenant)
  const making = { contextId, requires: known?.requires ?? [] }
  const agentState = withMessage(before.agentState, asked, making)
  const isRepeated = await parts.bounded(async () => {
    const { priority = 2 } = constraints
    await parts.requireRoom({ agentType: targetAgentType, priority, tenant })
    const sent = await refusing(() =>
      resumeTask(returns, {
        taskId,
        handoffId,
        change: { agentState },
        actor: operator,
        sentBy: operator,
        async within(transaction, handoff) {
          const to = { sender: agentId, recipient: targetAgentType }
          const taken = { ...ref, ...to, handoffId: handoff.handoffId, tenant }
          await takeExternalRef(transaction, taken)
          await addA2aMessage(transaction, {
            taskId,
            tenant,
            contextId,
            handoffId: handoff.handoffId,
            messageId: asked.messageId,
          })
        },
      }),
    )
    return sent.duplicate
  })
  // Another message was faster; or the same one, sent twice at once.
  if (isRepeated && !(await isKnown())) throw taskBusy('TASK_STATE_SUBMITTED')
}

async function refusing<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ProtocolError)
      throw invalidHandoff(codeForCaller(error.code), error.details, placeInState)
    const code = codeOf(error)
    if (code === 'BATON_TASK_ENDED') throw taskClosed('ended')
    if (code === 'BATON_NOTHING_TO_RESUME') throw taskBusy('not to be gone on with')
    throw error
  }
}

/** What was asked of its delivery stays as it was: a further message may only say whose data it holds. */
function requireOnlyContent({ options, handoff }: AskedA2a): void {
  const { dataSubjects: _, ...others } = options
  if (handoff === undefined && Object.keys(others).length === 0) return
  throw invalidRequest(
    '/message',
    'a message to a task that waits for one holds a whole handoff, or asks for another delivery',
    'Send text and data alone; of the extension only dataSubjects.',
  )
}

const READY_MADE = invalidRequest(
  '/message/taskId',
  'the handoff that waits came as a ready message of its sender, which nobody else can build anew',
  'Have its sender correct it, or resume it by POST /v2/tasks/{id}/resume.',
)

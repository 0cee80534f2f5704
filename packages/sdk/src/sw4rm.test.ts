// An agent of SW4RM behind Baton: its hooks are called in order with its own context, and its answers count.
import type { AgentContext, AgentResult } from '@baton/engine'
import { buildHandoffMessage } from '@baton/protocol'
import type { JsonObject } from '@baton/protocol'
import { expect, it } from 'vitest'
import type { Sender } from './sender.ts'
import {
  answerRequest,
  contextFrom,
  contextOf,
  defineSw4rmAgent,
  fromHandoff,
  handoffRequest,
  requestHandoff,
  serializeContext,
} from './sw4rm.ts'
import type { HandoffHooks, HandoffRequest } from './sw4rm.ts'

const RESULT = { state: {}, costUSD: 0, tokens: { prompt: 0, completion: 0 }, next: [] }
const snapshot = serializeContext(
  contextFrom({
    conversation_history: [{ role: 'user', content: 'Review it' }],
    tool_state: { configurations: { database: { password: 'hunter2' } } },
    metadata: { agent_id: 'general-1' },
  }),
)
const request = handoffRequest({
  requestId: 'req-1',
  fromAgent: 'general-1',
  toAgent: 'specialist-1',
  reason: 'needs a review',
  contextSnapshot: snapshot,
  capabilitiesRequired: ['review'],
})

/** A specialist as the text shows one. */
class Specialist implements HandoffHooks {
  readonly seen: string[]
  readonly state: string
  history: JsonObject = {}
  constructor(seen: string[], state = 'RUNNABLE') {
    this.seen = seen
    this.state = state
  }
  onHandoffRequest(asked: HandoffRequest) {
    this.seen.push(`request ${asked.requestId} ${asked.reason}`)
    return answerRequest(asked, { capabilities: ['review'], state: this.state })
  }
  onHandoffReceived(context: JsonObject) {
    this.seen.push('received')
    this.history = context
  }
}

const agentOf = (create: () => Specialist) =>
  defineSw4rmAgent({
    type: 'specialist-1',
    version: '1.0.0',
    capabilities: ['review'],
    create,
    work: async (agent): Promise<AgentResult> => ({
      ...RESULT,
      subtask: { subtaskId: 'review', description: 'Reviewed', result: agent.history },
    }),
  })

async function handed(asked: HandoffRequest): Promise<AgentContext> {
  const sent: Parameters<Sender['send']>[] = []
  const send = async (...given: Parameters<Sender['send']>) => {
    sent.push(given)
    return {
      handoffId: given[0].handoffId,
      taskId: '',
      taskSeq: 1,
      state: '',
      duplicate: false,
      traceparent: '',
    } as Awaited<ReturnType<Sender['send']>>
  }
  expect(await requestHandoff({ send }, asked)).toMatchObject({ accepted: true, status: 'PENDING' })
  const [state, type = '', constraints] = sent[0] ?? []
  const message = buildHandoffMessage(state as never, type, constraints)
  return { message } as AgentContext
}

it('W09 calls the hooks in order, with the context as it was sent', async () => {
  const seen: string[] = []
  const result = await agentOf(() => new Specialist(seen)).execute(await handed(request))
  expect(seen).toEqual(['request req-1 needs a review', 'received'])
  expect(result.subtask.result).toEqual(JSON.parse(Buffer.from(snapshot).toString()))
})

it('W09 W10 keeps what is declined from the agent, and tries a busy one again', async () => {
  const seen: string[] = []
  const busy = agentOf(() => new Specialist(seen, 'RUNNING')).execute(await handed(request))
  await expect(busy).rejects.toMatchObject({ code: 'BATON_SW4RM_BUSY', kind: 'transient' })
  const lacking = { ...request, capabilitiesRequired: ['fly'] }
  const declined = agentOf(() => new Specialist(seen)).execute(await handed(lacking))
  await expect(declined).rejects.toMatchObject({ code: 'BATON_SW4RM_DECLINED', kind: 'permanent' })
  expect(seen).not.toContain('received')
})

it('W01 W05 exports any handoff as the bytes of a context, and as a request', async () => {
  const { message } = await handed({ ...request, contextSnapshot: null })
  expect(Buffer.from(serializeContext(contextOf(message))).toString()).toBe(
    JSON.stringify({
      conversation_history: [],
      tool_state: message.currentState,
      metadata: {
        agent_id: 'general-1',
        task_id: message.taskId,
        handoff_id: message.handoffId,
        traceparent: message.traceparent,
        cost_spent_usd: 0,
        cost_remaining_usd: 1,
      },
    }),
  )
  expect(fromHandoff(message)).toMatchObject({ requestId: 'req-1', reason: 'needs a review' })
})

it('W02 W17 sends nothing that cannot be read', async () => {
  const send = () => expect.unreachable('nothing is sent')
  const odd = { ...request, contextSnapshot: Buffer.from('{}') }
  await expect(requestHandoff({ send }, odd)).rejects.toMatchObject({ code: 'BATON_SW4RM_INVALID' })
})

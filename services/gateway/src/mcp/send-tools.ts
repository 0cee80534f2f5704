// Tools that send: a message of the Handoffs API, as its tool of that name takes it, and what an agent knows at the end of its execution.
import { ref } from '../operation.ts'
import { MESSAGE_REQUESTS } from '../handoffs-api/schema.ts'
import { STATE_SUBMISSION } from '../submission-schema.ts'
import { boundedHandoff } from './read-tools.ts'
import type { Handoff } from './read-tools.ts'
import { UNTRUSTED } from './shown.ts'
import { ADDS, tool } from './tool.ts'

const IDEMPOTENCY_KEY = {
  idempotencyKey: {
    type: 'string',
    pattern: '^[\\x21\\x23-\\x2b\\x2d-\\x3a\\x3c-\\x5b\\x5d-\\x7e]{1,255}$',
    description:
      'Of your choice, one for each handoff that you mean to send: the same call with the same key sends nothing twice and gets the first answer.',
  },
}

interface Once {
  readonly idempotencyKey?: string | undefined
}

const onceHeaders = ({ idempotencyKey }: Once): Readonly<Record<string, string>> =>
  idempotencyKey === undefined ? {} : { 'idempotency-key': `"${idempotencyKey}"` }

const { HandoffsApiCreate: CREATE } = MESSAGE_REQUESTS

const sendHandoff = tool<Once & { readonly toProfileId: string }>({
  name: 'send_handoff',
  title: 'Send a handoff',
  description:
    'Hand work over to another agent in words: a subject and a body. It is durable when this answers, and delivered, checked and recorded afterwards; get_handoff with its id says what became of it. Profiles are agent types (list_agents), or those the operator named.',
  scope: 'handoffs:send',
  annotations: ADDS,
  inputSchema: {
    ...CREATE,
    properties: {
      ...CREATE.properties,
      fromProfileId: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: 'As which agent you send.',
      },
      toProfileId: {
        type: 'string',
        minLength: 1,
        maxLength: 256,
        description: 'The agent that shall do it.',
      },
      ...IDEMPOTENCY_KEY,
    },
  },
  outputSchema: { allOf: [ref('HandoffsApiMessage')], type: 'object' },
  async run({ idempotencyKey, ...body }, call) {
    const headers = onceHeaders({ idempotencyKey })
    const sent = (await call({ method: 'POST', path: '/api/handoffs', body, headers })) as {
      readonly id: string
      readonly status: string
    }
    return {
      data: sent,
      text: `Sent to ${body.toProfileId} as handoff ${sent.id}; it is ${sent.status}. get_handoff says what becomes of it.`,
    }
  },
})

interface SendState extends Once {
  readonly wait?: boolean
  readonly targetAgentType: string
}

const sendAgentState = tool<SendState>({
  name: 'send_agent_state',
  title: 'Send an agent’s state',
  description:
    'Hand a task on with everything the next agent needs: what was completed, what remains, the current state, the conversation, cost and budget. Without taskDescription and completedSubtasks it is the first handoff of a task. With `wait` the receiver is called at once and the answer says the outcome where it is known in time.',
  scope: 'handoffs:send',
  annotations: ADDS,
  inputSchema: {
    ...STATE_SUBMISSION,
    properties: {
      ...STATE_SUBMISSION.properties,
      wait: {
        type: 'boolean',
        description: 'Wait some seconds for the outcome; false by default.',
      },
      ...IDEMPOTENCY_KEY,
    },
  },
  outputSchema: { allOf: [ref('Sent')], type: 'object', properties: UNTRUSTED },
  async run({ idempotencyKey, wait = false, ...body }, call) {
    const sent = (await call({
      method: 'POST',
      path: `/v2/handoffs${wait ? '?mode=sync' : ''}`,
      body,
      headers: onceHeaders({ idempotencyKey }),
    })) as { readonly handoffId: string; readonly handoff?: Handoff }
    const { handoffId, handoff } = sent
    const stands = handoff === undefined ? 'it is durable' : `it is ${handoff.state}`
    return {
      data: handoff === undefined ? sent : { ...sent, handoff: boundedHandoff(handoff) },
      ...(handoff && { untrusted: ['/handoff/result', '/handoff/details'] }),
      text: `Sent to ${body.targetAgentType} as handoff ${handoffId}; ${stands}. get_handoff says what becomes of it.`,
    }
  },
})

export const SEND_TOOLS = [sendHandoff, sendAgentState]

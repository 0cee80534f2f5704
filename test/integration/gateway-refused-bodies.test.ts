// Every body that is refused: the pointer leads to what is wrong, and not one row is left behind.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { buildHandoffMessage } from '@baton/sdk'
import type { AgentState } from '@baton/sdk'
import { countRows, expectProblem, openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

let fixture: GatewayFixture
beforeAll(async () => {
  fixture = await openGateway()
})
afterAll(() => fixture.close())

interface Problem {
  readonly status: number
  readonly code: string
  readonly pointer?: string
}

const message = (changes: object = {}) => ({
  ...buildHandoffMessage(
    stateBody({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
      .agentState as unknown as AgentState,
    'clause-extraction',
  ),
  ...changes,
})
const cost = (changes: object) => ({ cost: { ...stateBody().agentState.cost, ...changes } })
const subtask = { subtaskId: 'same', description: 'twice' }

const REFUSED: readonly (readonly [name: string, body: unknown, problem: Problem])[] = [
  ['text that is not JSON', '{"agentState": ', { status: 400, code: 'BATON_JSON_INVALID' }],
  ['an empty body', '', { status: 400, code: 'BATON_JSON_INVALID' }],
  [
    'bytes that are not UTF-8',
    Buffer.from([0x22, 0xff, 0x22]),
    { status: 400, code: 'BATON_JSON_INVALID', pointer: '' },
  ],
  [
    'a duplicate key',
    '{"agentState":{"taskId":"a","taskId":"b"}}',
    { status: 400, code: 'BATON_JSON_INVALID', pointer: '/agentState/taskId' },
  ],
  [
    'a __proto__ key',
    '{"agentState":{"__proto__":{}}}',
    { status: 400, code: 'BATON_JSON_INVALID' },
  ],
  [
    'a lone surrogate',
    String.raw`{"targetAgentType":"\ud800"}`,
    { status: 400, code: 'BATON_JSON_INVALID', pointer: '/targetAgentType' },
  ],
  ['nesting without end', '['.repeat(100_000), { status: 400, code: 'BATON_JSON_INVALID' }],
  ['a list', [], { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '' }],
  ['null', null, { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '' }],
  ['nothing in it', {}, { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/agentState' }],
  [
    'an unknown field',
    stateBody({}, { mode: 'x' }),
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/mode' },
  ],
  [
    'an unknown field of the state',
    stateBody({ taskID: 'x' }),
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/agentState/taskID' },
  ],
  [
    'a missing field of the state',
    stateBody({ cost: undefined }),
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/agentState/cost' },
  ],
  [
    'a wrong type',
    stateBody({ completedSubtasks: 'none' }),
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/agentState/completedSubtasks' },
  ],
  [
    'a task id that is no UUID',
    stateBody({ taskId: 'task-1' }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/agentState/taskId' },
  ],
  [
    'a wrong agent version',
    stateBody({ agent: { agentId: 'a', agentVersion: 'one' } }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/agentState/agent/agentVersion' },
  ],
  [
    'a wrong version range',
    stateBody({}, { constraints: { agentVersion: 'newest' } }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/constraints/agentVersion' },
  ],
  [
    'a wrong priority',
    stateBody({}, { constraints: { priority: 4 } }),
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/constraints/priority' },
  ],
  [
    'a wrong deadline',
    stateBody({}, { constraints: { deadline: 'soon' } }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/constraints/deadline' },
  ],
  [
    'a time zone that does not exist',
    stateBody({}, { constraints: { expiresAt: '2030-01-01T00:00:00+23:00' } }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/constraints/expiresAt' },
  ],
  [
    'a tracestate with a NUL',
    stateBody({ tracestate: 'a=\u0000' }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/agentState/tracestate' },
  ],
  [
    'a target without a name',
    stateBody({}, { targetAgentType: '' }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/targetAgentType' },
  ],
  [
    'a broken traceparent of its own',
    stateBody({ traceparent: '00-0-0-00' }),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/agentState/traceparent' },
  ],
  [
    'one subtask twice',
    stateBody({ remainingSubtasks: [subtask, subtask] }),
    {
      status: 422,
      code: 'BATON_HANDOFF_INVALID',
      pointer: '/agentState/remainingSubtasks/1/subtaskId',
    },
  ],
  [
    'a negative cost',
    stateBody(cost({ ownCostUSD: -1 })),
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/agentState/cost/ownCostUSD' },
  ],
  [
    'a budget below zero',
    stateBody(cost({ budgetRemainingUSD: -5 })),
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/agentState/cost/budgetRemainingUSD' },
  ],
  [
    'personal data of nobody in particular',
    stateBody({
      personalData: { dataSubjects: ['s1', 's2'], payload: { '/currentState/name': 'x' } },
    }),
    { status: 422, code: 'BATON_PERSONAL_DATA_AMBIGUOUS' },
  ],
  [
    'more people than one record can be of',
    stateBody({
      personalData: {
        dataSubjects: Array.from({ length: 257 }, (_, nth) => `person-${nth}`),
        payload: {},
      },
    }),
    { status: 422, code: 'BATON_SUBJECTS_TOO_MANY' },
  ],
  [
    'a message without a checkpoint',
    { message: message() },
    { status: 422, code: 'BATON_CHECKPOINT_MISSING', pointer: '/checkpoint' },
  ],
  [
    'a checkpoint that is text',
    { message: message(), checkpoint: 'x' },
    { status: 422, code: 'BATON_REQUEST_INVALID', pointer: '/checkpoint' },
  ],
  [
    'a message with a wrong field',
    { message: message({ taskId: 7 }), checkpoint: {} },
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/message/taskId' },
  ],
  [
    'a message of another major version',
    { message: message({ schemaVersion: '3.0' }), checkpoint: {} },
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/message/schemaVersion' },
  ],
  [
    'a message with a wrong range',
    { message: message({ toAgent: { agentType: 'a', agentVersion: '>>1' } }), checkpoint: {} },
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/message/toAgent/agentVersion' },
  ],
  [
    'a message over 1 MiB',
    {
      message: message({
        currentState: { a: Array.from({ length: 5 }, () => 'x'.repeat(209_700)) },
      }),
      checkpoint: {},
    },
    { status: 422, code: 'BATON_HANDOFF_INVALID', pointer: '/message' },
  ],
  ['a body over the limit', 'x'.repeat(1_200_000), { status: 413, code: 'BATON_BODY_TOO_LARGE' }],
]

describe('a body is refused whole:', () => {
  it.each(REFUSED)('%s', async (_, body, problem) => {
    const before = await countRows(fixture.pool)
    const headers = { 'idempotency-key': randomUUID() }
    const response = await post(fixture.gateway, body, { headers })
    expect({ status: response.statusCode, ...response.json() }).toMatchObject(problem)
    expectProblem(response)
    expect(await countRows(fixture.pool)).toEqual(before)
  })
})

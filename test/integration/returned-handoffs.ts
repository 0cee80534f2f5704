// Handoffs that came back to a sender who speaks HTTP, for the tests of what it does about them.
import { randomUUID } from 'node:crypto'
import { createApiKey } from '@baton/gateway'
import { endHandoffs, retryHandoffs } from '@baton/store'
import type { Ending } from '@baton/store'
import { expect } from 'vitest'
import { claim, outboxEventOf } from '../contract/store-fixture.ts'
import { openGateway, post, stateBody } from './gateway-fixture.ts'
import type { GatewayFixture } from './gateway-fixture.ts'

export const people = {
  returner: createApiKey({ scopes: 'handoffs:return', operator: 'ann' }),
  another: createApiKey({ scopes: 'handoffs:return', operator: 'ben' }),
  resumer: createApiKey({ scopes: 'tasks:resume', operator: 'cleo' }),
  both: createApiKey({ scopes: 'tasks:resume+handoffs:send', operator: 'dora' }),
  reviewer: createApiKey({ scopes: 'dead-letters:review', operator: 'eve' }),
}

export type Key = keyof typeof people

export interface SentCase {
  readonly agentId: string
  readonly handoffId: string
  readonly taskId: string
  readonly agentState: ReturnType<typeof stateBody>['agentState']
}

/** A gateway that knows these people, and what a sender does there. */
export async function openReturns() {
  const fixture = await openGateway(people)
  const { pool } = fixture
  return {
    fixture,
    call: (path: string, body: unknown, key: Key = 'returner') =>
      callAs(fixture, { path, body, key }),
    send: (changes: object = {}, rest: object = {}) => send(fixture, changes, rest),
    returnToSender: (of: SentCase) => returnToSender(fixture, of),
    rollBack: (of: SentCase) => rollBack(fixture, of),
    quarantine: (of: SentCase) => quarantine(fixture, of),
    async returned(): Promise<SentCase> {
      const sent = await send(fixture, {}, {})
      await returnToSender(fixture, sent)
      return sent
    },
    async take({ agentId }: SentCase, key: Key = 'returner') {
      const response = await callAs(fixture, {
        path: '/v2/returns/take',
        body: { agents: [agentId] },
        key,
      })
      expect(response.statusCode).toBe(200)
      return response.json().notices
    },
    pool,
  }
}

export type Returning = Awaited<ReturnType<typeof openReturns>>

function callAs(
  { gateway }: GatewayFixture,
  { path, body, key }: { readonly path: string; readonly body: unknown; readonly key: Key },
) {
  return gateway.server.inject({
    method: 'POST',
    url: path,
    headers: { authorization: `Bearer ${people[key].key}`, 'content-type': 'application/json' },
    payload: JSON.stringify(body),
  })
}

// As an agent of its own, so that tests do not take each other's notices.
async function send({ gateway }: GatewayFixture, changes: object, rest: object): Promise<SentCase> {
  const agentId = `agent-${randomUUID().slice(0, 8)}`
  const body = stateBody({ agent: { agentId, agentVersion: '1.0.0' }, ...changes }, rest)
  const response = await post(gateway, body)
  expect(response.statusCode).toBe(202)
  const { handoffId, taskId } = response.json()
  return { agentId, handoffId, taskId, agentState: { ...body.agentState, handoffId } as never }
}

async function returnToSender({ pool }: GatewayFixture, { handoffId }: SentCase): Promise<void> {
  const { fencingToken } = await claim(pool, { handoffId })
  const details = JSON.stringify([{ pointer: '/currentState/x', rule: 'required', fix: 'Add it.' }])
  const reason = 'INCOMPLETE_CONTEXT'
  const change = { handoffId, fencingToken, reason, details, delayMs: 3_600_000, returned: true }
  await retryHandoffs(pool, [change], [outboxEventOf(handoffId)])
}

const rollBack = (fixture: GatewayFixture, of: SentCase): Promise<void> =>
  end(fixture, of, { state: 'ROLLED_BACK', taskStatus: 'PENDING_HANDOFF' })

const quarantine = (fixture: GatewayFixture, of: SentCase): Promise<void> =>
  end(fixture, of, { state: 'DEAD_LETTERED', taskStatus: 'AWAITING_HUMAN' })

async function end(
  { pool }: GatewayFixture,
  { handoffId }: SentCase,
  as: Pick<Ending, 'state' | 'taskStatus'>,
): Promise<void> {
  const { fencingToken } = await claim(pool, { handoffId })
  const ending: Ending = {
    handoffId,
    fencingToken,
    ...as,
    reason: 'BATON_AGENT_FAILED',
    details: '[]',
    costMicroUSD: 0,
    alert: true,
    escalate: as.state === 'ROLLED_BACK',
  }
  await endHandoffs(pool, [ending], [outboxEventOf(handoffId)])
}

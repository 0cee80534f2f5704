// E09 over HTTP: a sender in any language takes what was refused, and corrects it.
import { randomUUID } from 'node:crypto'
import { findTaskCheckpoint, storeInvariants, sweepRetries } from '@baton/store'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { claim } from '../contract/store-fixture.ts'
import { expectProblem, get } from './gateway-fixture.ts'
import { openReturns } from './returned-handoffs.ts'
import type { Key, Returning, SentCase } from './returned-handoffs.ts'

let returning: Returning
beforeAll(async () => {
  returning = await openReturns()
})
afterAll(() => returning.fixture.close())

const correction = ({ agentState }: SentCase, changes: object = {}) => ({
  revision: 2,
  agentState: { ...agentState, currentState: { document: 'licence', x: 1 }, ...changes },
})
const revise = (of: SentCase, body: object, key: Key = 'returner') =>
  returning.call(`/v2/handoffs/${of.handoffId}/revisions`, body, key)

describe('taking returns', () => {
  it('answers reason, places, attempt and the message, once', async () => {
    const of = await returning.returned()
    expect(await returning.take(of)).toMatchObject([
      {
        kind: 'return',
        handoffId: of.handoffId,
        taskId: of.taskId,
        attempt: 1,
        attemptsMax: 3,
        revision: 1,
        reason: 'INCOMPLETE_CONTEXT',
        details: [{ pointer: '/currentState/x', fix: 'Add it.' }],
        message: {
          handoffId: of.handoffId,
          currentState: { document: 'licence' },
          signature: expect.stringMatching(/^hmac-sha256:/),
        },
        retryAt: expect.any(String),
        links: { checkpoint: `/v2/tasks/${of.taskId}/checkpoint` },
      },
    ])
    expect(await returning.take(of, 'another')).toEqual([])
  })

  it('is acknowledged only by the key that took it, any number of times', async () => {
    const of = await returning.returned()
    const [{ noticeId }] = await returning.take(of)
    const path = `/v2/returns/${noticeId}/acknowledge`
    const foreign = await returning.call(path, {}, 'another')
    expect(foreign.statusCode).toBe(404)
    expectProblem(foreign)
    for (const _ of [1, 2]) expect((await returning.call(path, {})).statusCode).toBe(200)
    await sweepRetries(returning.pool)
    await claim(returning.pool, of, { publishAttempt: 3 })
  })

  it.each([
    ['nothing', {}],
    ['no agents', { agents: [] }],
    ['agents that are none', { agents: [7] }],
    ['a thousand agents', { agents: Array.from({ length: 1_000 }, () => 'a') }],
    ['too many at once', { agents: ['a'], limit: 21 }],
    ['another kind', { agents: ['a'], kinds: ['all'] }],
    ['an unknown member', { agents: ['a'], taker: 'me' }],
    ['an agent whose name no database stores', { agents: ['a\u0000'] }],
    ['a list', [{ agents: ['a'] }]],
  ])('refuses %s', async (_, body) => {
    const response = await returning.call('/v2/returns/take', body)
    expect(response.statusCode).toBe(422)
    expectProblem(response)
  })
})

describe('correcting', () => {
  it('becomes revision 2 of the same handoff, named to whoever looks, and is idempotent', async () => {
    const of = await returning.returned()
    const [first, again] = [await revise(of, correction(of)), await revise(of, correction(of))]
    expect([first.statusCode, again.statusCode]).toEqual([202, 202])
    expect(first.json()).toEqual({
      handoffId: of.handoffId,
      revision: 2,
      state: 'QUEUED',
      repeated: false,
    })
    expect(again.json()).toMatchObject({ repeated: true })
    expect(
      (await get(returning.fixture.gateway, `/v2/handoffs/${of.handoffId}`)).json(),
    ).toMatchObject({
      revision: 2,
      state: 'QUEUED',
      reason: null,
      returns: [{ attempt: 1, reason: 'INCOMPLETE_CONTEXT' }],
    })
    const claimed = await claim(returning.pool, of, { publishAttempt: 2 })
    expect(JSON.parse(Buffer.from(claimed.body).toString())).toMatchObject({
      handoffId: of.handoffId,
      currentState: { x: 1 },
    })
    expect(claimed.sentBy).toBe('ann')
  })

  it('takes a corrected message as well, and keeps the checkpoint that was saved', async () => {
    const of = await returning.returned()
    const [{ message }] = await returning.take(of)
    const { signature: _, signatureKeyId: _key, ...unsigned } = message
    const corrected = { ...unsigned, currentState: { document: 'licence', x: 2 } }
    expect((await revise(of, { revision: 2, message: corrected })).statusCode).toBe(202)
    const saved = await findTaskCheckpoint(returning.pool, of.taskId)
    expect(JSON.parse(saved?.body.toString() ?? '{}').request.agentState.currentState).toEqual({
      document: 'licence',
    })
  })

  it('commits its event with the operator who answers for it', async () => {
    const of = await returning.returned()
    await revise(of, correction(of))
    const { rows } = await returning.pool.query<{ entry: string }>({
      text: 'select entry from audit_outbox where handoff_id = $1 order by created_at desc limit 1',
      values: [of.handoffId],
    })
    expect(JSON.parse(rows[0]?.entry ?? '{}')).toMatchObject({
      event: 'HANDOFF_REVISED',
      act: { actor: 'ann' },
    })
  })

  const anotherTask = randomUUID()
  it.each([
    ['another task', { taskId: anotherTask }, 'BATON_REVISION_INVALID'],
    ['another handoff', { handoffId: randomUUID() }, 'BATON_REVISION_INVALID'],
    ['another parent', { parentHandoffId: randomUUID() }, 'BATON_REVISION_INVALID'],
    [
      'another sender',
      { agent: { agentId: 'somebody-else', agentVersion: '1.0.0' } },
      'BATON_REVISION_INVALID',
    ],
  ])('refuses %s', async (_, changes, code) => {
    const of = await returning.returned()
    const response = await revise(of, correction(of, changes))
    expect(response.statusCode).toBe(422)
    expectProblem(response)
    expect(response.json().code).toBe(code)
  })

  it('refuses a budget that is not the task’s, and more remaining than before', async () => {
    const of = await returning.returned()
    for (const [spentSoFarUSD, budgetRemainingUSD] of [
      [0.05, 5],
      [0, 0.4],
    ]) {
      const cost = { ...of.agentState.cost, spentSoFarUSD, budgetRemainingUSD }
      const response = await revise(of, correction(of, { cost }))
      expect(response.json().code).toBe('BATON_BUDGET_MISMATCH')
      expectProblem(response)
    }
  })

  it('refuses to leave less over than a handoff has that names it as its parent', async () => {
    const of = await returning.returned()
    const { cost } = of.agentState
    const shown = await get(returning.fixture.gateway, `/v2/handoffs/${of.handoffId}`)
    const { traceparent } = shown.json()
    await returning.send({ taskId: of.taskId, parentHandoffId: of.handoffId, cost, traceparent })
    const dearer = {
      ...cost,
      spentSoFarUSD: cost.spentSoFarUSD + 0.01,
      budgetRemainingUSD: cost.budgetRemainingUSD - 0.01,
    }
    const refused = await revise(of, correction(of, { cost: dearer }))
    expect([refused.statusCode, refused.json().code]).toEqual([422, 'BATON_BUDGET_MISMATCH'])
    const invariants = storeInvariants(returning.pool)
    for (const { rule, check } of invariants.filter(({ promise }) => promise === 'I8')) {
      expect([rule, await check()]).toEqual([rule, []])
    }
    expect((await revise(of, correction(of, { cost }))).statusCode).toBe(202)
  })

  it('never drops a demand for approval', async () => {
    const of = await returning.send({}, { constraints: { requiresApproval: true } })
    await returning.pool.query({
      text: `update handoff set state = 'QUEUED' where id = $1`,
      values: [of.handoffId],
    })
    await returning.returnToSender(of)
    const dropped = await revise(of, { ...correction(of), constraints: {} })
    expect(dropped.json().code).toBe('BATON_REVISION_INVALID')
    expect((await revise(of, correction(of))).json()).toMatchObject({ state: 'AWAITING_APPROVAL' })
  })

  it('says what stands in its way: a later revision, a running attempt, nothing returned', async () => {
    const of = await returning.returned()
    const stale = await revise(of, { ...correction(of), revision: 3 })
    expect([stale.statusCode, stale.json().code]).toEqual([409, 'BATON_REVISION_CONFLICT'])
    await claim(returning.pool, of)
    const running = await revise(of, correction(of))
    expect([running.statusCode, running.json().code]).toEqual([409, 'BATON_HANDOFF_CLAIMED'])
    const never = await returning.send()
    const open = await revise(never, correction(never))
    expect([open.statusCode, open.json().code]).toEqual([409, 'BATON_HANDOFF_NOT_RETURNED'])
    const nobody = { ...of, handoffId: randomUUID() }
    expect((await revise(nobody, correction(of))).json().code).toBe('BATON_HANDOFF_UNKNOWN')
  })

  it('points into the posted body where the correction is no handoff', async () => {
    const of = await returning.returned()
    const response = await revise(of, correction(of, { taskDescription: '' }))
    expect(response.statusCode).toBe(422)
    expect(response.json().pointer).toBe('/agentState/taskDescription')
  })
})

// Agents in any language: claim, heartbeat and settle over HTTP, with Redis and without.
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findTask } from '@baton/store'
import { acquireRedis, eventually } from '@baton/testkit'
import { LEASE_MS, openPullWorld, pullKeys } from './pull-fixture.ts'
import type { Claimed, PullWorld } from './pull-fixture.ts'

const redis = await acquireRedis()
const QUEUES = ['in-process', 'redis'] as const

describe.each(QUEUES)('an agent that pulls, with the queue %s', (queue) => {
  let world: PullWorld
  beforeAll(async () => {
    const url = 'url' in redis ? redis.url : undefined
    if (queue === 'redis' && url === undefined) throw new Error('this needs a Redis')
    world = await openPullWorld(`pull ${queue}`, queue === 'redis' ? url : undefined)
  })
  afterAll(() => world.close())

  const only = (claimed: readonly Claimed[]): Claimed => {
    expect(claimed).toHaveLength(1)
    return claimed[0] as Claimed
  }
  const take = async (type: string): Promise<Claimed> => only(await world.claim(type))

  it('waits for work, is given it with its decision on record, and commits its result once', async () => {
    const asking = world.claim('summarise')
    const { handoffId, taskId } = await world.send('summarise')
    const one = only(await asking)
    expect(one).toMatchObject({
      handoffId,
      taskId,
      attempt: 1,
      leaseMs: LEASE_MS,
      idempotencyKey: handoffId,
    })
    expect(one.context).toContain('something to work on')
    expect((await world.reaches(handoffId, 'EXECUTING')).acceptedAt).not.toBeNull()
    const done = { outcome: 'complete', result: { lines: 3 }, costUSD: 0.01 }
    expect(await world.settle(one, done)).toMatchObject({ settled: true, state: 'COMPLETED' })
    expect(await world.settle(one, done)).toMatchObject({
      settled: true,
      state: 'COMPLETED',
      repeated: true,
    })
    expect(await findTask(world.pool, taskId)).toMatchObject({
      status: 'COMPLETED',
      spentMicroUSD: 60_000,
      result: { lines: 3 },
    })
    expect(await world.claim('summarise', { waitMs: 0 })).toEqual([])
  })

  it('hands on within one trace', async () => {
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
    const { taskId } = await world.send('intake', { state: { traceparent } })
    const one = await take('intake')
    const next = [{ to: 'scoring', taskDescription: 'score it' }]
    await world.settle(one, { outcome: 'complete', state: { text: 'a', score: null }, next })
    const second = await take('scoring')
    expect(second.taskId).toBe(taskId)
    expect(second.message).toMatchObject({
      parentHandoffId: one.handoffId,
      currentState: { score: null },
    })
    expect(second.traceparent.split('-')[1]).toBe(traceparent.split('-')[1])
    await world.settle(second, { outcome: 'complete' })
    expect((await findTask(world.pool, taskId))?.status).toBe('COMPLETED')
  })

  it('leaves the rest of a part to whoever claims next', async () => {
    const { handoffId, taskId } = await world.send('pages')
    const remaining = [{ subtaskId: 'page-2', description: 'the second page' }]
    const one = await take('pages')
    expect(await world.settle(one, { outcome: 'partial', remaining, result: 1 })).toMatchObject({
      state: 'PARTIAL',
    })
    const rest = await take('pages')
    expect(rest.message).toMatchObject({ parentHandoffId: handoffId, remainingSubtasks: remaining })
    await world.settle(rest, { outcome: 'complete', result: 2 })
    expect(await findTask(world.pool, taskId)).toMatchObject({ status: 'COMPLETED', result: 2 })
  })

  it('fails with a retry, then for good; declines; is blocked', async () => {
    const { handoffId, taskId } = await world.send('flaky')
    expect(
      await world.settle(await take('flaky'), { outcome: 'fail', code: 'MODEL_BUSY', retry: true }),
    ).toMatchObject({ state: 'QUEUED' })
    const again = await take('flaky')
    expect(again).toMatchObject({ handoffId, attempt: 2, idempotencyKey: handoffId })
    expect(again.fencingToken).toBeGreaterThan(1)
    expect(await world.settle(again, { outcome: 'fail', code: 'MODEL_GONE' })).toMatchObject({
      state: 'ROLLED_BACK',
    })
    expect(await world.reaches(handoffId, 'ROLLED_BACK')).toMatchObject({ reason: 'MODEL_GONE' })
    expect((await findTask(world.pool, taskId))?.status).toBe('PENDING_HANDOFF')

    const declined = await world.send('picky')
    expect(
      await world.settle(await take('picky'), { outcome: 'reject', code: 'NOT_MY_JOB' }),
    ).toMatchObject({ state: 'REJECTED' })
    expect(await world.reaches(declined.handoffId, 'REJECTED')).toMatchObject({
      reason: 'DECLINED',
      details: [{ message: 'NOT_MY_JOB' }],
    })

    const browser = { capabilities: ['browser'] }
    const blocked = await world.send('bare', { constraints: { requirements: browser } })
    const equipped = { agent: { type: 'equipped', version: '1.0.0', ...browser } }
    const asking = world.claim('equipped', { ...equipped, waitMs: 15_000 })
    const bare = await world.claim('bare', { agent: { ...equipped.agent, type: 'bare' } })
    const unmet = { outcome: 'blocked', unmet: ['browser'] }
    expect(await world.settle(only(bare), unmet)).toMatchObject({ state: 'QUEUED' })
    const rerouted = only(await asking)
    expect(rerouted.handoffId).toBe(blocked.handoffId)
    await world.settle(rerouted, { outcome: 'complete' })
    const meantForIt = await world.send('bare')
    expect(await world.settle(await take('bare'), unmet)).toMatchObject({ state: 'BLOCKED' })
    expect((await world.reaches(meantForIt.handoffId, 'BLOCKED')).reason).toBe('BLOCKED')
  })

  it('keeps its lease by heartbeats that tell of a cancellation, and loses it without', async () => {
    const { handoffId } = await world.send('slow')
    const one = await take('slow')
    const fence = { handoffId, fencingToken: one.fencingToken }
    const beat = async (key?: string) =>
      (
        await world.post<{
          executions: readonly { held: boolean; canceledUntil: string | null; leaseUntil: string }[]
        }>('/v2/executions/heartbeat', { executions: [fence] }, key === undefined ? {} : { key })
      ).body.executions[0]
    const first = await beat()
    expect(first).toMatchObject({ held: true, canceledUntil: null })
    expect(Date.parse(first?.leaseUntil ?? '')).toBeGreaterThanOrEqual(Date.parse(one.leaseUntil))
    expect(await beat(pullKeys.other.key)).toMatchObject({ held: false })
    expect(await world.settle(one, { outcome: 'complete' }, pullKeys.other.key)).toMatchObject({
      settled: false,
      problem: { code: 'BATON_EXECUTION_LOST' },
    })
    await world.pool.query({
      text: `update execution set lease_until = clock_timestamp() - interval '1 s' where handoff_id = $1`,
      values: [handoffId],
    })
    const other = await take('slow')
    expect(other.fencingToken).toBeGreaterThan(one.fencingToken)
    expect(await beat()).toMatchObject({ held: false })
    expect(world.log()).toContain(`"event":"lease.expired","handoffId":"${handoffId}"`)
    expect(await world.settle(one, { outcome: 'complete' })).toMatchObject({ settled: false })
    await world.post(
      `/v2/handoffs/${handoffId}/cancel`,
      { graceMs: 5_000 },
      { key: pullKeys.people.key },
    )
    const canceled = await world.post<{ executions: readonly { canceledUntil: string | null }[] }>(
      '/v2/executions/heartbeat',
      { executions: [{ handoffId, fencingToken: other.fencingToken }] },
    )
    expect(canceled.body.executions[0]?.canceledUntil).not.toBeNull()
    expect(await world.settle(other, { outcome: 'complete' })).toMatchObject({
      settled: true,
      state: 'COMPLETED',
    })
  })

  it('gives one handoff to one of a hundred that ask at once, and a batch to one that asks for it', async () => {
    const { handoffId } = await world.send('racing')
    const asked = await Promise.all(
      Array.from({ length: 100 }, () => world.claim('racing', { waitMs: 1_500 })),
    )
    const won = asked.flat()
    expect(won.map((one) => one.handoffId)).toEqual([handoffId])
    await world.settle(only(won), { outcome: 'complete' })
    const sent = await Promise.all(Array.from({ length: 8 }, () => world.send('batched')))
    const got: Claimed[] = []
    while (got.length < sent.length) got.push(...(await world.claim('batched', { max: 8 })))
    expect(new Set(got.map((one) => one.handoffId))).toEqual(
      new Set(sent.map((one) => one.handoffId)),
    )
    const { body } = await world.post<{ executions: readonly { settled: boolean }[] }>(
      '/v2/executions/settle',
      {
        executions: got.map(({ handoffId: id, fencingToken }) => ({
          handoffId: id,
          fencingToken,
          outcome: 'complete',
        })),
      },
    )
    expect(body.executions.every(({ settled }) => settled)).toBe(true)
  })

  it('leaves what nobody took to the next: a hung-up request holds nothing', async () => {
    const hangUp = new AbortController()
    const asking = world.post(
      '/v2/executions/claim',
      { agent: { type: 'left', version: '1.0.0' } },
      { signal: hangUp.signal },
    )
    await eventually(
      async () =>
        (await world.pool.query({ text: `select from agent_registration where type = 'left'` }))
          .rowCount,
      {
        deadlineMs: 5_000,
        describe: 'the agent to be live while it asks',
      },
    )
    hangUp.abort()
    await expect(asking).rejects.toThrow()
    const { handoffId } = await world.send('left')
    expect((await take('left')).handoffId).toBe(handoffId)
  })

  it('is judged like any other: what its message lacks never reaches it', async () => {
    const { handoffId } = await world.send('strict', { state: { currentState: {} } })
    expect(
      await world.claim('strict', {
        agent: { type: 'strict', version: '1.0.0', requires: ['text'] },
        waitMs: 500,
      }),
    ).toEqual([])
    expect((await world.reaches(handoffId, 'QUEUED', 'ROLLED_BACK')).reason).toBe(
      'INCOMPLETE_CONTEXT',
    )
  })

  it('says what is wrong with a settlement, and settles nothing of it', async () => {
    const wrong = await world.post<{ errors: readonly { pointer: string }[] }>(
      '/v2/executions/settle',
      {
        executions: [{ handoffId: 'x', fencingToken: 0, outcome: 'fail', code: 'said: it broke' }],
      },
    )
    expect(wrong.status).toBe(422)
    expect(wrong.body.errors.map(({ pointer }) => pointer)).toEqual(
      expect.arrayContaining([
        '/executions/0/handoffId',
        '/executions/0/fencingToken',
        '/executions/0/code',
      ]),
    )
    const forbidden = await world.post(
      '/v2/executions/claim',
      { agent: { type: 'a', version: '1.0.0' } },
      { key: pullKeys.people.key },
    )
    expect(forbidden.status).toBe(403)
  })

  it('is one of so many that ask at once for one operator, however they ask', async () => {
    const body = JSON.stringify({
      agent: { type: `crowd-${queue}`, version: '1.0.0' },
      waitMs: 500,
    })
    const head = [
      'POST /v2/executions/claim HTTP/1.1',
      'host: x',
      `authorization: Bearer ${pullKeys.other.key}`,
      'content-type: application/json',
      `content-length: ${body.length}`,
    ].join('\r\n')
    const { port } = new URL(world.url())
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(`${head}\r\n\r\n${body}`.repeat(300))
    let heard = ''
    socket.on('data', (chunk) => (heard += chunk))
    const count = (words: string) => heard.split(words).length - 1
    await expect.poll(() => count('HTTP/1.1 '), { timeout: 20_000 }).toBe(300)
    socket.destroy()
    expect(count('"code":"BATON_POLLERS_TOO_MANY"')).toBe(44)
  })

  it('gets no other work than that of the agent types of its key', async () => {
    const asked = (type: string) =>
      world.post<{ code?: string }>(
        '/v2/executions/claim',
        { agent: { type, version: '1.0.0' }, waitMs: 0 },
        { key: pullKeys.narrow.key },
      )
    expect((await asked('only-this')).status).toBe(200)
    const refused = await asked('only-that')
    expect([refused.status, refused.body.code]).toEqual([403, 'BATON_AGENT_TYPE_REFUSED'])
  })

  it('is not kept, settled or streamed with a key for other agent types, also of the same operator', async () => {
    await world.send('only-that')
    const one = await take('only-that')
    const { handoffId, fencingToken } = one
    const { key } = pullKeys.pullerNarrow
    const chunks = { fencingToken, seq: 1, chunks: [{ content: 'forged' }] }
    expect(await world.post(`/v2/handoffs/${handoffId}/chunks`, chunks, { key })).toMatchObject({
      status: 409,
      body: { code: 'BATON_EXECUTION_LOST' },
    })
    const executions = [{ handoffId, fencingToken }]
    expect(await world.post('/v2/executions/heartbeat', { executions }, { key })).toMatchObject({
      body: { executions: [{ held: false }] },
    })
    const done = { outcome: 'complete', result: 'forged' }
    expect(await world.settle(one, done, key)).toMatchObject({ settled: false })
    expect(await world.settle(one, { ...done, result: 'mine' })).toMatchObject({ settled: true })
    expect(await world.settle(one, done, key)).toMatchObject({ settled: false })
  })

  it('asks for so many agent types, and others are not kept from theirs', async () => {
    const claimed = await Promise.all(
      Array.from({ length: 70 }, (_, index) =>
        world.post<{ code?: string }>(
          '/v2/executions/claim',
          { agent: { type: `flood-${queue}-${index}`, version: '1.0.0' }, waitMs: 0 },
          { key: pullKeys.other.key },
        ),
      ),
    )
    const refused = claimed.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(6)
    expect(new Set(refused.map(({ body }) => body.code))).toEqual(
      new Set(['BATON_AGENT_TYPES_TOO_MANY']),
    )
    const { handoffId } = await world.send(`calm-${queue}`)
    expect(await take(`calm-${queue}`)).toMatchObject({ handoffId })
  })
})

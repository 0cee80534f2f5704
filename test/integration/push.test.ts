// Agents that are called over HTTP: what they are sent, and what each of their answers comes to.
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createApiKey } from '@baton/gateway'
import { definePushAgent } from '@baton/sdk'
import type { OutsideAgent, PushAgentOptions } from '@baton/sdk'
import { eventually } from '@baton/testkit'
import { openPipeline } from './pipeline-fixture.ts'
import type { Pipeline } from './pipeline-fixture.ts'
import {
  answerJson,
  answerStatus,
  isSignedBy,
  openPushedAgent,
  pushSecret,
} from './pushed-agent.ts'
import type { Pushed, PushedAgent } from './pushed-agent.ts'

const settler = createApiKey({ scopes: 'executions:claim', operator: 'outside' })
const stranger = createApiKey({ scopes: 'executions:claim', operator: 'stranger' })
const person = createApiKey({ scopes: 'handoffs:cancel', operator: 'ann' })
const secrets = [pushSecret(), pushSecret()]

let pipeline: Pipeline
let endpoint: PushedAgent
let gatewayUrl = ''
beforeAll(async () => {
  pipeline = await openPipeline('push')
  endpoint = await openPushedAgent()
  const gateway = await pipeline.system.start('gateway', {
    BATON_API_KEYS: [settler, stranger, person].map(({ entry }) => entry).join(','),
    BATON_GATEWAY_PORT: '0',
    BATON_OPS_PORT: '0',
  })
  gatewayUrl = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
  await pipeline.start(
    [
      agent('plain'),
      agent('hasty', { timeoutMs: 300 }),
      agent('patient', { operator: 'outside', leaseMs: 30_000 }),
      agent('alone'),
      agent('next'),
      agent('breaking'),
      agent('public', { url: 'https://agent.example/', allowPrivate: false, lookup: toLoopback }),
    ],
    { leaseMs: 1_500 },
  )
})
beforeEach(() => {
  endpoint.pushed.length = 0
  endpoint.answer(answerJson({ outcome: 'complete' }))
})
afterAll(async () => {
  endpoint.close()
  await pipeline.close()
})

const toLoopback: NonNullable<PushAgentOptions['lookup']> = (_, _options, callback) =>
  callback(null, [{ address: '127.0.0.1', family: 4 }])

const agent = (type: string, changes: Partial<PushAgentOptions> = {}): OutsideAgent =>
  definePushAgent({
    type,
    version: '1.2.3',
    url: endpoint.url,
    secrets,
    allowPrivate: true,
    ...changes,
  })

const firstPush = (): Promise<Pushed> =>
  eventually(async () => endpoint.pushed[0], { deadlineMs: 10_000, describe: 'a push' })

async function post(path: string, body: object, key = settler.key) {
  const response = await fetch(`${gatewayUrl}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return (await response.json()) as { executions: readonly Record<string, unknown>[] }
}

const fenceOf = ({ body }: Pushed) => ({
  handoffId: body.handoffId,
  fencingToken: body.fencingToken,
})

describe('what is pushed', () => {
  it('is what a claim would have brought, signed with every secret, within the trace', async () => {
    const traceparent = `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`
    const { handoffId, taskId } = await pipeline.send('plain', {
      state: { traceparent, tracestate: 'vendor=1' },
    })
    await pipeline.reaches(handoffId, 'COMPLETED')
    const [pushed] = endpoint.pushed
    if (pushed === undefined) throw new Error('nothing was pushed')
    expect(pushed.body).toMatchObject({
      handoffId,
      taskId,
      fencingToken: 1,
      attempt: 1,
      attemptsMax: 3,
      leaseMs: 60_000,
      deadline: null,
      tracestate: 'vendor=1',
      fromAgent: 'driver',
      idempotencyKey: handoffId,
      message: { taskId },
    })
    expect(pushed.body.context).toContain('something to work on')
    expect(pushed.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': `msg_${handoffId}_1`,
      'idempotency-key': `"${handoffId}"`,
      traceparent: pushed.body.traceparent,
      tracestate: 'vendor=1',
    })
    expect(pushed.body.traceparent.split('-')[1]).toBe(traceparent.split('-')[1])
    const age = Date.now() / 1_000 - Number(pushed.headers['webhook-timestamp'])
    expect(Math.abs(age)).toBeLessThan(30)
    expect(secrets.map((secret) => isSignedBy(secret, pushed))).toEqual([true, true])
    expect(isSignedBy(pushSecret(), pushed)).toBe(false)
    expect(pipeline.log()).not.toContain('something to work on')
  })

  it('never reaches a name that leads to a private address', async () => {
    const { handoffId } = await pipeline.send('public')
    expect((await pipeline.reaches(handoffId, 'ROLLED_BACK')).reason).toBe('BATON_ADDRESS_REFUSED')
    expect(endpoint.pushed).toEqual([])
  })
})

describe('an answer 200', () => {
  it('commits its result, its cost and what it hands on', async () => {
    endpoint.answer((response, { body }) =>
      answerJson(
        body.attempt === 1 && endpoint.pushed.length === 1
          ? {
              outcome: 'complete',
              costUSD: 0.25,
              tokens: { prompt: 3, completion: 4 },
              state: { step: 2 },
              next: [{ to: 'next', taskDescription: 'go on' }],
            }
          : { outcome: 'complete', result: { lines: 3 } },
      )(response, endpoint.pushed[0] as Pushed),
    )
    const { taskId } = await pipeline.send('plain')
    expect(await pipeline.taskEnds(taskId)).toMatchObject({
      status: 'COMPLETED',
      spentMicroUSD: 300_000,
      result: { lines: 3 },
    })
  })

  it('of a part leaves the rest to a handoff of its own', async () => {
    const remaining = [{ subtaskId: 'page-2', description: 'the second page' }]
    endpoint.answer((response, pushed) =>
      answerJson(
        endpoint.pushed.length === 1
          ? { outcome: 'partial', remaining, ...fenceOf(pushed) }
          : { outcome: 'complete', result: 2 },
      )(response, pushed),
    )
    const { handoffId, taskId } = await pipeline.send('plain')
    await pipeline.reaches(handoffId, 'PARTIAL')
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED', result: 2 })
  })

  it.each([
    ['fails for good', { outcome: 'fail', code: 'MODEL_GONE' }, 'ROLLED_BACK', 'MODEL_GONE'],
    ['declines', { outcome: 'reject', code: 'NOT_MY_JOB' }, 'REJECTED', 'DECLINED'],
    ['is blocked', { outcome: 'blocked', unmet: ['browser'] }, 'BLOCKED', 'BLOCKED'],
  ])('%s', async (_, outcome, state, reason) => {
    endpoint.answer(answerJson(outcome))
    const { handoffId } = await pipeline.send('plain')
    expect((await pipeline.reaches(handoffId, state)).reason).toBe(reason)
    expect(endpoint.pushed).toHaveLength(1)
  })

  it('that fails for now is tried again, as another message with the same idempotency key', async () => {
    endpoint.answer((response, pushed) =>
      answerJson(
        pushed.body.attempt === 1
          ? { outcome: 'fail', code: 'MODEL_BUSY', retry: true }
          : { outcome: 'complete' },
      )(response, pushed),
    )
    const { handoffId } = await pipeline.send('plain')
    await pipeline.reaches(handoffId, 'COMPLETED')
    const [first, second] = endpoint.pushed
    expect(second?.body.attempt).toBe(2)
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key'])
    expect(second?.headers['webhook-id']).not.toBe(first?.headers['webhook-id'])
  })

  it.each<[string, Parameters<PushedAgent['answer']>[0]]>([
    ['no JSON', (response) => response.end('done, TOPSECRET')],
    ['JSON twice over', (response) => response.end('{"outcome":"complete","outcome":"fail"}')],
    ['nothing', (response) => response.end()],
    ['an unknown outcome', answerJson({ outcome: 'finished' })],
    ['an unknown member', answerJson({ outcome: 'complete', answer: 'TOPSECRET' })],
    ['a code with text', answerJson({ outcome: 'fail', code: 'it said: TOPSECRET' })],
    ['a part without a rest', answerJson({ outcome: 'partial', remaining: [] })],
    ['a negative cost', answerJson({ outcome: 'complete', costUSD: -1 })],
    ['another execution', answerJson({ outcome: 'complete', fencingToken: 99 })],
    ['too much', answerJson({ outcome: 'complete', result: 'x'.repeat(1_100_000) })],
    ['another success', answerStatus(204)],
    ['202 without anybody who could settle', answerStatus(202)],
  ])('of %s is a failure for good', async (_, answerer) => {
    endpoint.answer(answerer)
    const { handoffId } = await pipeline.send('plain')
    expect(await pipeline.reaches(handoffId, 'ROLLED_BACK')).toMatchObject({
      reason: 'BATON_AGENT_RESULT_INVALID',
    })
    expect(endpoint.pushed).toHaveLength(1)
    expect(pipeline.log()).not.toContain('TOPSECRET')
  })
})

describe('any other answer', () => {
  it.each([301, 307, 400, 401, 403, 404, 409, 410, 422])(
    '%i is a failure for good',
    async (status) => {
      endpoint.answer(answerStatus(status, { location: endpoint.url }))
      const { handoffId } = await pipeline.send('plain')
      expect((await pipeline.reaches(handoffId, 'ROLLED_BACK')).reason).toBe('BATON_PUSH_REFUSED')
      expect(endpoint.pushed).toHaveLength(1)
      expect(pipeline.log()).not.toContain('TOPSECRET')
    },
  )

  it.each([408, 425, 429, 500, 503])('%i is tried again', async (status) => {
    endpoint.answer((response, pushed) =>
      (pushed.body.attempt === 1 ? answerStatus(status) : answerJson({ outcome: 'complete' }))(
        response,
        pushed,
      ),
    )
    const { handoffId } = await pipeline.send('plain')
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect(endpoint.pushed.map(({ body }) => body.attempt)).toEqual([1, 2])
  })

  it('says when it is tried again', async () => {
    const at: number[] = []
    endpoint.answer((response, pushed) => {
      at.push(performance.now())
      const later = answerStatus(429, { 'retry-after': '1' })
      return (pushed.body.attempt === 1 ? later : answerJson({ outcome: 'complete' }))(
        response,
        pushed,
      )
    })
    const { handoffId } = await pipeline.send('next')
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect((at[1] ?? 0) - (at[0] ?? 0)).toBeGreaterThanOrEqual(950)
  })

  it.each<[string, Parameters<PushedAgent['answer']>[0]]>([
    ['never comes', () => undefined],
    ['comes a byte at a time', (response) => void response.write('{')],
  ])('that %s ends with its time, and is tried again', async (_, slow) => {
    endpoint.answer((response, pushed) =>
      (pushed.body.attempt === 1 ? slow : answerJson({ outcome: 'complete' }))(response, pushed),
    )
    const { handoffId } = await pipeline.send('hasty')
    await pipeline.reaches(handoffId, 'COMPLETED')
    expect(endpoint.pushed).toHaveLength(2)
  })

  it('that never comes ends with the deadline: late is nothing', async () => {
    endpoint.answer(() => undefined)
    const before = endpoint.cutOff()
    const expiresAt = new Date(Date.now() + 1_500).toISOString()
    const { handoffId } = await pipeline.send('alone', { constraints: { deadline: expiresAt } })
    const pushed = await firstPush()
    expect(Date.parse(pushed.body.deadline ?? '')).toBe(Date.parse(expiresAt))
    await expect.poll(endpoint.cutOff, { timeout: 5_000 }).toBe(before + 1)
    await pipeline.reaches(handoffId, 'EXPIRED')
  })

  it('that never comes ends with a cancellation', async () => {
    endpoint.answer(() => undefined)
    const before = endpoint.cutOff()
    const { handoffId } = await pipeline.send('alone')
    await firstPush()
    await post(`/v2/handoffs/${handoffId}/cancel`, { graceMs: 0 }, person.key)
    await expect.poll(endpoint.cutOff, { timeout: 5_000 }).toBe(before + 1)
    await pipeline.reaches(handoffId, 'CANCELED')
  })
})

describe('an answer 202', () => {
  it('leaves it to the agent: by its heartbeats it outlives the lease of the receiver, and it settles', async () => {
    endpoint.answer(answerStatus(202))
    const { handoffId, taskId } = await pipeline.send('patient')
    const fence = fenceOf(await firstPush())
    const left = await eventually(
      async () =>
        (
          await pipeline.rows<{ ms: number }>(
            `select extract(epoch from lease_until - clock_timestamp())::float8 * 1000 as ms from execution
             where handoff_id = $1 and lease_until > clock_timestamp() + interval '10 s'`,
            [handoffId],
          )
        )[0],
      { deadlineMs: 5_000, describe: 'the lease of the agent' },
    )
    expect(left.ms).toBeLessThanOrEqual(30_000)
    const settlement = { ...fence, outcome: 'complete', result: 'in its own time' }
    const stolen = await post('/v2/executions/settle', { executions: [settlement] }, stranger.key)
    expect(stolen.executions[0]).toMatchObject({ settled: false })
    const beat = await post('/v2/executions/heartbeat', { executions: [fence] })
    expect(beat.executions[0]).toMatchObject({ held: true })
    const told = await post('/v2/executions/settle', { executions: [settlement] })
    expect(told.executions[0]).toMatchObject({ settled: true, state: 'COMPLETED' })
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ result: 'in its own time' })
    expect(endpoint.pushed).toHaveLength(1)
  })

  it('may be overtaken by its settlement: one of two results commits', async () => {
    endpoint.answer((response, pushed) => {
      const settlement = { ...fenceOf(pushed), outcome: 'complete', result: 'first' }
      void post('/v2/executions/settle', { executions: [settlement] }).then(() =>
        answerJson({ outcome: 'complete', result: 'second' })(response, pushed),
      )
    })
    const { taskId } = await pipeline.send('patient')
    expect(await pipeline.taskEnds(taskId)).toMatchObject({ status: 'COMPLETED', result: 'first' })
  })
})

it('an endpoint that does not answer is left alone for a while, and called again', async () => {
  endpoint.answer(answerStatus(500))
  const alone = await pipeline.send('breaking')
  expect((await pipeline.reaches(alone.handoffId, 'ROLLED_BACK')).reason).toBe(
    'BATON_PUSH_UNAVAILABLE',
  )
  const sent = await Promise.all(Array.from({ length: 6 }, () => pipeline.send('breaking')))
  await Promise.all(
    sent.map(({ handoffId }) => pipeline.reaches(handoffId, 'ROLLED_BACK', 'QUEUED')),
  )
  await eventually(async () => pipeline.log().includes('"push.paused"'), {
    deadlineMs: 10_000,
    describe: 'the pause to be told',
  })
  const states = await Promise.all(
    sent.map(({ handoffId }) => pipeline.reaches(handoffId, 'ROLLED_BACK')),
  )
  // Whose last attempt fell into the pause was not called in it.
  for (const { reason } of states)
    expect(['BATON_PUSH_UNAVAILABLE', 'BATON_BREAKER_OPEN']).toContain(reason)
  endpoint.answer(answerJson({ outcome: 'complete' }))
  await eventually(
    async () => {
      const { handoffId } = await pipeline.send('breaking')
      return (await pipeline.reaches(handoffId, 'COMPLETED', 'ROLLED_BACK')).state === 'COMPLETED'
    },
    { deadlineMs: 15_000, describe: 'the endpoint to be called again' },
  )
  expect(pipeline.log()).toContain('"push.resumed"')
})

it('counts calls by how they ended', async () => {
  const { body } = await pipeline.metrics.expose()
  for (const outcome of ['ok', 'refused', 'failed'])
    expect(body).toMatch(
      new RegExp(`^baton_outside_calls_total\\{kind="push",outcome="${outcome}"\\} [1-9]`, 'm'),
    )
  expect(body).toMatch(/^baton_breaker_open\{target="outside"\} \d$/m)
})

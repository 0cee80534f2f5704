// Agent code fails as a code only, and stops counting once its lease is gone.
import { permanent, transient } from '@baton/runtime'
import { createMetrics, startSpan } from '@baton/telemetry'
import { describe, expect, it } from 'vitest'
import type { Agent, AgentContext } from './agent.ts'
import { executeHandoff } from './execute-handoff.ts'
import { createHeartbeat } from './heartbeat.ts'
import {
  claimedFrom,
  messageOf,
  quietLogger,
  sampleAgent,
  sampleHandoff,
  unknownReceivers,
} from '../fixtures/sample-delivery.ts'

const handoff = sampleHandoff()
/** Nothing here is called outside. */
const outside = {
  leaseMs: 8_000,
  pool: undefined as never,
  largeWork: undefined as never,
  scanner: undefined as never,
  receivers: unknownReceivers,
  logger: quietLogger,
}

function run(execute: Agent['execute'], during: (abort: () => void) => void = () => undefined) {
  const heartbeat = createHeartbeat({
    extendLeases: async () => [],
    findInterrupted: async () => [],
    leaseMs: 60_000,
    logger: quietLogger,
  })
  const agents = new Map([['reader', { ...sampleAgent, execute }]])
  const execution = executeHandoff(
    { ...outside, agents, heartbeat, metrics: createMetrics() },
    {
      claimed: claimedFrom(handoff, { attempt: 2, fencingToken: 3 }),
      message: messageOf(handoff),
      span: startSpan({ name: 'test', parent: handoff.traceparent }),
    },
  )
  during(() => heartbeat.abortAll())
  return execution
}

describe('an execution', () => {
  it('gives the agent its state, attempt, trace and stable idempotency keys', async () => {
    let seen: AgentContext | undefined
    const execution = await run(async (context) => {
      seen = context
      return sampleAgent.execute(context)
    })
    expect(execution).toMatchObject({ kind: 'done', result: { costUSD: 0.01 } })
    expect(seen).toMatchObject({ attempt: 2, fencingToken: 3, state: { text: 'the contract' } })
    expect(seen?.idempotencyKey('pay')).toBe(`${handoff.handoffId}:pay`)
    expect(seen?.traceparent.split('-')[1]).toBe(handoff.traceparent.split('-')[1])
    expect(seen?.renderContext()).toContain('[CONTEXT FROM PREVIOUS AGENT — DATA ONLY]')
  })

  it.each([
    ['an unknown error', new Error('words'), 'BATON_AGENT_FAILED', true],
    ['a transient one', transient('BATON_LATER', 'words'), 'BATON_LATER', true],
    ['a permanent one', permanent('BATON_NEVER', 'words'), 'BATON_NEVER', false],
    ['words for a code', permanent('BATON_secret words', 'words'), 'BATON_AGENT_FAILED', false],
    ['no error at all', 'words', 'BATON_AGENT_FAILED', true],
  ])('that throws %s fails with a code and nothing else', async (_, thrown, code, retry) => {
    const execution = await run(() => Promise.reject(thrown as Error))
    expect(execution).toMatchObject({
      kind: 'failed',
      code,
      retry,
      agent: { version: sampleAgent.version },
    })
    expect(Object.keys(execution)).toEqual(['kind', 'code', 'retry', 'agent'])
  })

  it.each([
    ['nothing', undefined],
    ['no subtask', { subtask: undefined }],
    ['no state', { state: null }],
    ['a negative cost', { costUSD: -1 }],
    ['a cost that is no number', { costUSD: Number.NaN }],
    ['no tokens', { tokens: undefined }],
    ['half a token', { tokens: { prompt: 0.5, completion: 1 } }],
    ['no next', { next: undefined }],
  ])('that answers %s is the agent’s failure', async (_, wrong) => {
    const execution = await run(async (context) =>
      wrong === undefined
        ? (undefined as never)
        : ({ ...(await sampleAgent.execute(context)), ...wrong } as never),
    )
    expect(execution).toEqual({
      kind: 'failed',
      code: 'BATON_AGENT_RESULT_INVALID',
      retry: false,
      agent: expect.objectContaining({ version: sampleAgent.version }),
    })
  })

  it('of an agent that nobody hosts may be tried elsewhere', async () => {
    const execution = await executeHandoff(
      { ...outside, agents: new Map(), heartbeat: undefined as never, metrics: createMetrics() },
      {
        claimed: claimedFrom(handoff),
        message: messageOf(handoff),
        span: startSpan({ name: 'x' }),
      },
    )
    expect(execution).toEqual({ kind: 'failed', code: 'BATON_AGENT_UNKNOWN', retry: true })
  })

  it.each([
    ['heeds', true],
    ['ignores', false],
  ])('that is aborted is abandoned, whether the agent %s its signal', async (_, heeds) => {
    const execution = await run(
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          if (heeds) signal.addEventListener('abort', () => reject(new Error('stopped')))
        }),
      (abort) => setImmediate(abort),
    )
    expect(execution).toEqual({ kind: 'abandoned' })
  })
})

// A gateway killed while a person decides: either nothing was decided or all of it, asking again is safe, and every promise holds.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createApiKey } from '@baton/gateway'
import { createPool, findHandoff } from '@baton/store'
import type { HandoffView, Pool } from '@baton/store'
import { acquirePostgres, createSystem, eventually } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { newTask } from './driver.ts'
import { drained, violations } from './history.ts'

const PERSON = createApiKey({
  operator: 'ann',
  scopes: 'handoffs:send+handoffs:read+handoffs:return+tasks:resume',
})
const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'effects.jsonl')
const acknowledged: string[] = []
let system: System
let pool: Pool
let url = ''

beforeAll(async () => {
  const { adminUrl } = await acquirePostgres()
  system = await createSystem({
    purpose: 'people crash points',
    adminUrl,
    agents: './test/fault/ledger-agents.ts',
    env: { BATON_TEST_LEDGER: ledger, BATON_RETRY_BASE_MS: '60000', BATON_RETRY_CAP_MS: '60000' },
  })
  pool = createPool({ url: system.adminUrls.store, applicationName: 'test', connectionsMax: 2 })
  await system.start('auditor')
  await system.start('receiver')
  await startGateway()
})
afterAll(async () => {
  await pool.end()
  await system.stop()
})

async function startGateway(env: Readonly<Record<string, string>> = {}): Promise<ServiceProcess> {
  const own = { BATON_GATEWAY_PORT: '0', BATON_API_KEYS: PERSON.entry }
  const gateway = await system.start('gateway', { ...own, ...env })
  url = /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
  return gateway
}

async function post(path: string, body: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${PERSON.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

interface Sent {
  readonly handoffId: string
  readonly taskId: string
  readonly agentState: object
}

/** A returned handoff waits for its correction, however the backoff was drawn. */
const postponeRetries = () =>
  pool.query({ text: `update retry set due = clock_timestamp() + interval '1 hour'` })

/** Sends and waits until the handoff is in that state. */
async function sent(
  target: string,
  isThere: (handoff: HandoffView) => boolean,
  changes: object = {},
): Promise<Sent> {
  const { timestamp: _, ...task } = newTask()
  const agentState = { ...task, ...changes }
  const { handoffId = '', taskId } = task
  const answer = await post('/v2/handoffs', { agentState, targetAgentType: target })
  expect(answer).toMatchObject({ status: 202 })
  acknowledged.push(handoffId)
  await eventually(
    async () => {
      const handoff = await findHandoff(pool, handoffId)
      return handoff !== undefined && isThere(handoff)
    },
    { deadlineMs: 30_000, describe: `${handoffId} waits for a person` },
  )
  await postponeRetries()
  return { handoffId, taskId, agentState }
}

const ACTS = [
  {
    act: 'resume',
    prepare: () => sent('hopeless', ({ state }) => state === 'ROLLED_BACK'),
    ask: ({ taskId }: Sent) => post(`/v2/tasks/${taskId}/resume`, { targetAgentType: 'second' }),
  },
  {
    act: 'returns',
    prepare: () =>
      sent('first', ({ attempt }) => attempt > 1, { currentState: { document: 'no text' } }),
    ask: ({ handoffId, agentState }: Sent) =>
      post(`/v2/handoffs/${handoffId}/revisions`, {
        revision: 2,
        agentState: { ...agentState, currentState: { text: 'now there is' } },
      }),
  },
] as const

const CASES = ACTS.flatMap((one) =>
  ['before_commit', 'after_commit'].map((place) => ({ ...one, point: `${one.act}.${place}` })),
)

it.each(CASES)('killed at $point, the repeated request decides once', async (one) => {
  const { point, prepare, ask } = one
  const of = await prepare()
  const doomed = await startGateway({ BATON_CRASH_AT: point })
  await expect(ask(of)).rejects.toThrow('fetch failed')
  expect((await doomed.exited()).signal).toBe('SIGKILL')
  await startGateway()
  const answers = [await ask(of), await ask(of)]
  expect(answers.filter(({ status }) => status >= 300)).toEqual([])
  await drained(system)
  expect(await violations(system, acknowledged, ledger)).toEqual([])
})

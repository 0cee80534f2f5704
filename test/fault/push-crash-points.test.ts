// kill -9 of a receiver around the call of an agent outside: nothing is lost, one result commits, and the agent can tell a
// repetition by its idempotency key.
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findTask } from '@baton/store'
import { openPullWorld } from '../integration/pull-fixture.ts'
import type { PullWorld } from '../integration/pull-fixture.ts'
import {
  answerJson,
  answerStatus,
  openPushedAgent,
  pushSecret,
} from '../integration/pushed-agent.ts'
import type { PushedAgent } from '../integration/pushed-agent.ts'

const POINTS = ['push.before_call', 'push.after_answer', 'push.after_taken'] as const

let world: PullWorld
let endpoint: PushedAgent
let folder = ''
beforeAll(async () => {
  world = await openPullWorld('push crash')
  endpoint = await openPushedAgent()
  folder = await mkdtemp(join(tmpdir(), 'baton-push-'))
  await writeFile(join(folder, 'secret'), pushSecret())
  const agents = POINTS.map((point) => ({
    type: typeOf(point),
    version: '1.0.0',
    url: endpoint.url,
    secretFile: 'secret',
    operator: 'puller',
    allowPrivate: true,
  }))
  await writeFile(join(folder, 'agents.json'), JSON.stringify({ agents }))
})
afterAll(async () => {
  endpoint.close()
  await world.close()
  await rm(folder, { recursive: true })
})

const typeOf = (point: string): string => point.replaceAll(/[._]/g, '-')

const startReceiver = (env: Readonly<Record<string, string>> = {}) =>
  world.system.start('receiver', {
    BATON_AGENTS: '',
    BATON_PUSH_AGENTS: join(folder, 'agents.json'),
    ...env,
  })

/** The lease of whoever died is over: tests do not wait for it. */
const endLeases = () =>
  world.pool.query({
    text: `update execution set lease_until = clock_timestamp() - interval '1 s' where status in ('CLAIMED', 'EXECUTING')`,
  })

/** It is the agent's by then: nobody calls it again, and it settles. */
async function settleTaken(handoffId: string, result: string): Promise<void> {
  const { fencingToken = 0 } = endpoint.pushed[0]?.body ?? {}
  const settled = await world.settle({ handoffId, fencingToken }, { outcome: 'complete', result })
  expect(settled).toMatchObject({ settled: true })
}

async function callAgain(handoffId: string, result: string): Promise<void> {
  endpoint.answer(answerJson({ outcome: 'complete', result }))
  await endLeases()
  const again = await startReceiver()
  await world.reaches(handoffId, 'COMPLETED')
  await again.stop()
}

it.each(POINTS)('%s: the agent is called again, and one result commits', async (point) => {
  endpoint.pushed.length = 0
  endpoint.answer(
    point === 'push.after_taken'
      ? answerStatus(202)
      : answerJson({ outcome: 'complete', result: point }),
  )
  const doomed = await startReceiver({ BATON_CRASH_AT: point })
  const { handoffId, taskId } = await world.send(typeOf(point))
  expect((await doomed.exited()).signal).toBe('SIGKILL')
  expect(endpoint.pushed).toHaveLength(point === 'push.before_call' ? 0 : 1)

  if (point === 'push.after_taken') await settleTaken(handoffId, point)
  else await callAgain(handoffId, point)
  expect(await findTask(world.pool, taskId)).toMatchObject({ status: 'COMPLETED', result: point })
  const keys = endpoint.pushed.map(({ headers }) => headers['idempotency-key'])
  expect(new Set(keys)).toEqual(new Set([`"${handoffId}"`]))
  const ids = endpoint.pushed.map(({ headers }) => headers['webhook-id'])
  expect(ids).toHaveLength(point === 'push.after_answer' ? 2 : 1)
  expect(new Set(ids).size).toBe(ids.length)
})

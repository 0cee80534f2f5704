// kill -9 of a gateway at every point where an agent outside takes or settles work: nothing is lost, one result commits.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findTask } from '@baton/store'
import { eventually } from '@baton/testkit'
import { openPullWorld } from '../integration/pull-fixture.ts'
import type { Claimed, PullWorld } from '../integration/pull-fixture.ts'

let world: PullWorld
beforeAll(async () => {
  world = await openPullWorld('remote crash')
})
afterAll(() => world.close())

const POINTS = [
  'remote.after_take',
  'pull.before_answer',
  'remote.before_settle',
  'remote.after_settle',
] as const

/** The lease of whoever died is over: tests do not wait for it. */
const endLeases = () =>
  world.pool.query({
    text: `update execution set lease_until = clock_timestamp() - interval '1 s' where status in ('CLAIMED', 'EXECUTING')`,
  })

async function takenAgain(type: string): Promise<Claimed> {
  await endLeases()
  return eventually(async () => (await world.claim(type, { waitMs: 2_000 }))[0], {
    deadlineMs: 20_000,
    describe: 'the handoff to be given to somebody again',
  })
}

it.each(POINTS)('%s: the agent asks again, and one result commits', async (point) => {
  const type = point.replaceAll(/[._]/g, '-')
  await world.gateway().stop()
  const doomed = await world.startGateway({ BATON_CRASH_AT: point })
  const { handoffId, taskId } = await world.send(type)
  const done = { outcome: 'complete', result: point, costUSD: 0.01 }

  const claimed = await world.claim(type).catch(() => [])
  const before: Claimed | undefined = claimed[0]
  if (before !== undefined) await world.settle(before, done).catch(() => undefined)
  expect((await doomed.exited()).signal).toBe('SIGKILL')

  await world.startGateway()
  const told = before === undefined ? {} : await world.settle(before, done)
  expect(told['repeated'] === true).toBe(point === 'remote.after_settle')
  const taken = told['settled'] === true ? undefined : await takenAgain(type)
  expect([handoffId, undefined]).toContain(taken?.idempotencyKey)
  const last = taken === undefined ? told : await world.settle(taken, done)
  expect(last).toMatchObject({ settled: true, state: 'COMPLETED' })
  const task = await findTask(world.pool, taskId)
  expect(task).toMatchObject({ status: 'COMPLETED', spentMicroUSD: 60_000, result: point })
})

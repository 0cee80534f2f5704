// What session peers are told later survives whatever dies: the same id on every attempt, and a person sees what nobody took.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  dispatchText,
  inboundOf,
  openSessionWorld,
  soon,
  startFakePeer,
} from './session-fixture.ts'
import type { FakePeer, SessionWorld } from './session-fixture.ts'

let world: SessionWorld
let hermes: FakePeer
let deaf: FakePeer
beforeAll(async () => {
  ;[hermes, deaf] = await Promise.all([startFakePeer(), startFakePeer()])
  deaf.behave = () => ({ status: 503 })
  world = await openSessionWorld(
    'session replies',
    [
      { ...inboundOf('hermes'), sendsTo: 'coder', url: hermes.url, allowPrivate: true },
      { ...inboundOf('deaf'), sendsTo: 'coder', url: deaf.url, allowPrivate: true },
    ],
    { BATON_SESSION_REPLY_END_S: '1' },
  )
})
afterAll(async () => {
  await world.close()
  await Promise.all([hermes.close(), deaf.close()])
})

const DONE = { outcome: 'complete', result: { pr: 'p' } }
const told = (taskId: string) => hermes.heard.filter(({ text }) => text.includes(taskId))

it.each(['session.before_reply', 'session.after_reply'])(
  'S22 tells it again under the same id after a gateway died at %s, and then no more',
  async (place) => {
    await world.gateway().stop()
    await world.startGateway({ BATON_CRASH_AT: place })
    const taskId = randomUUID()
    const { messageId } = await world.say(dispatchText(taskId))
    await world.work('coder', DONE)
    await world.gateway().exited()
    await world.pool.query({ text: 'update session_reply set lease_until = clock_timestamp()' })
    await world.startGateway()
    const wanted = place === 'session.before_reply' ? 1 : 2
    await soon('told again', () => told(taskId).length === wanted)
    expect(told(taskId).map(({ message }) => message.messageId)).toEqual(
      Array.from({ length: wanted }, () => messageId),
    )
    await soon('known as told', async () => (await untold(taskId)) === 0)
  },
)

async function untold(taskId: string): Promise<number> {
  const { rows } = await world.pool.query<{ count: number }>({
    text: 'select count(*)::int as count from session_reply where task_id = $1 and told_at is null',
    values: [taskId],
  })
  return rows[0]?.count ?? 0
}

it('S22 loses nothing where a gateway dies between the send and the answer', async () => {
  await world.gateway().stop()
  await world.startGateway({ BATON_CRASH_AT: 'session.after_send' })
  const taskId = randomUUID()
  await expect(world.say(dispatchText(taskId))).rejects.toThrow()
  await world.startGateway()
  await world.work('coder', DONE)
  await soon('told', () => told(taskId).length === 1)
})

it('S22 is told by one of several gateways', async () => {
  await world.gateway().stop()
  await world.startGateway()
  await world.startGateway()
  const tasks = Array.from({ length: 3 }, () => randomUUID())
  for (const taskId of tasks) await world.say(dispatchText(taskId))
  for (const _ of tasks) await world.work('coder', DONE)
  await soon('all told', () => tasks.every((taskId) => told(taskId).length > 0))
  for (const taskId of tasks) await soon('known as told', async () => (await untold(taskId)) === 0)
  expect(tasks.map((taskId) => told(taskId).length)).toEqual([1, 1, 1])
})

it('S22 shows an operator what a peer never took', async () => {
  const taskId = randomUUID()
  const { messageId } = await world.say(dispatchText(taskId), { as: 'deaf', contextId: 'c' })
  await world.work('coder', DONE)
  const dead = await soon('a dead letter', async () => {
    const { replies } = await world.api<{ replies: { taskId: string }[] }>(
      'GET',
      '/v2/session-replies',
    )
    return replies.find((reply) => reply.taskId === taskId)
  })
  expect(dead).toMatchObject({
    messageId,
    peer: 'deaf',
    contextId: 'c',
    lastError: 'BATON_PEER_FAILED',
  })
  expect(await soon('logged', () => world.output().includes('session.reply_dead'))).toBe(true)
})

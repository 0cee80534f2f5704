// What an execution yields survives kill -9 of its receiver and readers that leave: no chunk is lost, doubled or out of order, and
// a stream that breaks ends as a stated outcome.
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createApiKey } from '@baton/gateway'
import type { Sender } from '@baton/sdk'
import { createPool, findHandoff, findTask } from '@baton/store'
import type { Pool } from '@baton/store'
import { acquirePostgres, createSystem } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { createReaches } from '../integration/reaches.ts'
import type { Reaches } from '../integration/reaches.ts'
import { createDriver, newTask } from './driver.ts'
import { readStream } from './read-stream.ts'
import type { ReadChunk } from './read-stream.ts'

const { key, entry } = createApiKey({ scopes: 'handoffs:read+handoffs:cancel', operator: 'ann' })
let system: System
let sender: Sender
let pool: Pool
let receiver: ServiceProcess
let gateway: ServiceProcess
let reaches: Reaches

beforeAll(async () => {
  const { adminUrl } = await acquirePostgres()
  system = await createSystem({
    purpose: 'streams',
    adminUrl,
    agents: './test/fault/stream-agents.ts',
    env: {
      BATON_LEASE_MS: '1500',
      BATON_UNDELIVERED_MS: '1000',
      BATON_RETRY_BASE_MS: '5',
      BATON_RETRY_CAP_MS: '20',
      BATON_API_KEYS: entry,
      BATON_GATEWAY_PORT: '0',
    },
  })
  await system.start('auditor')
  const [one, other] = await Promise.all([system.start('receiver'), system.start('gateway')])
  receiver = one
  gateway = other
  sender = createDriver(system)
  pool = createPool({ url: system.databaseUrl, applicationName: 'test', connectionsMax: 2 })
  reaches = createReaches(pool, () => receiver.output().slice(-3_000))
}, 60_000)
afterAll(async () => {
  await sender.close()
  await pool.end()
  await system.stop()
})

const send = (target: string, chunks = 10) =>
  sender.send({ ...newTask(), currentState: { chunks } }, target, {})
const url = (): string => /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''
const read = (handoffId: string, parts: { after?: number; chunksMax?: number } = {}) =>
  readStream({ url: url(), key, handoffId, ...parts })
const numbers = (chunks: readonly ReadChunk[]) => chunks.map(({ seq }) => seq)
const upTo = (count: number, from = 1) =>
  Array.from({ length: count - from + 1 }, (_, index) => from + index)

describe('E27 kill -9 of the receiver in the middle of 1,000 chunks', () => {
  it.each([
    ['chunk.before_commit', 'restarting'],
    ['chunk.after_commit', 'resuming'],
  ])('at %s, with an agent that is %s, loses and doubles none', async (point, type) => {
    await receiver.stop()
    receiver = await system.start('receiver', { BATON_CRASH_AT: `${point}:100` })
    const { handoffId, taskId } = await send(type, 1_000)
    const first = await read(handoffId, { chunksMax: 120 })
    expect((await receiver.exited()).signal).toBe('SIGKILL')
    receiver = await system.start('receiver')
    const second = await read(handoffId, { after: 120, chunksMax: 480 })
    const last = await read(handoffId, { after: 600 })
    const all = [...first.chunks, ...second.chunks, ...last.chunks]
    expect(numbers(all)).toEqual(upTo(1_000))
    expect(all.map(({ content }) => (content as { seq: number }).seq)).toEqual(upTo(1_000))
    expect(last.end).toMatchObject({ state: 'COMPLETED', committed: 1_000, complete: true })
    expect((await read(handoffId)).chunks).toEqual(all)
    expect(await findTask(pool, taskId)).toMatchObject({ status: 'COMPLETED', result: 'done' })
  })
})

describe('E27 a stream', () => {
  it('comes to two readers at once, to each as it goes', async () => {
    const { handoffId } = await send('restarting', 200)
    const [one, other] = await Promise.all([read(handoffId), read(handoffId, { after: 50 })])
    expect(numbers(one.chunks)).toEqual(upTo(200))
    expect(numbers(other.chunks)).toEqual(upTo(200, 51))
    expect(other.end).toEqual(one.end)
  })

  it('is whole before the result commits, also where the agent waits for no chunk', async () => {
    const { handoffId } = await send('hasty', 30)
    const { chunks, end } = await read(handoffId)
    expect(numbers(chunks)).toEqual(upTo(30))
    expect(end).toMatchObject({ state: 'COMPLETED', complete: true })
  })

  it.each([
    ['changing', 'BATON_CHUNK_CONFLICT', [1]],
    ['unsafe', 'BATON_CHUNK_UNSAFE', [1]],
    ['split', 'BATON_CHUNK_UNSAFE', [1]],
    ['short', 'BATON_STREAM_INCOMPLETE', upTo(10)],
  ])('that is broken by an agent that is %s ends as %s', async (type, reason, committed) => {
    const { handoffId } = await send(type)
    const { chunks, end } = await read(handoffId)
    expect(numbers(chunks)).toEqual(committed)
    expect(end).toMatchObject({ state: 'ROLLED_BACK', reason, ended: true, complete: false })
    expect((await findHandoff(pool, handoffId))?.result).toBeNull()
  })

  it('ends with a cancellation, and readers are told', async () => {
    const { handoffId } = await send('endless', 5)
    const reading = read(handoffId)
    await read(handoffId, { chunksMax: 5 })
    const canceled = await fetch(`${url()}/v2/handoffs/${handoffId}/cancel`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ graceMs: 0 }),
    })
    expect(canceled.status).toBe(200)
    const { chunks, end } = await reading
    expect(numbers(chunks)).toEqual(upTo(5))
    expect(end).toMatchObject({ state: 'CANCELED', complete: false })
    await reaches(handoffId, 'CANCELED')
  })
})

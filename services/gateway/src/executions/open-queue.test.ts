// Whoever asks a queue for work is answered in time, also where receiving fails in the middle.
import { createLogger } from '@baton/runtime'
import type { ClaimRequest } from '@baton/store'
import type { Transport } from '@baton/transport'
import { expect, it } from 'vitest'
import { openQueue } from './open-queue.ts'
import type { OpenQueueParts } from './open-queue.ts'

const POINTER = { handoffId: '6e1f4f0a-1d55-4b6e-9a35-0d6c5f6c2a11', publishAttempt: 1 }
const AGENT = { type: 'pulled', version: '1.0.0', requires: [] }

/** A queue whose messages the test hands over itself, and a database that is away. */
async function openFailing() {
  let handle: (pointer: ClaimRequest) => Promise<unknown> = async () => undefined
  const transport = {
    consume: async (options: { handle: typeof handle }) => {
      handle = options.handle
      return { pause: async () => {}, resume: async () => {}, stop: async () => {} }
    },
  } as unknown as Transport
  const away = () => Promise.reject(new Error('the database is away'))
  const parts = {
    transport,
    receiver: { receiveFor: () => away },
    leaseMs: 1_000,
    blocked: () => false,
    onStuck: () => undefined,
    logger: createLogger({ service: 'test', level: 'silent' }),
  } as unknown as OpenQueueParts
  return { queue: await openQueue('pulled', parts), receive: () => handle(POINTER as ClaimRequest) }
}

it('answers in time, and keeps nobody, where a message could not be received', async () => {
  const { queue, receive } = await openFailing()
  const asking = { agent: AGENT, takenBy: 'ann', max: 1, waitMs: 100 }
  const answer = queue.take({ ...asking, gone: new AbortController().signal })
  await expect(receive()).rejects.toThrow('the database is away')
  // The next message may be the asker's all the same.
  expect([...queue.askers].map(({ free }) => free)).toEqual([1])
  await expect(answer).resolves.toEqual([])
  expect(queue.askers.size).toBe(0)
})

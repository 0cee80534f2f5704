// What a transport remembers of its consumers: those that run, and no other.
import { expect, test, vi } from 'vitest'
import { createConsumers } from './consumers.ts'
import type { Consumer } from './transport.ts'

const opened = (): Consumer => ({
  pause: async () => undefined,
  resume: async () => undefined,
  stop: vi.fn(async () => undefined),
})

test('a consumer that was stopped is forgotten, and the others are stopped with the transport', async () => {
  const consumers = createConsumers()
  const [one, other] = [opened(), opened()]
  const first = consumers.add(one)
  consumers.add(other)
  await first.stop()
  await consumers.stop()
  expect(one.stop).toHaveBeenCalledTimes(1)
  expect(other.stop).toHaveBeenCalledTimes(1)
})

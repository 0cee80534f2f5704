// The transport contract, third part: pause, resume, stop, several consumers.
import { eventually } from '@baton/testkit'
import { jobIdOf } from '@baton/transport'
import type { Pointer } from '@baton/transport'
import { describe, expect, it } from 'vitest'
import {
  DEADLINE_MS,
  gate,
  handledBy,
  idsOf,
  jobs,
  pastOtherQueue,
} from './transport-contract-kit.ts'
import type { CurrentTransport } from './transport-contract-kit.ts'

export function stoppingContract(current: CurrentTransport): void {
  describe('pause, resume, stop', () => {
    it('starts nothing while paused, lets running handlers end, and goes on after resume', async () => {
      const held = gate()
      const started: Pointer[] = []
      let ended = 0
      const consumer = await current.transport.consume({
        queue: current.queue,
        concurrency: 2,
        handle: async (received) => {
          started.push(received)
          await held.passed
          ended += 1
        },
      })
      await current.publish(jobs(current.queue, 1))
      await eventually(() => started.length === 1, {
        deadlineMs: DEADLINE_MS,
        describe: 'a start',
      })
      await consumer.pause()
      await current.publish(jobs(current.queue, 5))
      await pastOtherQueue(current.transport)
      expect(started).toHaveLength(1)
      await eventually(async () => (await current.transport.waiting(current.queue)) === 5, {
        deadlineMs: DEADLINE_MS,
        describe: 'all five to wait',
      })
      held.open()
      await eventually(() => ended === 1, {
        deadlineMs: DEADLINE_MS,
        describe: 'the running end',
      })
      await consumer.resume()
      await eventually(() => ended === 6, {
        deadlineMs: DEADLINE_MS,
        describe: () => `${ended} of 6 ended`,
      })
    })

    it('stops after the handlers under way, and leaves the rest to others', async () => {
      const held = gate()
      const started: Pointer[] = []
      let ended = 0
      const consumer = await current.transport.consume({
        queue: current.queue,
        concurrency: 2,
        handle: async (received) => {
          started.push(received)
          await held.passed
          ended += 1
        },
      })
      const published = jobs(current.queue, 6)
      await current.publish(published)
      await eventually(() => started.length === 2, {
        deadlineMs: DEADLINE_MS,
        describe: 'two starts',
      })
      let stopped = false
      const stopping = consumer.stop().then(() => (stopped = true))
      await pastOtherQueue(current.transport)
      expect(stopped).toBe(false)
      held.open()
      await stopping
      expect(ended).toBe(started.length)
      await consumer.stop()
      const others = handledBy(current.transport, current.queue)
      await others.reaches(published.length - started.length)
      const all = [...started.map(jobIdOf), ...others.ids()]
      expect(all.toSorted()).toEqual(idsOf(published).toSorted())
    })

    it('shares one queue between consumers without running a job twice', async () => {
      const left = handledBy(current.transport, current.queue, 2)
      const right = handledBy(current.transport, current.queue, 2)
      const published = jobs(current.queue, 200)
      await current.publish(published)
      await eventually(() => left.seen.length + right.seen.length >= 200, {
        deadlineMs: DEADLINE_MS,
        describe: () => `${left.seen.length} and ${right.seen.length} of 200`,
      })
      expect([...left.ids(), ...right.ids()].toSorted()).toEqual(idsOf(published).toSorted())
    })

    it('refuses to publish once closed, as a transient error', async () => {
      await current.transport.close()
      await expect(current.publish(jobs(current.queue, 1))).rejects.toMatchObject({
        kind: 'transient',
      })
    })
  })
}

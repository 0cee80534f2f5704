// The transport contract, first part: what is published arrives once, whole and in order.
import { eventually } from '@baton/testkit'
import type { Pointer, Priority } from '@baton/transport'
import { describe, expect, it } from 'vitest'
import { DEADLINE_MS, gate, handledBy, idsOf, jobs, pointer } from './transport-contract-kit.ts'
import type { CurrentTransport } from './transport-contract-kit.ts'

export function publishingContract(current: CurrentTransport): void {
  describe('publishing', () => {
    it('delivers every pointer unchanged, with and without tracestate', async () => {
      const published = [
        { queue: current.queue, priority: 2, pointer: pointer({ tracestate: 'vendor=a,other=b' }) },
        { queue: current.queue, priority: 2, pointer: pointer({ publishAttempt: 7, bytes: 0 }) },
      ] as const
      const handled = handledBy(current.transport, current.queue, 1)
      await current.publish(published)
      await handled.reaches(2)
      expect(handled.seen).toEqual(published.map((job) => job.pointer))
    })

    it('delivers jobs that were published before anybody consumed', async () => {
      const published = jobs(current.queue, 20)
      await current.publish(published)
      expect(await current.transport.waiting(current.queue)).toBe(20)
      const handled = handledBy(current.transport, current.queue)
      await handled.reaches(20)
      expect(handled.ids().toSorted()).toEqual(idsOf(published).toSorted())
      expect(await current.transport.waiting(current.queue)).toBe(0)
    })

    it('keeps queues apart, whatever characters an agent type is made of', async () => {
      const names = [
        `${current.queue}:a`,
        `${current.queue}{a}`,
        `${current.queue}%003aa`,
        `${current.queue} ü/a`,
        `${current.queue}.a`,
      ]
      const handled = names.map((each) => handledBy(current.transport, each))
      const published = names.flatMap((each) => jobs(each, 2))
      await current.publish(published)
      await Promise.all(handled.map((each) => each.reaches(2)))
      for (const [index, each] of names.entries()) {
        const own = published.filter((job) => job.queue === each)
        expect(handled[index]?.ids().toSorted()).toEqual(idsOf(own).toSorted())
      }
    })

    it('accepts an empty batch', async () => {
      await expect(current.publish([])).resolves.toBeUndefined()
    })

    it('starts a lower priority number first and keeps the order within one', async () => {
      const mixed = [3, 2, 1, 0, 2, 0, 3, 1, 2].map((priority) => ({
        queue: current.queue,
        priority: priority as Priority,
        pointer: pointer(),
      }))
      await current.publish(mixed)
      const handled = handledBy(current.transport, current.queue, 1)
      await handled.reaches(mixed.length)
      const expected = mixed.toSorted((left, right) => left.priority - right.priority)
      expect(handled.ids()).toEqual(idsOf(expected))
    })

    it('keeps a job id once while it waits and while it runs, and takes the next publish attempt', async () => {
      const held = gate()
      const first = pointer()
      const again = { ...first, publishAttempt: 2 }
      const seen: Pointer[] = []
      await current.publish(
        [first, first].map((each) => ({ queue: current.queue, priority: 2, pointer: each })),
      )
      await current.transport.consume({
        queue: current.queue,
        concurrency: 4,
        handle: async (received) => {
          seen.push(received)
          await held.passed
        },
      })
      await eventually(() => seen.length === 1, { deadlineMs: DEADLINE_MS, describe: 'a start' })
      await current.publish(
        [first, again].map((each) => ({ queue: current.queue, priority: 2, pointer: each })),
      )
      await eventually(() => seen.length === 2, { deadlineMs: DEADLINE_MS, describe: 'the next' })
      held.open()
      const last = handledBy(current.transport, `${current.queue}-last`)
      await current.publish(jobs(`${current.queue}-last`, 1))
      await last.reaches(1)
      expect(seen.map((each) => each.publishAttempt)).toEqual([1, 2])
    })
  })
}

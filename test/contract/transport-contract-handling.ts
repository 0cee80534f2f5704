// The transport contract, second part: failing handlers, concurrency, lost and finished jobs.
import { eventually } from '@baton/testkit'
import { jobIdOf } from '@baton/transport'
import type { Pointer } from '@baton/transport'
import { describe, expect, it } from 'vitest'
import { DEADLINE_MS, gate, handledBy, idsOf, jobs } from './transport-contract-kit.ts'
import type { CurrentTransport } from './transport-contract-kit.ts'

export function handlingContract(current: CurrentTransport, canLose: boolean): void {
  describe('handling', () => {
    it('goes on after a handler failed, and does not repeat the failed job', async () => {
      const published = jobs(current.queue, 10)
      const started: string[] = []
      await current.transport.consume({
        queue: current.queue,
        concurrency: 2,
        handle: async (received) => {
          started.push(jobIdOf(received))
          if (started.length % 3 === 1) throw new Error('handler failed')
        },
      })
      await current.publish(published)
      await eventually(() => started.length === 10, {
        deadlineMs: DEADLINE_MS,
        describe: () => `${started.length} of 10 started`,
      })
      const after = jobs(current.queue, 1)
      await current.publish(after)
      await eventually(() => started.includes(idsOf(after)[0] ?? ''), {
        deadlineMs: DEADLINE_MS,
        describe: 'the job after the failures',
      })
      expect(started.toSorted()).toEqual(idsOf([...published, ...after]).toSorted())
    })

    it('never runs more handlers than the concurrency, and does use it', async () => {
      let running = 0
      let most = 0
      let ended = 0
      const held = gate()
      await current.transport.consume({
        queue: current.queue,
        concurrency: 3,
        handle: async () => {
          running += 1
          most = Math.max(most, running)
          if (running === 3) held.open()
          await held.passed
          running -= 1
          ended += 1
        },
      })
      await current.publish(jobs(current.queue, 30))
      await eventually(() => ended === 30, {
        deadlineMs: DEADLINE_MS,
        describe: () => `${ended} of 30 ended, most at once ${most}`,
      })
      expect(most).toBe(3)
    })
  })

  describe('missing', () => {
    it('names unknown and finished jobs, not waiting or running ones', async () => {
      const held = gate()
      const [running, waiting, unknown] = [...jobs(current.queue, 2), ...jobs(current.queue, 1)]
      const finished = jobs(`${current.queue}-finished`, 1)
      const failed = jobs(`${current.queue}-failed`, 1)
      const handled = handledBy(current.transport, `${current.queue}-finished`)
      let failures = 0
      await current.transport.consume({
        queue: `${current.queue}-failed`,
        concurrency: 1,
        handle: async () => {
          failures += 1
          throw new Error('handler failed')
        },
      })
      const started: Pointer[] = []
      await current.transport.consume({
        queue: current.queue,
        concurrency: 1,
        handle: async (received) => {
          started.push(received)
          await held.passed
        },
      })
      if (running === undefined || waiting === undefined || unknown === undefined) throw new Error()
      await current.publish([running, waiting, ...finished, ...failed])
      await handled.reaches(1)
      await eventually(() => started.length === 1 && failures === 1, {
        deadlineMs: DEADLINE_MS,
        describe: 'one running, one failed',
      })
      const asked = [running, waiting, unknown, ...finished, ...failed].map((job) => ({
        queue: job.queue,
        jobId: jobIdOf(job.pointer),
      }))
      const gone = idsOf([unknown, ...finished, ...failed])
      await eventually(async () => (await current.transport.missing(asked)).length === 3, {
        deadlineMs: DEADLINE_MS,
        describe: 'the finished jobs to be missing',
      })
      expect(await current.transport.missing(asked)).toEqual(gone)
      expect(await current.transport.missing([])).toEqual([])
      held.open()
    })

    it.runIf(canLose)('names every job after a loss, and takes the same job again', async () => {
      const published = jobs(current.queue, 5)
      await current.publish(published)
      const asked = published.map((job) => ({ queue: current.queue, jobId: jobIdOf(job.pointer) }))
      expect(await current.transport.missing(asked)).toEqual([])
      await current.loseEverything()
      expect(await current.transport.missing(asked)).toEqual(idsOf(published))
      const handled = handledBy(current.transport, current.queue)
      await current.publish(published)
      await handled.reaches(5)
    })

    it.runIf(canLose)('lets a consumer go on after a loss', async () => {
      const handled = handledBy(current.transport, current.queue)
      await current.publish(jobs(current.queue, 5))
      await handled.reaches(5)
      await current.loseEverything()
      await current.publish(jobs(current.queue, 5))
      await handled.reaches(10)
      expect(handled.seen).toHaveLength(10)
    })
  })
}

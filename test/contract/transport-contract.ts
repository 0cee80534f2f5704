// What every transport must do, stated once. A new transport is done when this suite passes on it.
import { randomUUID } from 'node:crypto'
import { eventually, uniqueName } from '@baton/testkit'
import { jobIdOf } from '@baton/transport'
import type { Job, Pointer, Priority, Transport } from '@baton/transport'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

export interface TransportHarness {
  readonly transport: Transport
  /** Drops every job, as a flushed Redis does. */
  readonly loseEverything?: () => Promise<void>
}

const DEADLINE_MS = 10_000

export function pointer(changes: Partial<Pointer> = {}): Pointer {
  return {
    v: 1,
    handoffId: randomUUID(),
    taskId: randomUUID(),
    generation: 1,
    sha256: 'ab'.repeat(32),
    bytes: 4_096,
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-03',
    ...changes,
  }
}

export function jobs(queue: string, count: number, priority: Priority = 2): Job[] {
  return Array.from({ length: count }, () => ({ queue, priority, pointer: pointer() }))
}

export function handledBy(transport: Transport, queue: string, concurrency = 4) {
  const seen: Pointer[] = []
  const consumer = transport.consume({
    queue,
    concurrency,
    handle: async (received) => void seen.push(received),
  })
  return {
    seen,
    ids: () => seen.map(jobIdOf),
    consumer,
    reaches: (count: number, deadlineMs = DEADLINE_MS) =>
      eventually(() => seen.length >= count, {
        deadlineMs,
        describe: () => `${seen.length} of ${count} jobs handled`,
      }),
  }
}

interface Gate {
  readonly passed: Promise<void>
  open(): void
}

function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

const idsOf = (published: readonly Job[]): string[] => published.map((job) => jobIdOf(job.pointer))

interface Subject {
  /** Makes the transport anew for each test. */
  readonly open: () => Promise<TransportHarness>
  /** Whether jobs can vanish while the process lives; then `loseEverything` must be there. */
  readonly canLose: boolean
}

/** Runs the suite against one implementation. */
export function describeTransport(name: string, { open, canLose }: Subject): void {
  describe(`transport contract: ${name}`, () => {
    let harness: TransportHarness
    let queue: string

    beforeEach(async () => {
      harness = await open()
      queue = uniqueName('queue')
    })
    afterEach(() => harness.transport.close())

    const publish = (published: readonly Job[]): Promise<void> =>
      harness.transport.publish(published)

    describe('publishing', () => {
      it('delivers every pointer unchanged, with and without tracestate', async () => {
        const published = [
          { queue, priority: 2, pointer: pointer({ tracestate: 'vendor=a,other=b' }) },
          { queue, priority: 2, pointer: pointer({ generation: 7, bytes: 0 }) },
        ] as const
        const handled = handledBy(harness.transport, queue, 1)
        await publish(published)
        await handled.reaches(2)
        expect(handled.seen).toEqual(published.map((job) => job.pointer))
      })

      it('delivers jobs that were published before anybody consumed', async () => {
        const published = jobs(queue, 20)
        await publish(published)
        expect(await harness.transport.waiting(queue)).toBe(20)
        const handled = handledBy(harness.transport, queue)
        await handled.reaches(20)
        expect(handled.ids().toSorted()).toEqual(idsOf(published).toSorted())
        expect(await harness.transport.waiting(queue)).toBe(0)
      })

      it('keeps queues apart, whatever characters an agent type is made of', async () => {
        const names = [`${queue}:a`, `${queue}{a}`, `${queue}%003aa`, `${queue} ü/a`, `${queue}.a`]
        const handled = names.map((each) => handledBy(harness.transport, each))
        const published = names.flatMap((each) => jobs(each, 2))
        await publish(published)
        await Promise.all(handled.map((each) => each.reaches(2)))
        for (const [index, each] of names.entries()) {
          const own = published.filter((job) => job.queue === each)
          expect(handled[index]?.ids().toSorted()).toEqual(idsOf(own).toSorted())
        }
      })

      it('accepts an empty batch', async () => {
        await expect(publish([])).resolves.toBeUndefined()
      })

      it('starts a lower priority number first and keeps the order within one', async () => {
        const mixed = [3, 2, 1, 0, 2, 0, 3, 1, 2].map((priority) => ({
          queue,
          priority: priority as Priority,
          pointer: pointer(),
        }))
        await publish(mixed)
        const handled = handledBy(harness.transport, queue, 1)
        await handled.reaches(mixed.length)
        const expected = mixed.toSorted((left, right) => left.priority - right.priority)
        expect(handled.ids()).toEqual(idsOf(expected))
      })

      it('keeps a job id once while it waits and while it runs, and takes the next generation', async () => {
        const held = gate()
        const first = pointer()
        const again = { ...first, generation: 2 }
        const seen: Pointer[] = []
        await publish([first, first].map((each) => ({ queue, priority: 2, pointer: each })))
        await harness.transport.consume({
          queue,
          concurrency: 4,
          handle: async (received) => {
            seen.push(received)
            await held.passed
          },
        })
        await eventually(() => seen.length === 1, { deadlineMs: DEADLINE_MS, describe: 'a start' })
        await publish([first, again].map((each) => ({ queue, priority: 2, pointer: each })))
        await eventually(() => seen.length === 2, { deadlineMs: DEADLINE_MS, describe: 'the next' })
        held.open()
        const last = handledBy(harness.transport, `${queue}-last`)
        await publish(jobs(`${queue}-last`, 1))
        await last.reaches(1)
        expect(seen.map((each) => each.generation)).toEqual([1, 2])
      })
    })

    describe('handling', () => {
      it('goes on after a handler failed, and does not repeat the failed job', async () => {
        const published = jobs(queue, 10)
        const started: string[] = []
        await harness.transport.consume({
          queue,
          concurrency: 2,
          handle: async (received) => {
            started.push(jobIdOf(received))
            if (started.length % 3 === 1) throw new Error('handler failed')
          },
        })
        await publish(published)
        await eventually(() => started.length === 10, {
          deadlineMs: DEADLINE_MS,
          describe: () => `${started.length} of 10 started`,
        })
        const after = jobs(queue, 1)
        await publish(after)
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
        await harness.transport.consume({
          queue,
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
        await publish(jobs(queue, 30))
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
        const [running, waiting, unknown] = [...jobs(queue, 2), ...jobs(queue, 1)]
        const finished = jobs(`${queue}-finished`, 1)
        const failed = jobs(`${queue}-failed`, 1)
        const handled = handledBy(harness.transport, `${queue}-finished`)
        let failures = 0
        await harness.transport.consume({
          queue: `${queue}-failed`,
          concurrency: 1,
          handle: async () => {
            failures += 1
            throw new Error('handler failed')
          },
        })
        const started: Pointer[] = []
        await harness.transport.consume({
          queue,
          concurrency: 1,
          handle: async (received) => {
            started.push(received)
            await held.passed
          },
        })
        if (running === undefined || waiting === undefined || unknown === undefined)
          throw new Error()
        await publish([running, waiting, ...finished, ...failed])
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
        await eventually(async () => (await harness.transport.missing(asked)).length === 3, {
          deadlineMs: DEADLINE_MS,
          describe: 'the finished jobs to be missing',
        })
        expect(await harness.transport.missing(asked)).toEqual(gone)
        expect(await harness.transport.missing([])).toEqual([])
        held.open()
      })

      it.runIf(canLose)('names every job after a loss, and takes the same job again', async () => {
        const published = jobs(queue, 5)
        await publish(published)
        const asked = published.map((job) => ({ queue, jobId: jobIdOf(job.pointer) }))
        expect(await harness.transport.missing(asked)).toEqual([])
        await harness.loseEverything?.()
        expect(await harness.transport.missing(asked)).toEqual(idsOf(published))
        const handled = handledBy(harness.transport, queue)
        await publish(published)
        await handled.reaches(5)
      })

      it.runIf(canLose)('lets a consumer go on after a loss', async () => {
        const handled = handledBy(harness.transport, queue)
        await publish(jobs(queue, 5))
        await handled.reaches(5)
        await harness.loseEverything?.()
        await publish(jobs(queue, 5))
        await handled.reaches(10)
      })
    })

    describe('pause, resume, stop', () => {
      it('starts nothing while paused, lets running handlers end, and goes on after resume', async () => {
        const held = gate()
        const started: Pointer[] = []
        let ended = 0
        const consumer = await harness.transport.consume({
          queue,
          concurrency: 2,
          handle: async (received) => {
            started.push(received)
            await held.passed
            ended += 1
          },
        })
        await publish(jobs(queue, 1))
        await eventually(() => started.length === 1, {
          deadlineMs: DEADLINE_MS,
          describe: 'a start',
        })
        await consumer.pause()
        await publish(jobs(queue, 5))
        await pastOtherQueue(harness.transport, publish)
        expect(started).toHaveLength(1)
        await eventually(async () => (await harness.transport.waiting(queue)) === 5, {
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
        const consumer = await harness.transport.consume({
          queue,
          concurrency: 2,
          handle: async (received) => {
            started.push(received)
            await held.passed
            ended += 1
          },
        })
        const published = jobs(queue, 6)
        await publish(published)
        await eventually(() => started.length === 2, {
          deadlineMs: DEADLINE_MS,
          describe: 'two starts',
        })
        let stopped = false
        const stopping = consumer.stop().then(() => (stopped = true))
        await pastOtherQueue(harness.transport, publish)
        expect(stopped).toBe(false)
        held.open()
        await stopping
        expect(ended).toBe(started.length)
        await consumer.stop()
        const others = handledBy(harness.transport, queue)
        await others.reaches(published.length - started.length)
        const all = [...started.map(jobIdOf), ...others.ids()]
        expect(all.toSorted()).toEqual(idsOf(published).toSorted())
      })

      it('shares one queue between consumers without running a job twice', async () => {
        const left = handledBy(harness.transport, queue, 2)
        const right = handledBy(harness.transport, queue, 2)
        const published = jobs(queue, 200)
        await publish(published)
        await eventually(() => left.seen.length + right.seen.length >= 200, {
          deadlineMs: DEADLINE_MS,
          describe: () => `${left.seen.length} and ${right.seen.length} of 200`,
        })
        expect([...left.ids(), ...right.ids()].toSorted()).toEqual(idsOf(published).toSorted())
      })

      it('refuses to publish once closed, as a transient error', async () => {
        await harness.transport.close()
        await expect(publish(jobs(queue, 1))).rejects.toMatchObject({ kind: 'transient' })
      })
    })
  })
}

// A job that travels through another queue of the same transport: whatever was going to start by
// itself has had the time that a whole delivery takes.
async function pastOtherQueue(
  transport: Transport,
  publish: (published: readonly Job[]) => Promise<void>,
): Promise<void> {
  const other = uniqueName('other')
  const handled = handledBy(transport, other)
  for (let round = 1; round <= 3; round += 1) {
    await publish(jobs(other, 1))
    await handled.reaches(round)
  }
}

// What the parts of the transport contract share: jobs to send, handlers that remember, gates.
import { randomUUID } from 'node:crypto'
import { eventually, uniqueName } from '@baton/testkit'
import { jobIdOf } from '@baton/transport'
import type { Job, Pointer, Priority, Transport } from '@baton/transport'

/** The transport under test, made anew for each test, and a queue nobody else uses. */
export interface CurrentTransport {
  readonly transport: Transport
  readonly queue: string
  publish(published: readonly Job[]): Promise<void>
  loseEverything(): Promise<void>
}

export const DEADLINE_MS = 10_000

export function pointer(changes: Partial<Pointer> = {}): Pointer {
  return {
    v: 1,
    handoffId: randomUUID(),
    taskId: randomUUID(),
    publishAttempt: 1,
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

export interface Gate {
  readonly passed: Promise<void>
  open(): void
}

export function gate(): Gate {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { passed: promise, open: resolve }
}

export const idsOf = (published: readonly Job[]): string[] =>
  published.map((job) => jobIdOf(job.pointer))

// A job that travels through another queue of the same transport: whatever was going to start by
// itself has had the time that a whole delivery takes.
export async function pastOtherQueue(transport: Transport): Promise<void> {
  const other = uniqueName('other')
  const handled = handledBy(transport, other)
  for (let round = 1; round <= 3; round += 1) {
    await transport.publish(jobs(other, 1))
    await handled.reaches(round)
  }
}

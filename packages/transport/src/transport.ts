// The contract of a queue: pointers in, handlers called. Nothing here is a source of truth; a
// transport may lose everything and Postgres re-drives it (I2).

import { isUuid } from '@baton/protocol'
import type { Job, NextWatermark, Pointer, QueueWatermark } from '@baton/protocol'

export type { Job, NextWatermark, Pointer, Priority, QueueWatermark } from '@baton/protocol'

export interface JobReference {
  readonly queue: string
  readonly jobId: string
}

export interface ConsumeOptions {
  readonly queue: string
  /** Most handlers of this consumer that run at once. */
  readonly concurrency: number
  /**
   * Settles everything itself. A rejection is logged and the job is over: no retries here. 'declined' puts the job back
   * in front for another consumer: pause this one first, or it gets it again.
   */
  readonly handle: (pointer: Pointer) => Promise<void | 'declined'>
  /**
   * Called at most once, with BATON_CONSUMER_STUCK, when jobs wait, handlers are free and nothing
   * arrives although the connection was made anew: the process had better begin again.
   */
  readonly onStuck?: (error: Error) => void
}

export interface Consumer {
  /** Once it resolves no further handler starts. Those under way go on. */
  pause(): Promise<void>
  resume(): Promise<void>
  /** Takes nothing more and resolves when the handlers under way have ended. Safe to call twice. */
  stop(): Promise<void>
}

/** Watermarks behind what was published, in the queue's own server: what it loses, it loses from the end. */
export interface QueueWatermarks {
  /**
   * Remembers watermarks after everything published before, and answers for each whether its
   * predecessor was there; where not, the queue has lost its end. Fails as `publish` does.
   */
  write(watermarks: readonly NextWatermark[]): Promise<readonly boolean[]>
  /**
   * What the server still knows of each relay and queue; null where it knows nothing. Of several servers one may be away: what it
   * knows is undefined. Rejects where none answers.
   */
  read(watermarks: readonly QueueWatermark[]): Promise<readonly (number | null | undefined)[]>
}

export interface Transport {
  readonly kind: 'redis' | 'in-process'
  /**
   * Resolves when every job is accepted. A rejection is a transient BatonError and means *unknown*:
   * some jobs may be in. Publishing them again is safe, a job id that is still known is kept once.
   */
  publish(jobs: readonly Job[]): Promise<void>
  consume(options: ConsumeOptions): Promise<Consumer>
  /**
   * The ids of `jobs` that will start no handler any more: lost, or finished. Of several servers one may be away: its jobs are not
   * among them. Rejects where none answers.
   */
  missing(jobs: readonly JobReference[]): Promise<readonly string[]>
  /** Null where a queue cannot lose anything while its processes live. */
  readonly watermarks: QueueWatermarks | null
  /** Jobs accepted and not yet started; the relay stops publishing above its high-water mark. */
  waiting(queue: string): Promise<number>
  /** Stops every consumer, then lets go of all connections. Safe to call twice. */
  close(): Promise<void>
}

/** The job id of a publication. Queues refuse the same id twice while they still know it. */
export function jobIdOf({
  handoffId,
  publishAttempt,
}: Pick<Pointer, 'handoffId' | 'publishAttempt'>): string {
  return `h-${handoffId}-${publishAttempt}`
}

const INT4_MAX = 2_147_483_647

const isId = (value: unknown): boolean => typeof value === 'string' && isUuid(value)
const isInt4 = (value: unknown): boolean =>
  Number.isSafeInteger(value) && Math.abs(value as number) <= INT4_MAX

/** Whether a queue's data is a pointer, of which Postgres takes every part: another program may have put something into the queue. */
export function isPointer(data: unknown): data is Pointer {
  if (typeof data !== 'object' || data === null) return false
  const pointer = data as Partial<Record<keyof Pointer, unknown>>
  return (
    pointer.v === 1 &&
    isId(pointer.handoffId) &&
    isId(pointer.taskId) &&
    isInt4(pointer.publishAttempt) &&
    typeof pointer.sha256 === 'string' &&
    Number.isSafeInteger(pointer.bytes) &&
    typeof pointer.traceparent === 'string' &&
    (pointer.tracestate === undefined || typeof pointer.tracestate === 'string')
  )
}

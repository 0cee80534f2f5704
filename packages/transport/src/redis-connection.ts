// How Baton's processes talk to Redis: bounded waits, fast reconnects, never an unhandled error.
import { fullJitterMs, transient } from '@baton/runtime'
import type { BatonError, Logger } from '@baton/runtime'
import type { RedisOptions } from 'ioredis'

/** A publication that takes longer has failed as far as the relay is concerned. */
export const PUBLISH_TIMEOUT_MS = 2_000
const CONNECT_TIMEOUT_MS = 2_000
/** Longer than the longest blocking read (2 s) plus a margin: silence beyond it is a dead link. */
const CONSUMER_SILENCE_MS = 8_000
const PUBLISHER_SILENCE_MS = 3_000
const RECONNECT_BASE_MS = 100
const RECONNECT_CAP_MS = 1_000

/** Half fixed, half random: never slower than a second, never all processes at once. */
export function reconnectDelayMs(attempt: number): number {
  const bounds = { baseMs: RECONNECT_BASE_MS, capMs: RECONNECT_CAP_MS }
  return RECONNECT_BASE_MS / 2 + Math.floor(fullJitterMs(attempt, bounds) * 0.95)
}

/** Fails fast: a relay that cannot publish keeps its rows and tries again. */
export const publisherOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 1,
  commandTimeout: PUBLISH_TIMEOUT_MS,
  connectTimeout: CONNECT_TIMEOUT_MS,
  socketTimeout: PUBLISHER_SILENCE_MS,
  retryStrategy: reconnectDelayMs,
} satisfies RedisOptions

/** Waits for Redis to come back for as long as `wanted` says so, then lets the connection end. */
export function consumerOptions(wanted: () => boolean) {
  return {
    maxRetriesPerRequest: null,
    connectTimeout: CONNECT_TIMEOUT_MS,
    socketTimeout: CONSUMER_SILENCE_MS,
    retryStrategy: (attempt: number) => (wanted() ? reconnectDelayMs(attempt) : null),
  } satisfies RedisOptions
}

/** The part of ioredis and BullMQ objects that reports trouble. */
interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown
}

// A socket error has a code; a reply of Redis begins with one, as in "OOM command not allowed".
function errorCode(error: Error): string {
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  return /^[A-Z]{2,20}(?= )/.exec(error.message)?.[0] ?? error.name
}

const REPEAT_AFTER_MS = 10_000

/**
 * Listens to `error`, without which an emitter ends the process. A lost Redis repeats itself every
 * second, so one line per code is logged in ten seconds, without the driver's message.
 */
export function logErrors(emitter: Emitter, logger: Logger, connection: string): void {
  const loggedAt = new Map<string, number>()
  emitter.on('error', (error) => {
    const code = errorCode(error)
    const now = performance.now()
    if (now - (loggedAt.get(code) ?? -REPEAT_AFTER_MS) < REPEAT_AFTER_MS) return
    loggedAt.set(code, now)
    logger.warn({ event: 'queue.error', connection, code })
  })
}

export function unavailable(cause: unknown): BatonError {
  return transient('BATON_QUEUE_UNAVAILABLE', 'Redis did not take the request', {
    cause,
    fix: 'Check that Redis runs and has memory left; handoffs wait in Postgres meanwhile.',
  })
}

/** The result of `work`, or BATON_QUEUE_UNAVAILABLE when it fails or takes longer than `limitMs`. */
export async function within<Result>(limitMs: number, work: Promise<Result>): Promise<Result> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs} ms`)), limitMs)
  })
  try {
    return await Promise.race([work, late])
  } catch (error) {
    throw unavailable(error)
  } finally {
    clearTimeout(timer)
  }
}

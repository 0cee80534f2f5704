// Trouble with a queue, made harmless: bounded waits, one kind of error, nothing unhandled.
import { transient, within } from '@baton/runtime'
import type { BatonError, Logger } from '@baton/runtime'

/** A publication that takes longer has failed as far as the relay is concerned. */
export const PUBLISH_TIMEOUT_MS = 2_000

/** The part of ioredis and BullMQ objects that reports trouble. */
interface Emitter {
  on(event: 'error', listener: (error: Error) => void): unknown
}

// A socket error has a code; a reply of Redis begins with one, as in "OOM command not allowed".
function errorCode(error: Error): string {
  const { code } = error as { code?: unknown }
  if (typeof code === 'string') return code
  if (error.message.startsWith('All sentinels are unreachable')) return 'NO_PRIMARY'
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

const FIX = 'Check that its server runs and has memory left; handoffs wait in Postgres meanwhile.'

export function unavailable(cause: unknown, fix = FIX): BatonError {
  return transient('BATON_QUEUE_UNAVAILABLE', 'the queue did not take the request', { cause, fix })
}

/** The result of `work`, or BATON_QUEUE_UNAVAILABLE when it fails or takes longer than `limitMs`. */
export const availableWithin = <Result>(limitMs: number, work: Promise<Result>): Promise<Result> =>
  within(limitMs, work, () => new Error(`no answer within ${limitMs} ms`)).catch(
    (error: unknown) => {
      throw unavailable(error)
    },
  )

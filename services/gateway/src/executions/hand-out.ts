// Gives what waits in queues to agents outside that ask for it.
import { releaseRemote } from '@baton/engine'
import type { Given } from '@baton/engine'
import { codeOf, every } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import { ProblemError } from '@baton/http/server'
import type { Asking } from './asker.ts'
import { openQueue } from './open-queue.ts'
import type { OpenQueue, OpenQueueParts } from './open-queue.ts'
import { createRegistrations } from './registrations.ts'

export interface HandOut extends Service {
  /**
   * Resolves with up to `max` executions as soon as there are some, or with none after `waitMs`. Throws 429
   * BATON_POLLERS_TOO_MANY.
   */
  take(asking: Asking): Promise<readonly Given[]>
  /** The agent types whose queues are read here. */
  types(): readonly string[]
  /** An operator was heard of: what it registered is live. */
  seen(takenBy: string): void
}

/** Most who ask at once at one gateway, and for one operator. */
const ASKING_MAX = 1_024
const ASKING_PER_OPERATOR_MAX = 256
/** A queue that nobody asked for in this time is let go. */
const IDLE_MS = 60_000
const RENEW_MS = 10_000
/** How soon queues are read again once the auditor is back. */
const LOOK_MS = 1_000

/** Nothing is read before somebody asks. */
export function createHandOut(parts: OpenQueueParts): HandOut {
  const { pool, logger } = parts
  const queues = createQueues(parts)
  const registrations = createRegistrations(parts)
  let stopping = false

  const looks = every({
    name: 'pull',
    everyMs: LOOK_MS,
    firstAfterMs: LOOK_MS,
    async run() {
      for (const queue of await queues.open()) if (queue.askers.size > 0) queue.look()
      await queues.letGoOfIdle()
    },
    failed: (error) => logger.warn({ event: 'pull.unread', code: codeOf(error) }),
  })
  const renewals = every({
    name: 'pull registrations',
    everyMs: RENEW_MS,
    firstAfterMs: RENEW_MS,
    run: registrations.renew,
    failed: (error) => logger.warn({ event: 'agents.unregistered', code: codeOf(error) }),
  })

  async function refuseCrowd(takenBy: string): Promise<void> {
    const all = (await queues.open()).flatMap(({ askers }) => [...askers])
    const own = all.filter((one) => one.takenBy === takenBy).length
    if (all.length >= ASKING_MAX || own >= ASKING_PER_OPERATOR_MAX) throw POLLERS_TOO_MANY
  }

  return {
    name: 'pull',
    types: queues.types,
    seen: registrations.seen,
    async start() {
      await looks.start()
      await renewals.start()
    },
    async take(asking) {
      await refuseCrowd(asking.takenBy)
      if (stopping) return []
      await registrations.add(asking)
      const given = await (await queues.of(asking.agent.type)).take(asking)
      if (!asking.gone.aborted) return given
      const fences = given.map(({ claimed }) => claimed)
      await releaseRemote(pool, fences)
      return []
    },
    async stop() {
      stopping = true
      await Promise.all([looks.stop(), renewals.stop()])
      await queues.stop()
      await registrations.leave()
    },
  }
}

function createQueues(parts: OpenQueueParts) {
  const known = new Map<string, Promise<OpenQueue>>()
  const open = async (): Promise<readonly OpenQueue[]> => {
    const opened = await Promise.allSettled(known.values())
    return opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  }
  return {
    open,
    types: () => [...known.keys()],
    of(type: string): Promise<OpenQueue> {
      const queue = known.get(type) ?? openQueue(type, parts)
      known.set(type, queue)
      queue.catch(() => known.delete(type))
      return queue
    },
    // Whoever asks again later opens the queue again.
    async letGoOfIdle(): Promise<void> {
      for (const [type, opening] of known) {
        const queue = await opening
        if (queue.askers.size > 0 || performance.now() - queue.askedAt < IDLE_MS) continue
        known.delete(type)
        await queue.stop()
      }
    },
    stop: async () => void (await Promise.all((await open()).map((queue) => queue.stop()))),
  }
}

const POLLERS_TOO_MANY = new ProblemError({
  status: 429,
  code: 'BATON_POLLERS_TOO_MANY',
  detail: 'too many requests wait for executions at this gateway already',
  fix: 'Claim several with one request ("max"), or wait for an answer before asking again.',
  headers: { 'retry-after': '1' },
})

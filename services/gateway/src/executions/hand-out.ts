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
   * BATON_POLLERS_TOO_MANY and BATON_AGENT_TYPES_TOO_MANY.
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
/** Agent types whose queues one operator opened here; each costs connections of the queue server. */
const TYPES_PER_OPERATOR_MAX = 64
/** A queue that nobody asked for in this time is let go. */
const IDLE_MS = 60_000
const RENEW_MS = 10_000
/** How soon queues are read again once the auditor is back. */
const LOOK_MS = 1_000

/** Nothing is read before somebody asks. */
export function createHandOut(parts: OpenQueueParts): HandOut {
  const { pool, logger } = parts
  const queues = createQueues(parts)
  const crowd = createCrowd()
  const registrations = createRegistrations(parts)
  let stopping = false

  const looks = every({
    name: 'pull',
    everyMs: LOOK_MS,
    firstAfterMs: LOOK_MS,
    async run() {
      for (const queue of queues.open()) if (queue.askers.size > 0) queue.look()
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

  return {
    name: 'pull',
    types: queues.types,
    seen: registrations.seen,
    async start() {
      await looks.start()
      await renewals.start()
    },
    async take(asking) {
      if (stopping) return []
      const leave = crowd.join(asking.takenBy)
      try {
        queues.requireRoom(asking)
        await registrations.add(asking)
        const given = await (await queues.of(asking)).take(asking)
        if (!asking.gone.aborted) return given
        await releaseRemote(
          pool,
          given.map(({ claimed }) => claimed),
        )
        return []
      } finally {
        leave()
      }
    },
    async stop() {
      stopping = true
      await Promise.all([looks.stop(), renewals.stop()])
      await queues.stop()
      await registrations.leave()
    },
  }
}

/** Who asks at once: `join` answers what ends it, and throws for one too many. */
function createCrowd() {
  const byOperator = new Map<string, number>()
  let all = 0
  return {
    join(takenBy: string): () => void {
      const own = byOperator.get(takenBy) ?? 0
      if (all >= ASKING_MAX || own >= ASKING_PER_OPERATOR_MAX) throw POLLERS_TOO_MANY
      all += 1
      byOperator.set(takenBy, own + 1)
      return () => {
        all -= 1
        const left = (byOperator.get(takenBy) ?? 1) - 1
        if (left === 0) byOperator.delete(takenBy)
        else byOperator.set(takenBy, left)
      }
    },
  }
}

interface KnownQueue {
  readonly opening: Promise<OpenQueue>
  /** Undefined while it is being opened. */
  opened: OpenQueue | undefined
  readonly openedBy: string
}

function createQueues(parts: OpenQueueParts) {
  const known = new Map<string, KnownQueue>()

  function requireRoom({ agent: { type }, takenBy }: Asking): void {
    if (known.has(type)) return
    const own = [...known.values()].filter(({ openedBy }) => openedBy === takenBy)
    if (own.length >= TYPES_PER_OPERATOR_MAX) throw TYPES_TOO_MANY
  }

  function openFor(asking: Asking): KnownQueue {
    requireRoom(asking)
    const { type } = asking.agent
    const opening = openQueue(type, parts)
    const queue: KnownQueue = { opening, opened: undefined, openedBy: asking.takenBy }
    known.set(type, queue)
    opening.then(
      (opened) => void (queue.opened = opened),
      () => known.delete(type),
    )
    return queue
  }

  const open = (): readonly OpenQueue[] =>
    [...known.values()].flatMap(({ opened }) => (opened === undefined ? [] : [opened]))

  return {
    open,
    requireRoom,
    types: () => [...known.keys()],
    of: (asking: Asking): Promise<OpenQueue> =>
      (known.get(asking.agent.type) ?? openFor(asking)).opening,
    // Whoever asks again later opens the queue again.
    async letGoOfIdle(): Promise<void> {
      for (const [type, { opened }] of known) {
        if (opened === undefined || opened.askers.size > 0) continue
        if (performance.now() - opened.askedAt < IDLE_MS) continue
        known.delete(type)
        await opened.stop()
      }
    },
    async stop(): Promise<void> {
      await Promise.allSettled([...known.values()].map(({ opening }) => opening))
      await Promise.all(open().map((queue) => queue.stop()))
    },
  }
}

const TYPES_TOO_MANY = new ProblemError({
  status: 429,
  code: 'BATON_AGENT_TYPES_TOO_MANY',
  detail: `one operator asks for at most ${TYPES_PER_OPERATOR_MAX} agent types within a minute at one gateway`,
  fix: 'Ask for fewer agent types, or with keys of several operators.',
  headers: { 'retry-after': String(IDLE_MS / 1000) },
})

const POLLERS_TOO_MANY = new ProblemError({
  status: 429,
  code: 'BATON_POLLERS_TOO_MANY',
  detail: 'too many requests wait for executions at this gateway already',
  fix: 'Claim several with one request ("max"), or wait for an answer before asking again.',
  headers: { 'retry-after': '1' },
})

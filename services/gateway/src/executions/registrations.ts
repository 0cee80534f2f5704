// Agents that pull are live while they are heard of: others see them, and blocked handoffs find them.
import { randomUUID } from 'node:crypto'
import type { AgentRegistration } from '@baton/protocol'
import { registerAgents, unregisterAgents } from '@baton/store'
import type { Pool } from '@baton/store'
import type { Asking } from './asker.ts'

interface Registered {
  readonly worker: string
  readonly agent: AgentRegistration
  readonly takenBy: string
  seenAt: number
}

/** Of one operator; for one more, the one that was registered first is taken back. */
const REGISTERED_PER_OPERATOR_MAX = 100
/** How long after it was heard of an agent counts as live; at least as long as it may work in silence. */
const LIVE_MIN_MS = 30_000

export interface Registrations {
  add(asking: Asking): Promise<void>
  /** An operator was heard of. */
  seen(takenBy: string): void
  /** Renews those that were heard of, ends the others. */
  renew(): Promise<void>
  leave(): Promise<void>
}

export function createRegistrations({
  pool,
  leaseMs,
}: {
  readonly pool: Pool
  readonly leaseMs: number
}): Registrations {
  const known = new Map<string, Registered>()
  const liveMs = Math.max(LIVE_MIN_MS, leaseMs)

  const register = ({ worker, agent }: Registered): Promise<void> =>
    registerAgents(pool, worker, [agent])

  async function end(ended: readonly [string, Registered][]): Promise<void> {
    for (const [name] of ended) known.delete(name)
    await Promise.all(ended.map(([, { worker }]) => unregisterAgents(pool, worker)))
  }

  return {
    async add({ agent, takenBy }) {
      const name = JSON.stringify([takenBy, agent])
      const seenAt = performance.now()
      const same = known.get(name)
      if (same !== undefined) return void (same.seenAt = seenAt)
      const own = [...known].filter(([, one]) => one.takenBy === takenBy)
      const registered = { worker: randomUUID(), agent, takenBy, seenAt }
      known.set(name, registered)
      await end(own.slice(0, Math.max(0, own.length + 1 - REGISTERED_PER_OPERATOR_MAX)))
      await register(registered)
    },
    seen(takenBy) {
      const seenAt = performance.now()
      for (const one of known.values()) if (one.takenBy === takenBy) one.seenAt = seenAt
    },
    async renew() {
      const now = performance.now()
      await end([...known].filter(([, { seenAt }]) => now - seenAt > liveMs))
      await Promise.all([...known.values()].map(register))
    },
    leave: () => end([...known]),
  }
}

// Says which agents this process hosts, so that others can be told and blocked handoffs find them.
import { randomUUID } from 'node:crypto'
import type { AgentRegistration } from '@baton/protocol'
import { codeOf } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { registerAgents, unregisterAgents } from '@baton/store'
import type { Pool } from '@baton/store'

interface RegistrarParts {
  readonly pool: Pool
  readonly agents: readonly AgentRegistration[]
  readonly logger: Logger
}

const RENEW_MS = 10_000

/** Registers at the start, renews every 10 s and leaves at the stop; a registration lapses after 30 s. */
export function createRegistrar({ pool, agents, logger }: RegistrarParts): Service {
  const worker = randomUUID()
  const rows = agents.map((agent) => ({
    type: agent.type,
    version: agent.version,
    requires: agent.requires,
    capabilities: agent.capabilities ?? [],
    mcp: agent.mcp ?? [],
    contextWindowTokens: agent.contextWindowTokens ?? null,
  }))
  let timer: NodeJS.Timeout | undefined
  let renewing: Promise<void> = Promise.resolve()
  let stopping = false

  // Handoffs are executed without it too; the next time may succeed.
  async function quietly(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      logger.warn({ event: 'agents.unregistered', code: codeOf(error) })
    }
  }

  function schedule(): void {
    if (stopping) return
    timer = setTimeout(() => {
      renewing = quietly(() => registerAgents(pool, worker, rows)).finally(schedule)
    }, RENEW_MS)
  }

  return {
    name: 'registrar',
    async start() {
      await quietly(() => registerAgents(pool, worker, rows))
      schedule()
    },
    async stop() {
      stopping = true
      clearTimeout(timer)
      await renewing
      await quietly(() => unregisterAgents(pool, worker))
    },
  }
}

// Says which agents this process hosts, so that others can be told and blocked handoffs find them.
import { randomUUID } from 'node:crypto'
import type { AgentRegistration, Jurisdiction } from '@baton/protocol'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service } from '@baton/runtime'
import { registerAgents, unregisterAgents } from '@baton/store'
import type { Pool } from '@baton/store'
import { placed } from './execute-handoff.ts'

interface RegistrarParts {
  readonly pool: Pool
  readonly agents: readonly AgentRegistration[]
  /** Where this process runs. */
  readonly jurisdiction?: Jurisdiction
  readonly logger: Logger
}

const RENEW_MS = 10_000

/** Registers at the start, renews every 10 s and leaves at the stop; a registration expires after 30 s. */
export function createRegistrar(parts: RegistrarParts): Service {
  const { pool, logger } = parts
  const worker = randomUUID()
  const agents = parts.agents.map((agent) => placed(agent, parts.jurisdiction))
  const register = () => registerAgents(pool, worker, agents)
  // Handoffs are executed without it too; the next time may succeed.
  const failed = (error: unknown): void =>
    logger.warn({ event: 'agents.unregistered', code: codeOf(error) })

  const renewals = every({
    name: 'registrar',
    everyMs: RENEW_MS,
    firstAfterMs: RENEW_MS,
    run: register,
    failed,
  })
  return {
    name: renewals.name,
    async start() {
      await register().catch(failed)
      await renewals.start()
    },
    async stop() {
      await renewals.stop()
      await unregisterAgents(pool, worker).catch(failed)
    },
  }
}

// All services of an instance: started together, stopped in order, moved to other ports when theirs were taken.
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { startChild } from './child-service.ts'
import type { ChildService } from './child-service.ts'
import type { Databases } from './databases.ts'
import { forgetInstance, writeInstance } from './instance-record.ts'
import { ensurePeople } from './people.ts'
import { choosePorts } from './ports.ts'
import { prepareSeals } from './prepare-seals.ts'
import type { Queue } from './queue.ts'
import { serviceSettings } from './service-settings.ts'

export interface RunningServices {
  readonly names: readonly string[]
  readonly gatewayUrl: string
  readonly auditorUrl: string
  /** Rejects with BATON_SERVICE_ENDED when one of them ends by itself. */
  readonly failed: Promise<never>
  /** Lets them drain, the auditor last. */
  stop(): Promise<void>
}

interface Parts {
  readonly context: Context
  readonly databases: Databases
  readonly queue: Queue
}

const ATTEMPTS_MAX = 5
export const WITNESS_PORT = 8_422

/** Resolves when all are ready. Throws BATON_SERVICE_START_FAILED, with nothing left running. */
export async function startServices(parts: Parts): Promise<RunningServices> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryStart(parts, attempt)
    } catch (error) {
      if (attempt === ATTEMPTS_MAX || !lostItsPort(error)) throw error
    }
  }
}

async function tryStart(
  { context, databases, queue }: Parts,
  attempt: number,
): Promise<RunningServices> {
  const { environment, home } = context
  const { BATON_GATEWAY_PORT: gateway, BATON_AUDITOR_PORT: auditor } = context.settings
  const ports = await choosePorts({ gateway, auditor, witness: WITNESS_PORT }, attempt)
  const trustedKeys = context.settings.BATON_AUDIT_TRUSTED_KEYS
  const seals = await prepareSeals({ home, databases, ports, trustedKeys })
  const people = await ensurePeople(home)
  const settings = serviceSettings({ environment, home, databases, people, queue, ports, seals })
  const logsDir = join(home, 'logs')
  const services = [...settings].map(([name, own]) =>
    startChild({ name, environment: own, logsDir }),
  )
  const stop = () => stopInOrder(services, home)
  try {
    const gatewayUrl = `http://127.0.0.1:${ports.gateway}`
    const auditorUrl = `http://127.0.0.1:${ports.auditor}`
    await writeInstance(home, { services, queue: queue.kind, gatewayUrl, auditorUrl })
    await Promise.all(services.map((service) => service.ready))
    const failed = Promise.race(services.map((service) => service.ended))
    failed.catch(() => undefined)
    const names = services.map(({ name }) => name)
    return { names, gatewayUrl, auditorUrl, failed, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Somebody took the port between the choice and the start. */
function lostItsPort(error: unknown): boolean {
  return (
    error instanceof Error && /BATON_(?:GATEWAY|AUDITOR|WITNESS)_LISTEN_FAILED/.test(error.message)
  )
}

const LAST = ['auditor', 'sealer', 'archiver', 'witness']

// What drains still needs its receipts, the last records want to be sealed and archived, and the last seal to be witnessed.
async function stopInOrder(services: readonly ChildService[], home: string): Promise<void> {
  await forgetInstance(home)
  const others = services.filter(({ name }) => !LAST.includes(name))
  await Promise.all(others.map((service) => service.stop()))
  for (const name of LAST) await services.find((service) => service.name === name)?.stop()
}

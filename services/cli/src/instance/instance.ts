// A running Baton on this machine: databases, queue and services; starts what is not running and stops it again.
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '@baton/infra'
import { createLogger, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Context } from '../context.ts'
import { startChild } from './child-service.ts'
import type { ChildService } from './child-service.ts'
import { openDatabases } from './databases.ts'
import type { Databases } from './databases.ts'
import { endLeftovers, forgetInstance, runningInstance, writeInstance } from './instance-record.ts'
import { migrateDatabases } from './migrations.ts'
import { openQueue } from './queue.ts'
import type { Queue, QueueChoice } from './queue.ts'
import { serviceSettings } from './service-settings.ts'

export interface Instance {
  readonly databases: Databases
  readonly queue: Queue['kind']
  readonly gatewayUrl: string
  /** Rejects with BATON_SERVICE_ENDED when a service ends by itself. */
  readonly failed: Promise<never>
  /** Drains and stops what this command started, in order. Safe to call twice. */
  stop(): Promise<void>
}

interface OpenOptions {
  readonly queue: QueueChoice
}

const GATEWAY_PORT = 8420
const AUDITOR_PORT = 8421
const PORTS_TRIED_MAX = 100

/** A log of this command itself in `.baton/logs/cli.log`. */
export function openLog(home: string): Logger {
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 })
  const destination = createWriteStream(join(home, 'logs', 'cli.log'), { flags: 'a', mode: 0o600 })
  return createLogger({ service: 'cli', destination })
}

/** Uses the services of another command that serves this home, or starts all of them. */
export async function openInstance(context: Context, options: OpenOptions): Promise<Instance> {
  const logger = openLog(context.home)
  const running = await runningInstance(context.home)
  if (running === null) return startInstance(context, { ...options, logger })
  if (options.queue !== 'any' && (options.queue === 'redis') !== (running.queue === 'redis')) {
    throw otherQueue(running.queue, running.owner.pid)
  }
  const databases = await openDatabases(context, { logger, create: false })
  return {
    databases,
    queue: running.queue,
    gatewayUrl: running.gatewayUrl,
    failed: new Promise<never>(() => undefined),
    stop: () => databases.stop(),
  }
}

async function startInstance(
  context: Context,
  options: OpenOptions & { readonly logger: Logger },
): Promise<Instance> {
  const { home } = context
  const ended = await endLeftovers(home)
  if (ended.length > 0) context.output.step('passed', 'leftovers', `ended: ${ended.join(', ')}`)
  const started: { stop(): Promise<void> }[] = []
  const stop = async () => {
    while (started.length > 0) await started.pop()?.stop()
  }
  try {
    const { databases, queue } = await openStores(context, options, started)
    const ports = await choosePorts()
    const settings = serviceSettings({ environment: context.environment, databases, queue, ports })
    const services = await startServices(settings, join(home, 'logs'), started)
    const gatewayUrl = `http://127.0.0.1:${ports.gateway}`
    await writeInstance(home, { services, queue: queue.kind, gatewayUrl })
    started.push({ stop: () => forgetInstance(home) })
    context.output.step('passed', 'services', services.map(({ name }) => name).join(', '))
    const failed = Promise.race(services.map((service) => service.ended))
    failed.catch(() => undefined)
    return { databases, queue: queue.kind, gatewayUrl, failed, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Stoppable = { stop(): Promise<void> }

/** Postgres and Redis start side by side; each is stopped again when the other fails. */
async function openStores(
  context: Context,
  { queue: choice, logger }: OpenOptions & { readonly logger: Logger },
  started: Stoppable[],
): Promise<{ databases: Databases; queue: Queue }> {
  const keep = <Opened extends Stoppable>(opened: Opened): Opened => {
    started.push(opened)
    return opened
  }
  const opening = [
    openDatabases(context, { logger, create: true }).then(keep).then(migrated(context)),
    openQueue(context, { choice, logger }).then(keep),
  ] as const
  await Promise.allSettled(opening)
  const [databases, queue] = await Promise.all(opening)
  context.output.step('passed', 'queue', queue.description)
  return { databases, queue }
}

const migrated = (context: Context) => async (databases: Databases) => {
  const applied = await migrateDatabases(databases, context.settings)
  const news = applied.length === 0 ? '' : `, ${applied.length} migrations applied`
  context.output.step('passed', 'database', `${databases.description}${news}`)
  return databases
}

/** All at once; in the map's order they are stopped, so the first entry is started last in `started`. */
async function startServices(
  settings: ReturnType<typeof serviceSettings>,
  logsDir: string,
  started: Stoppable[],
): Promise<readonly ChildService[]> {
  const names = [...settings.keys()].toReversed()
  const outcomes = await Promise.allSettled(
    names.map((name) => startChild({ name, environment: settings.get(name) ?? {}, logsDir })),
  )
  const services: ChildService[] = []
  for (const outcome of outcomes) if (outcome.status === 'fulfilled') services.push(outcome.value)
  started.push(stopInOrder(services))
  const failed = outcomes.find((outcome) => outcome.status === 'rejected')
  if (failed !== undefined) throw failed.reason
  return services
}

// The auditor goes last: what drains still needs its receipts.
function stopInOrder(services: readonly ChildService[]): Stoppable {
  const auditor = services.filter(({ name }) => name === 'auditor')
  const others = services.filter(({ name }) => name !== 'auditor')
  return {
    async stop() {
      await Promise.all(others.map((service) => service.stop()))
      await Promise.all(auditor.map((service) => service.stop()))
    },
  }
}

async function choosePorts(): Promise<{ gateway: number; auditor: number }> {
  const gateway = await nextFreePort(GATEWAY_PORT)
  return { gateway, auditor: await nextFreePort(Math.max(AUDITOR_PORT, gateway + 1)) }
}

async function nextFreePort(first: number): Promise<number> {
  for (let port = first; port < first + PORTS_TRIED_MAX; port += 1) {
    if ((await freePort(port)) === port) return port
  }
  return freePort()
}

const otherQueue = (queue: string, pid: number) =>
  permanent('BATON_INSTANCE_BUSY', `process ${pid} serves this instance with queue ${queue}`, {
    fix: 'Stop that command first, or leave out --redis and --no-redis.',
  })

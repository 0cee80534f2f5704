// A running Baton on this machine: databases, queue and services; starts what is not running and stops it again.
import { createWriteStream, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { withLock } from '@baton/embedded'
import { createLogger, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Context } from '../context.ts'
import { openDatabases } from './databases.ts'
import type { Databases } from './databases.ts'
import { endLeftovers, runningInstance, watchOwner } from './instance-record.ts'
import type { InstanceRecord } from './instance-record.ts'
import { migrateDatabases } from './migrations.ts'
import { openQueue } from './queue.ts'
import type { Queue, QueueChoice } from './queue.ts'
import { startServices } from './services.ts'

export interface Instance {
  readonly databases: Databases
  readonly queue: Queue['kind']
  readonly gatewayUrl: string
  readonly auditorUrl: string
  /** Rejects with BATON_SERVICE_ENDED when a service ends by itself. */
  readonly failed: Promise<never>
  /** Drains and stops what this command started, in order. Safe to call twice. */
  stop(): Promise<void>
}

interface OpenOptions {
  readonly queue: QueueChoice
}

const LOCK_WAIT_MS = 120_000

/** A log of this command itself in `.baton/logs/cli.log`. */
export function openLog(home: string): Logger {
  mkdirSync(join(home, 'logs'), { recursive: true, mode: 0o700 })
  const destination = createWriteStream(join(home, 'logs', 'cli.log'), { flags: 'a', mode: 0o600 })
  return createLogger({ service: 'cli', destination })
}

/** Uses the services of another command that serves this home, or starts all of them. */
export async function openInstance(context: Context, options: OpenOptions): Promise<Instance> {
  const logger = openLog(context.home)
  const lock = join(context.home, 'instance.lock')
  const onWait = () =>
    context.output.words('Waiting for another command that is starting Baton here.')
  return withLock(lock, { waitMs: LOCK_WAIT_MS, onWait }, async () => {
    const running = await runningInstance(context.home)
    return running === null
      ? startInstance(context, { ...options, logger })
      : joinInstance(context, { ...options, logger, running })
  })
}

async function joinInstance(
  context: Context,
  options: OpenOptions & { readonly logger: Logger; readonly running: InstanceRecord },
): Promise<Instance> {
  const { running, logger } = options
  if (options.queue !== 'any' && (options.queue === 'redis') !== (running.queue === 'redis')) {
    throw otherQueue(running)
  }
  const databases = await openDatabases(context, logger)
  const watch = watchOwner(context.home, running)
  return {
    databases,
    queue: running.queue,
    gatewayUrl: running.gatewayUrl,
    auditorUrl: running.auditorUrl,
    failed: watch.gone,
    async stop() {
      watch.close()
      await databases.stop()
    },
  }
}

async function startInstance(
  context: Context,
  options: OpenOptions & { readonly logger: Logger },
): Promise<Instance> {
  const { home } = context
  const ended = await endLeftovers(home)
  if (ended.length > 0) context.output.step('passed', 'leftovers', `ended: ${ended.join(', ')}`)
  const started: Stoppable[] = []
  const stop = async () => {
    while (started.length > 0) await started.pop()?.stop()
  }
  try {
    const { databases, queue } = await openStores(context, options, started)
    const services = await startServices({ context, databases, queue })
    started.push(services)
    context.output.step('passed', 'services', services.names.join(', '))
    const { gatewayUrl, auditorUrl, failed } = services
    return { databases, queue: queue.kind, gatewayUrl, auditorUrl, failed, stop }
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
    openDatabases(context, logger).then(keep).then(migrated(context)),
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

const otherQueue = ({ queue, owner }: InstanceRecord) =>
  permanent(
    'BATON_INSTANCE_BUSY',
    `process ${owner.pid} serves this instance with queue ${queue}`,
    {
      fix: 'Stop that command first, or leave out --redis and --no-redis.',
    },
  )

// A running Baton on this machine: databases, queue and services; starts what is not running and stops it again.
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { runningInstance, untilStopped, watchOwner, withLock } from '@baton/embedded'
import type { InstanceRecord } from '@baton/embedded'
import { permanent, readTls, transient } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { readInstallationRecord } from '../installation/read-installation.ts'
import type { InstallationRecord } from '../installation/read-installation.ts'
import { silentProcesses } from '../installation/silent-processes.ts'
import { migrateDatabases, openDatabases } from './databases.ts'
import type { Databases } from './databases.ts'
import { clearLeftovers } from './leftovers.ts'
import { openQueue } from './queue.ts'
import type { Queue, QueueChoice } from './queue.ts'
import { forgetInstanceTls, prepareInstanceTls } from './instance-tls.ts'
import { startServices } from './services.ts'
import type { Serving } from './services.ts'
import type { Watch } from './supervision.ts'
import { asOperator, isOnTls } from './tls-files.ts'

export interface Instance
  extends Omit<Serving, 'redisUrl' | 'readyUrls' | 'servers'>, Pick<Watch, 'left' | 'whenLeft'> {
  readonly databases: Databases
  /** Its processes go on when no command is left. */
  readonly runsByItself: boolean
  /** Rejects with BATON_SERVICE_LEFT when a service keeps ending and is left, with BATON_SERVICE_ENDED when the command that serves ends. */
  readonly failed: Promise<never>
  /** Where another command serves: resolves with its id when it has ended. */
  readonly ownerGone?: Promise<number>
  /** Drains and stops what this command started, in order. Safe to call twice. */
  stop(): Promise<void>
}

interface OpenOptions {
  readonly queue: QueueChoice
}

const LOCK_WAIT_MS = 120_000
/** A drain takes 30 s at most, and those who need others drain after them. */
const STOP_WAIT_MS = 90_000

/** Runs `work` while no other command starts or ends services of this home. */
export function withInstanceLock<Result>(
  { home, output }: Context,
  work: (running: InstanceRecord<Serving> | null) => Promise<Result>,
): Promise<Result> {
  const onWait = () => output.words('Waiting for another command that is starting Baton here.')
  return withLock(join(home, 'instance.lock'), { waitMs: LOCK_WAIT_MS, onWait }, async () => {
    // Two auditors or sealers of one log never run side by side.
    const onStopping = (pid: number) =>
      output.words(
        `Waits for process ${pid}, which is stopping Baton here, for at most ${STOP_WAIT_MS / 1_000} s.`,
      )
    await untilStopped(home, { waitMs: STOP_WAIT_MS, onWait: onStopping })
    return work(await runningInstance<Serving>(home))
  })
}

/**
 * Moves the instance to TLS, or away from it, where that is wanted and it is not so already; answers how this command works on it then.
 * Throws BATON_INSTANCE_BUSY where another command serves it.
 */
export async function chooseTls(context: Context, wanted: boolean | undefined): Promise<Context> {
  const { home, settings, output } = context
  if (wanted === undefined || wanted === isOnTls(home)) return context
  if (readInstallationRecord(home) !== undefined) throw TLS_BY_INIT
  await mkdir(home, { recursive: true, mode: 0o700 })
  await withInstanceLock(context, async (running) => {
    if (running !== null) throw otherTls(running, wanted)
    if (wanted) await prepareInstanceTls(home)
    else await forgetInstanceTls(home)
  })
  output.step('passed', 'tls', wanted ? 'certificates made for every process' : 'given up')
  return { ...context, settings: asOperator(settings, home) }
}

/** Uses the services of another command that serves this home, or starts all of them. */
export async function openInstance(context: Context, options: OpenOptions): Promise<Instance> {
  const logger = openLog(context.home)
  const record = readInstallationRecord(context.home)
  if (record !== undefined) return joinInstallation(context, { record, logger })
  return withInstanceLock(context, (running) =>
    running === null
      ? startInstance(context, { ...options, logger })
      : joinInstance(context, { ...options, logger, running }),
  )
}

const never = new Promise<never>(() => undefined)
/** What somebody else runs, somebody else supervises. */
const UNSUPERVISED: Pick<Watch, 'left' | 'whenLeft'> = { left: () => [], whenLeft: () => never }

interface InstallationOptions {
  readonly record: InstallationRecord
  readonly logger: Logger
}

/** Its processes run wherever their units started them; nothing is started or ended here. */
async function joinInstallation(
  context: Context,
  { record, logger }: InstallationOptions,
): Promise<Instance> {
  const {
    BATON_GATEWAY_URL: gatewayUrl,
    BATON_AUDIT_URL: auditorUrl,
    ...settings
  } = context.settings
  if (gatewayUrl === undefined || auditorUrl === undefined) throw ADDRESSES_MISSING
  const waiting = { tls: readTls(context.settings), waitMs: READY_MAX_MS }
  const silent = await silentProcesses(record, waiting)
  if (silent.length > 0) throw notReady(silent.map(({ name, url }) => `${name} at ${url}`))
  const databases = await openDatabases(context, logger)
  context.output.step('passed', 'services', record.processes.map(({ name }) => name).join(', '))
  return {
    databases,
    queue: settings.BATON_REDIS_URL === undefined ? 'in-process' : 'redis',
    gatewayUrl,
    auditorUrl,
    runsByItself: true,
    failed: never,
    ...UNSUPERVISED,
    stop: () => databases.stop(),
  }
}

const READY_MAX_MS = 10_000

const notReady = (silent: readonly string[]) =>
  transient('BATON_SERVICES_NOT_READY', `not ready: ${silent.join(', ')}`, {
    fix: 'Start them (systemctl start baton.target), read what they say (journalctl -u baton-NAME), then run this again.',
  })

const ADDRESSES_MISSING = permanent(
  'BATON_SETTINGS_INVALID',
  'the settings of the operator name no gateway or no auditor',
  { fix: 'Run `baton init` again with the same folder: it writes them anew.' },
)

interface JoinOptions extends OpenOptions {
  readonly logger: Logger
  readonly running: InstanceRecord<Serving>
}

async function joinInstance(
  context: Context,
  { running, logger, queue: choice }: JoinOptions,
): Promise<Instance> {
  const { queue, gatewayUrl, auditorUrl } = running
  if (choice !== 'any' && (choice === 'redis') !== (queue === 'redis')) throw otherQueue(running)
  const databases = await openDatabases(context, logger)
  const watch = watchOwner(running)
  const failed = watch.gone.then((pid) => Promise.reject(ownerEnded(pid)))
  failed.catch(() => undefined)
  return {
    databases,
    queue,
    gatewayUrl,
    auditorUrl,
    runsByItself: false,
    failed,
    ownerGone: watch.gone,
    ...UNSUPERVISED,
    async stop() {
      watch.close()
      await databases.stop()
    },
  }
}

type StartOptions = OpenOptions & { readonly logger: Logger }

async function startInstance(context: Context, options: StartOptions): Promise<Instance> {
  await clearLeftovers(context)
  const started: Stoppable[] = []
  const stop = () => stopAll(started)
  try {
    const { databases, queue } = await openStores(context, options, started)
    const services = await startServices({ context, logger: options.logger, databases, queue })
    started.push(services)
    context.output.step('passed', 'services', services.names.join(', '))
    return { ...services, failed: services.whenLeft(), databases, runsByItself: false, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Stoppable = { stop(): Promise<void> }

/** The last first. One that cannot be stopped keeps none of the others running. */
async function stopAll(started: Stoppable[]): Promise<void> {
  const failures: unknown[] = []
  for (let last = started.pop(); last !== undefined; last = started.pop())
    await last.stop().catch((error: unknown) => failures.push(error))
  if (failures.length > 0) throw failures[0]
}

/** An instance for a command that stays: where another command serves and ends, this one serves from then on. */
export interface LastingInstance extends Omit<Instance, 'failed' | 'ownerGone'> {
  /** Rejects when this command should serve and cannot. */
  readonly lost: Promise<never>
}

/** Uses the services of another command as long as it lives, else starts all of them. */
export async function openLastingInstance(
  context: Context,
  options: OpenOptions,
): Promise<LastingInstance> {
  let current = await openInstance(context, options)
  const { databases, queue, gatewayUrl, auditorUrl, runsByItself } = current
  const opened: Stoppable[] = [current]
  const watching: ((instance: Instance) => void)[] = []
  let isStopped = false

  async function takeOver(): Promise<never> {
    while (current.ownerGone !== undefined) {
      const pid = await current.ownerGone
      if (isStopped) break
      const words = `process ${pid}, which served, has ended; this command serves now`
      context.output.step('unknown', 'services', words)
      current = await openInstance(context, options)
      opened.push(current)
      for (const watch of watching) watch(current)
    }
    return never
  }

  const lost = takeOver()
  lost.catch(() => undefined)
  return {
    databases,
    queue,
    gatewayUrl,
    auditorUrl,
    runsByItself,
    lost,
    left: () => current.left(),
    whenLeft(counts) {
      const { promise, reject } = Promise.withResolvers<never>()
      promise.catch(() => undefined)
      const watch = (instance: Instance) => void instance.whenLeft(counts).catch(reject)
      watching.push(watch)
      watch(current)
      return promise
    },
    async stop() {
      isStopped = true
      await stopAll(opened)
    },
  }
}

const ownerEnded = (pid: number) =>
  transient('BATON_SERVICE_ENDED', `process ${pid}, whose services this command used, has ended`, {
    fix: 'Run the command again: nothing that was acknowledged is lost.',
  })

/** Postgres and Redis start side by side; each is stopped again when the other fails. */
async function openStores(
  context: Context,
  { queue: choice, logger }: StartOptions,
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
  const applied = await migrateDatabases(databases, context)
  const news = applied.length === 0 ? '' : `, ${applied.length} migrations applied`
  context.output.step('passed', 'database', `${databases.description}${news}`)
  return databases
}

const TLS_BY_INIT = permanent(
  'BATON_USAGE',
  'whether an installation on servers of one’s own speaks TLS is in what `init` wrote',
  { fix: 'Run `baton init` again with the same folder and with --tls or --no-tls.' },
)

const otherTls = ({ owner }: InstanceRecord<Serving>, wanted: boolean) =>
  permanent(
    'BATON_INSTANCE_BUSY',
    `process ${owner.pid} serves this instance ${wanted ? 'without' : 'with'} TLS`,
    { fix: 'Stop that command first, then run this one again.' },
  )

const otherQueue = ({ queue, owner }: InstanceRecord<Serving>) =>
  permanent(
    'BATON_INSTANCE_BUSY',
    `process ${owner.pid} serves this instance with queue ${queue}`,
    {
      fix: 'Stop that command first, or leave out --redis and --no-redis.',
    },
  )

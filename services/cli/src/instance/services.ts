// All services of an instance: started together, stopped in order, moved to other ports when theirs were taken.
import { join } from 'node:path'
import pRetry from 'p-retry'
import { choosePorts, forgetInstance, startChild, supervise, writeInstance } from '@baton/embedded'
import type { ChildService, Seen, Supervision } from '@baton/embedded'
import { parsePeople } from '@baton/ledger'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { moduleAt, WORKING_FOLDER } from '../root.ts'
import type { Context, Environment } from '../context.ts'
import type { Databases } from './databases.ts'
import type { Queue } from './queue.ts'
import { forgetTargets, writeMonitoring } from './monitoring-files.ts'
import { urlOf } from './tls-files.ts'
import { prepareSeals } from './seals.ts'
import { peopleOf } from './known-people.ts'
import { serviceSettings } from './service-settings.ts'
import { createWatch, obstacleOf } from './supervision.ts'
import type { Watch } from './supervision.ts'

/** What other commands must know of the services to use them. */
export interface Serving {
  readonly queue: Queue['kind']
  readonly gatewayUrl: string
  readonly auditorUrl: string
  /** Where programs of one's own find the queue; undefined where it stays within the receiver. */
  readonly redisUrl: string | undefined
  /** Where each service says whether it is ready, by its name; the witness has no such place. */
  readonly readyUrls: Readonly<Record<string, string>>
  /** What was seen of the servers that the command supervises. */
  readonly servers: readonly Seen[]
}

export interface RunningServices
  extends Omit<Serving, 'servers'>, Pick<Watch, 'left' | 'whenLeft'> {
  readonly names: readonly string[]
  /** Lets them drain, the auditor last. */
  stop(): Promise<void>
}

interface Parts {
  readonly context: Context
  readonly logger: Logger
  readonly databases: Databases
  readonly queue: Queue
}

/** Resolves when all are ready. Throws BATON_SERVICE_START_FAILED, with nothing left running. */
export const startServices = (parts: Parts): Promise<RunningServices> =>
  onFreePorts((attempt) => tryStart(parts, attempt))

const ATTEMPTS_MAX = 5

/** Starts again on other ports where somebody took one between the choice and the start. */
export const onFreePorts = <Started>(
  start: (attempt: number) => Promise<Started>,
): Promise<Started> =>
  pRetry(start, {
    retries: ATTEMPTS_MAX - 1,
    minTimeout: 0,
    shouldRetry: ({ error }) => lostItsPort(error),
  })

async function tryStart(
  { context, logger, databases, queue }: Parts,
  attempt: number,
): Promise<RunningServices> {
  const { home } = context
  const { redisUrl, kind } = queue
  const { settings, urls, metricsUrls } = await settleServices(
    context,
    { databases, redisUrl },
    attempt,
  )
  const services = [...settings].map(([name, own]) => keepService(name, own, home))
  const serving = {
    queue: kind,
    gatewayUrl: urls.gateway,
    auditorUrl: urls.auditor,
    redisUrl,
    readyUrls: urls,
  }
  const servers: Supervision[] = []
  const record = createRecord(home, logger, (isStopping) =>
    writeInstance<Serving>(
      home,
      services.map((service) => service.seen()),
      {
        ...serving,
        servers: servers.map((server) => server.seen()),
        ...(isStopping && { isStopping }),
      },
    ),
  )
  async function stop(): Promise<void> {
    for (const server of servers) server.stop()
    await record.stopping()
    await stopInOrder(services)
    await forgetInstance(home)
    await forgetTargets(home).catch(record.failed)
  }
  try {
    await record.write()
    await Promise.all(services.map((service) => service.ready))
    const { metricsKey } = databases.keys.monitoring
    await writeMonitoring(home, { metricsKey, urls: metricsUrls, names: [...settings.keys()] })
    const { notify, left, whenLeft } = createWatch(
      { output: context.output, logger },
      () => void record.write(),
    )
    for (const service of services) service.supervise(notify)
    for (const server of [databases, queue]) {
      const supervision = server.supervise?.(notify)
      if (supervision !== undefined) servers.push(supervision)
    }
    return { ...serving, names: services.map(({ name }) => name), left, whenLeft, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** The record of the instance, written in the order of what happened; a disk that does not take it ends nothing. */
function createRecord(home: string, logger: Logger, put: (isStopping: boolean) => Promise<void>) {
  let last: Promise<void> = Promise.resolve()
  let isStopping = false
  const failed = async (error: unknown) => {
    logger.warn({ event: 'instance.not_recorded', code: codeOf(error) })
    if (isStopping) await forgetInstance(home)
  }
  const write = () => (last = last.then(() => put(isStopping)).catch(failed))
  return {
    write,
    failed,
    /** From now on nobody begins to use the services. */
    stopping() {
      isStopping = true
      return write()
    },
  }
}

interface KeptService {
  readonly name: string
  readonly ready: Promise<void>
  seen(): Seen
  /** From now on it is started again when it ends. */
  supervise(notify: Watch['notify']): void
  /** Lets it drain. */
  stop(): Promise<void>
}

/** A service that can be started again with the same settings, on the same ports. */
function keepService(name: string, environment: Environment, home: string): KeptService {
  let child = startService(name, environment, home)
  let supervision: Supervision | undefined
  const { ready, pid, logPath } = child
  return {
    name,
    ready,
    seen: () =>
      supervision?.seen() ?? { name, pid, restarts: 0, lastEnd: undefined, isLeft: false },
    supervise(notify) {
      const start = async () => {
        const next = startService(name, environment, home, true)
        child = next
        return next.ready.then(
          () => next,
          () => next.ended,
        )
      }
      supervision = supervise({ name, logPath, start, obstacle: obstacleOf }, child, { notify })
    },
    stop() {
      supervision?.stop()
      return child.stop()
    },
  }
}

const WITNESS_PORT = 8_422
/** Of services that listen for nothing else. */
const READY_PORTS = { relay: 8_431, receiver: 8_432, sealer: 8_433, archiver: 8_434 }
/** The auditor answers its own questions at another one. */
const AUDITOR_OPS_PORT = 8_435

/** Where the receiver takes direct calls. */
const CALLS_PORT = 8_436

/** Chooses ports, writes the policy that names the witness there and the people, and says what each service is told. */
export async function settleServices(
  { environment, home, settings }: Context,
  { databases, redisUrl }: Pick<Parts, 'databases'> & Pick<Queue, 'redisUrl'>,
  attempt: number,
) {
  const { BATON_GATEWAY_PORT: gateway, BATON_AUDITOR_PORT: auditor } = settings
  const auditorOps = AUDITOR_OPS_PORT
  const wanted = {
    gateway,
    auditor,
    auditorOps,
    witness: WITNESS_PORT,
    receiverCalls: CALLS_PORT,
    ...READY_PORTS,
  }
  const { witness, ...ports } = await choosePorts(wanted, attempt)
  const witnessUrl = urlOf(home, witness)
  const urls = {
    gateway: urlOf(home, ports.gateway),
    auditor: urlOf(home, ports.auditor),
    relay: urlOf(home, ports.relay),
    receiver: urlOf(home, ports.receiver),
    sealer: urlOf(home, ports.sealer),
    archiver: urlOf(home, ports.archiver),
  }
  const trustedKeys = settings.BATON_AUDIT_TRUSTED_KEYS
  const people = parsePeople(peopleOf(environment, databases.keys))
  const log = await prepareSeals({ home, databases, witnessUrl, trustedKeys, people })
  const known = { environment, home, databases, redisUrl, ports: { witness, ...ports }, log }
  const metricsUrls = { ...urls, auditor: urlOf(home, ports.auditorOps) }
  return { settings: serviceSettings(known), urls, metricsUrls }
}

/** The program of a folder of `services/`. */
export const serviceMain = (name: string): string => moduleAt('services', name, 'src', 'main')

export const startService = (
  name: string,
  environment: Environment,
  home: string,
  isAgain = false,
): ChildService =>
  startChild({
    name,
    isAgain,
    main: serviceMain(name),
    folder: WORKING_FOLDER,
    environment,
    logsDir: join(home, 'logs'),
  })

const lostItsPort = ({ message }: Error): boolean =>
  /BATON_(?:GATEWAY|AUDITOR|WITNESS|OPS|RECEIVER)_LISTEN_FAILED/.test(message)

const LAST = ['auditor', 'sealer', 'archiver', 'witness']

// What drains still needs its receipts, the last records want to be sealed and archived, and the last seal to be witnessed.
async function stopInOrder(services: readonly KeptService[]): Promise<void> {
  const others = services.filter(({ name }) => !LAST.includes(name))
  await Promise.all(others.map((service) => service.stop()))
  for (const name of LAST) await services.find((service) => service.name === name)?.stop()
}

// All services of an instance: started together, stopped in order, moved to other ports when theirs were taken.
import { join } from 'node:path'
import pRetry from 'p-retry'
import { choosePorts, forgetInstance, startChild, writeInstance } from '@baton/embedded'
import type { ChildService } from '@baton/embedded'
import { parsePeople } from '@baton/ledger'
import { ROOT } from '../context.ts'
import type { Context, Environment } from '../context.ts'
import type { Databases } from './databases.ts'
import type { Queue } from './queue.ts'
import { forgetTargets, writeMonitoring } from './monitoring-files.ts'
import { urlOf } from './instance-tls.ts'
import { prepareSeals } from './seals.ts'
import { peopleOf, serviceSettings } from './service-settings.ts'

/** What other commands must know of the services to use them. */
export interface Serving {
  readonly queue: Queue['kind']
  readonly gatewayUrl: string
  readonly auditorUrl: string
  /** Where each service says whether it is ready, by its name; the witness has no such place. */
  readonly readyUrls: Readonly<Record<string, string>>
}

export interface RunningServices extends Serving {
  readonly names: readonly string[]
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
  { context, databases, queue }: Parts,
  attempt: number,
): Promise<RunningServices> {
  const { home } = context
  const { redisUrl, kind } = queue
  const { settings, urls, metricsUrls } = await settleServices(
    context,
    { databases, redisUrl },
    attempt,
  )
  const services = [...settings].map(([name, own]) => startService(name, own, home))
  const stop = () => stopInOrder(services, home)
  try {
    const serving = {
      queue: kind,
      gatewayUrl: urls.gateway,
      auditorUrl: urls.auditor,
      readyUrls: urls,
    }
    await writeInstance<Serving>(home, services, serving)
    await Promise.all(services.map((service) => service.ready))
    const { metricsKey } = databases.keys.monitoring
    await writeMonitoring(home, { metricsKey, urls: metricsUrls, names: [...settings.keys()] })
    const failed = Promise.race(services.map((service) => service.ended))
    failed.catch(() => undefined)
    return { ...serving, names: services.map(({ name }) => name), failed, stop }
  } catch (error) {
    await stop()
    throw error
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
export const serviceMain = (name: string): string => join(ROOT, 'services', name, 'src', 'main.ts')

export const startService = (name: string, environment: Environment, home: string): ChildService =>
  startChild({
    name,
    main: serviceMain(name),
    folder: ROOT,
    environment,
    logsDir: join(home, 'logs'),
  })

const lostItsPort = ({ message }: Error): boolean =>
  /BATON_(?:GATEWAY|AUDITOR|WITNESS|OPS|RECEIVER)_LISTEN_FAILED/.test(message)

const LAST = ['auditor', 'sealer', 'archiver', 'witness']

// What drains still needs its receipts, the last records want to be sealed and archived, and the last seal to be witnessed.
async function stopInOrder(services: readonly ChildService[], home: string): Promise<void> {
  await forgetInstance(home)
  await forgetTargets(home)
  const others = services.filter(({ name }) => !LAST.includes(name))
  await Promise.all(others.map((service) => service.stop()))
  for (const name of LAST) await services.find((service) => service.name === name)?.stop()
}

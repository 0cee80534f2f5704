// What the promises rest on: databases that keep what they acknowledge, roles that cannot do harm, a safe queue.
import { join } from 'node:path'
import { requireDurability } from '@baton/audit'
import { isAlive, listLeftovers, runningInstance, startRedis } from '@baton/embedded'
import type { Seen } from '@baton/embedded'
import { isReady } from '@baton/http/client'
import { waitsForStandby } from '@baton/postgres'
import { BatonError, namesOfServers, readTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import {
  findOwnedTables,
  findReachableDatabases,
  listUnanswering,
  readServerFacts,
} from '@baton/store'
import { openLog } from '../context.ts'
import type { Context } from '../context.ts'
import { serverTls } from '../instance/instance-tls.ts'
import { REDIS_CACHE } from '../instance/queue.ts'
import type { Serving } from '../instance/services.ts'
import type { OpenedDatabases } from '../instance/databases.ts'
import { peopleWhoseKeysLieHere } from '../installation/keys-at-hand.ts'
import { readInstallationRecord } from '../installation/read-installation.ts'
import type { InstallationRecord } from '../installation/read-installation.ts'
import { silentProcesses } from '../installation/silent-processes.ts'
import { counted } from '../terminal/figures.ts'
import { nextStep } from '../terminal/next-steps.ts'
import { diagnoseCertificates } from './diagnose-certificates.ts'
import { failed, judged, passed, unknown } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'

const AUDIT_DATABASES = ['baton_audit', 'baton_vault']

export async function diagnoseSetup(
  context: Context,
  opened: OpenedDatabases,
): Promise<readonly Diagnosis[]> {
  return [
    ...(await diagnoseDatabases(opened)),
    ...(await diagnoseStandbys(context, opened)),
    ...(await diagnoseQueue(context)),
    await diagnoseServices(context),
    await diagnoseOutside(opened),
    ...(await diagnoseCertificates(context)),
    ...(await diagnoseKeysAtHand(context)),
  ]
}

/** Of an installation on servers of one's own: what two people decide counts for two only where nobody has both keys. */
async function diagnoseKeysAtHand({ home }: Context): Promise<readonly Diagnosis[]> {
  if (readInstallationRecord(home) === undefined) return []
  const rule = 'the private keys of people are with them alone'
  const names = await peopleWhoseKeysLieHere(home)
  if (names.length === 0) return [passed('seals', rule)]
  const text = `those of ${names.join(', ')} lie in ${join(home, 'people')}: hand each theirs and delete it here`
  return [unknown('seals', rule, text)]
}

/** Whether others answer is not Baton's to mend: those who do not are named, and nothing counts as broken. */
async function diagnoseOutside({ pool }: OpenedDatabases): Promise<Diagnosis> {
  const rule = 'agents outside answer'
  const silent = await listUnanswering(pool)
  if (silent.length === 0) return passed('outside', rule)
  const ids = silent.map(
    ({ kind, name, count, code }) => `${kind} ${name}: ${code}, ${count} waiting`,
  )
  return { ...unknown('outside', rule, 'calls to these fail, and their work waits'), ids }
}

async function diagnoseDatabases({ pool, audit }: OpenedDatabases): Promise<readonly Diagnosis[]> {
  const { version, unsafeSettings } = await readServerFacts(pool)
  const durable = 'the operational database keeps what it acknowledges'
  return [
    unsafeSettings.length === 0
      ? passed('database', durable, `Postgres ${version}`)
      : failed('database', durable, { text: `switch on ${unsafeSettings.join(', ')}` }),
    await diagnoseAuditDurability(audit.pool),
    judged(
      'database',
      'what serves callers cannot connect to the audit databases',
      await findReachableDatabases(pool, AUDIT_DATABASES),
    ),
    judged(
      'database',
      'what serves callers owns no table and may truncate none',
      await findOwnedTables(pool),
    ),
  ]
}

/** Of databases that a standby may take over, and of no other. */
async function diagnoseStandbys(
  { settings }: Context,
  { pool, audit }: OpenedDatabases,
): Promise<readonly Diagnosis[]> {
  const operational = settings.BATON_DATABASE_ADMIN_URL ?? ''
  const databases = [
    { name: 'operational', url: operational, db: pool },
    { name: 'audit', url: settings.BATON_AUDIT_ADMIN_URL ?? operational, db: audit.pool },
  ]
  return await Promise.all(
    databases
      .filter(({ url }) => namesOfServers(url).includes(' and '))
      .map(async ({ name, db }) => {
        const rule = `a standby has what the ${name} database acknowledges`
        return (await waitsForStandby(db))
          ? passed('database', rule)
          : unknown('database', rule, NO_STANDBY)
      }),
  )
}

const NO_STANDBY =
  'the primary waits for none: a fail-over loses what was acknowledged last (synchronous_standby_names; infra/high-availability.md)'

async function diagnoseAuditDurability(
  pool: Parameters<typeof requireDurability>[0],
): Promise<Diagnosis> {
  const rule = 'the audit database keeps what it acknowledges'
  try {
    await requireDurability(pool)
    return passed('database', rule)
  } catch (error) {
    if (error instanceof BatonError && error.code === 'BATON_AUDIT_NOT_DURABLE') {
      return failed('database', rule, { text: error.message })
    }
    throw error
  }
}

async function diagnoseQueue(context: Context): Promise<readonly Diagnosis[]> {
  const rule = 'Redis loses no job silently'
  const given = context.settings.BATON_REDIS_URL
  if (given !== undefined)
    return diagnoseRedis(rule, { url: given, tls: readTls(context.settings) })
  const running = await runningInstance<Serving>(context.home)
  if (running?.queue !== 'redis') return [unknown('queue', rule, 'no Redis is in use')]
  const redis = await startRedis({
    dir: join(context.home, 'redis'),
    cacheDir: REDIS_CACHE,
    fetch: false,
    tls: await serverTls(context.home, 'redis'),
    tell: (words) => context.output.words(words),
    logger: openLog(context.home),
  })
  if ('unavailable' in redis) return [unknown('queue', rule, redis.unavailable)]
  try {
    return await diagnoseRedis(rule, { url: redis.url, tls: readTls(context.settings) })
  } finally {
    await redis.stop()
  }
}

async function diagnoseRedis(
  rule: string,
  server: { readonly url: string; readonly tls: Tls },
): Promise<readonly Diagnosis[]> {
  const { checkRedisSafety } = await import('@baton/transport')
  const findings = await checkRedisSafety(server)
  if (findings.length === 0) return [passed('queue', rule)]
  return findings.map(({ severity, message, fix }) => {
    const text = `${message}. ${fix}`
    return severity === 'unsafe' ? failed('queue', rule, { text }) : unknown('queue', rule, text)
  })
}

const ANSWER_MAX_MS = 2_000
/** Units that were started just now are about to be ready. */
const START_MAX_MS = 10_000

// Beside services that run elsewhere, an instance would be a second auditor and a second sealer of their log.
export const whyNoneRuns = ({
  BATON_DATABASE_ADMIN_URL: given,
}: Pick<Context['settings'], 'BATON_DATABASE_ADMIN_URL'>): string =>
  given === undefined
    ? `not running; handoffs wait until they do (${nextStep('up')})`
    : 'none was started here; those that run elsewhere on these databases say it themselves, each at its /readyz'

/** Where no command serves the instance. */
export async function withoutInstance(
  home: string,
  settings: Pick<Context['settings'], 'BATON_DATABASE_ADMIN_URL'>,
): Promise<Diagnosis> {
  const rule = 'the services are ready'
  const left = await listLeftovers(home)
  if (left.length === 0) return unknown('services', rule, whyNoneRuns(settings))
  const text = `some go on although the command that started them was killed, and their Postgres runs only while another command does; ${nextStep('up')} ends them and starts anew`
  return { ...unknown('services', rule, text), ids: left.map(({ name, pid }) => `${name} ${pid}`) }
}

async function diagnoseServices({ home, settings }: Context): Promise<Diagnosis> {
  const rule = 'the services are ready'
  const record = readInstallationRecord(home)
  if (record !== undefined) return diagnoseProcesses(record, readTls(settings))
  const running = await runningInstance<Serving>(home)
  if (running === null) return withoutInstance(home, settings)
  const tls = readTls(settings)
  const silent: string[] = []
  for (const service of running.services)
    if (!(await isServing(service, running.readyUrls[service.name], tls))) silent.push(service.name)
  const ids = [...running.services, ...running.servers].flatMap(describeRestarts)
  if (silent.length > 0 || running.servers.some(({ isLeft }) => isLeft)) {
    const text = `${silent.join(', ') || 'its servers'} not ready; read ${join(home, 'logs')}`
    return failed('services', rule, { text, ids })
  }
  const names = running.services.map(({ name }) => name).join(', ')
  if (ids.length === 0) return passed('services', rule, names)
  return { ...passed('services', 'all run, and some were started again', names), ids, isTold: true }
}

/** What was started again since the command began that serves the instance. */
export function describeRestarts({ name, restarts, lastEnd, isLeft }: Seen): readonly string[] {
  if (isLeft)
    return [`${name}: kept ending (${lastEnd}) and was left after ${counted(restarts, 'restart')}`]
  return restarts === 0
    ? []
    : [`${name}: started again ${counted(restarts, 'time')}, last after ${lastEnd}`]
}

/** Of an installation all, wherever they run: one that is missing is a part that is missing. */
async function diagnoseProcesses(record: InstallationRecord, tls: Tls): Promise<Diagnosis> {
  const rule = 'every process of this installation is ready'
  const silent = await silentProcesses(record, { tls, waitMs: START_MAX_MS })
  if (silent.length === 0)
    return passed('services', rule, record.processes.map(({ name }) => name).join(', '))
  return {
    ...failed('services', rule, {
      text: 'these do not answer that they are: start them, and read what they say (journalctl -u baton-NAME)',
    }),
    ids: silent.map(({ name, url }) => `${name} at ${url}`),
  }
}

/** One that has no place to ask has only to be alive. */
async function isServing(
  process: Parameters<typeof isAlive>[0],
  url: string | undefined,
  tls: Tls,
): Promise<boolean> {
  return isAlive(process) && (url === undefined || isReady(url, ANSWER_MAX_MS, tls))
}

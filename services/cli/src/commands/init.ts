// `init`: makes an installation on servers of one's own, checks it, and says how it is started.
import { isAbsolute, join, resolve } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { ARCHIVER_SETTINGS } from '@baton/archiver/settings'
import { createPool as createAuditPool, requireDurability } from '@baton/audit'
import { AUDITOR_SETTINGS } from '@baton/auditor/settings'
import { GATEWAY_SETTINGS } from '@baton/gateway/settings'
import { RECEIVER_SETTINGS } from '@baton/receiver/settings'
import { RELAY_SETTINGS } from '@baton/relay/settings'
import {
  BatonError,
  describeRedis,
  namesOfServers,
  permanent,
  readSettings,
  readTls,
  redisAddressOf,
  secureDatabaseUrls,
  transient,
} from '@baton/runtime'
import type { SettingsSpec } from '@baton/runtime'
import { SEALER_SETTINGS } from '@baton/sealer/settings'
import { WITNESS_SETTINGS } from '@baton/witness/settings'
import type { Context } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { makeInstallation } from '../installation/make-installation.ts'
import type { Made } from '../installation/make-installation.ts'
import { makePlan } from '../installation/plan.ts'
import type { InitFlags, Plan, ProcessName } from '../installation/plan.ts'
import type { Told } from '../installation/process-settings.ts'
import { nextStep } from '../terminal/next-steps.ts'

export type InitOptions = Omit<InitFlags, 'database'> & { readonly database?: string | undefined }

export async function init(
  context: Context,
  named: string,
  options: InitOptions,
): Promise<ExitCode> {
  const { output } = context
  const folder = isAbsolute(named) ? named : resolve(named)
  const plan = makePlan(folder, await withAnswers(context, options))
  const own = contextOf(context, plan)
  await checkQueue(own, plan)
  const made = await makeInstallation(own, plan)
  output.step('passed', 'settings', `${plan.processes.join(', ')}, each its own in ${folder}`)
  if (plan.isTls)
    output.step('passed', 'tls', `certificates of an authority in ${join(folder, 'tls')}`)
  await checkProcesses(own, plan, made)
  tellWhatIsLeft(own, plan, made)
  if (output.json) output.data(JSON.stringify(summaryOf(plan, made)))
  output.next(nextCommands(plan))
  return EXIT.fine
}

/** What is not said is asked for where somebody sits there, and otherwise named. */
async function withAnswers({ environment }: Context, options: InitOptions): Promise<InitFlags> {
  const database = options.database ?? environment['BATON_DATABASE_ADMIN_URL']
  const redisUrl = options.redis ?? environment['BATON_REDIS_URL']
  if (database !== undefined) return { ...options, database, redis: redisUrl }
  if (!process.stdin.isTTY || !process.stderr.isTTY) throw DATABASE_UNSAID
  const asking = createInterface({ input: process.stdin, output: process.stderr })
  try {
    const ask = async (question: string) => (await asking.question(`  ${question}: `)).trim()
    const answered = await ask(
      'Postgres, as a superuser (postgres://user:password@host:5432/postgres)',
    )
    const redis = redisUrl ?? (await ask('Redis, or nothing (rediss://:password@host:6379)'))
    const anchor =
      options.anchor ??
      (await ask(
        'A file on another machine’s disk that gets the checkpoints of the log, or nothing',
      ))
    const person =
      options.person.length > 0
        ? options.person
        : (await ask('Who decides, as ann:reviewer+compliance,bob:reviewer, or nothing'))
            .split(',')
            .filter((text) => text !== '')
    return {
      ...options,
      database: answered,
      redis: redis || undefined,
      anchor: anchor || undefined,
      person,
    }
  } finally {
    asking.close()
  }
}

const DATABASE_UNSAID = permanent('BATON_USAGE', '--database is missing', {
  fix: 'Name a superuser of your Postgres: --database postgres://postgres:PASSWORD@db.example:5432/postgres. BATON_DATABASE_ADMIN_URL may hold it instead, where others see what is typed.',
})

/** The command works on the folder from here on, by the addresses that were named and nothing else. */
function contextOf(context: Context, plan: Plan): Context {
  const named = {
    ...context.settings,
    BATON_DATABASE_ADMIN_URL: plan.databaseUrl,
    BATON_AUDIT_ADMIN_URL: plan.auditDatabaseUrl,
    BATON_REDIS_URL: plan.redisUrl,
    BATON_ENVIRONMENT: plan.environment,
    BATON_TLS_CA_FILE: plan.caFile ?? context.settings.BATON_TLS_CA_FILE,
    BATON_ALLOW_PLAINTEXT: plan.isPlaintextAllowed,
  }
  return { ...context, home: plan.folder, settings: securedHere(named) }
}

/** Throws BATON_PLAINTEXT_REFUSED in the words of this command. */
function securedHere<Named extends Parameters<typeof secureDatabaseUrls>[0]>(named: Named): Named {
  try {
    return secureDatabaseUrls(named)
  } catch (error) {
    if (!(error instanceof BatonError) || error.code !== 'BATON_PLAINTEXT_REFUSED') throw error
    throw permanent(error.code, error.message, {
      fix: 'Name with --ca who vouches for its certificate (a PEM file; /etc/ssl/certs/ca-certificates.crt for an authority that everybody trusts), or say --plaintext where the network itself encrypts.',
    })
  }
}

async function checkQueue({ settings, output }: Context, { redisUrl }: Plan): Promise<void> {
  if (redisUrl === undefined) {
    output.step('unknown', 'queue', 'no Redis: receivers relay for themselves')
    return
  }
  const { requireSafeRedis } = await import('@baton/transport')
  const server = { url: redisUrl, tls: readTls(settings) }
  await requireSafeRedis(server, { allowUnsafe: settings.BATON_ALLOW_UNSAFE_REDIS })
  output.step(
    'passed',
    'queue',
    `${describeRedis(redisAddressOf(redisUrl))} keeps what it is given`,
  )
}

const SPECS: Readonly<Record<ProcessName, SettingsSpec>> = {
  gateway: GATEWAY_SETTINGS,
  relay: RELAY_SETTINGS,
  receiver: RECEIVER_SETTINGS,
  auditor: AUDITOR_SETTINGS,
  sealer: SEALER_SETTINGS,
  archiver: ARCHIVER_SETTINGS,
  witness: WITNESS_SETTINGS,
}

/** Reads each file as its process will, and connects as its roles do. Throws what the process would end with. */
async function checkProcesses({ output }: Context, plan: Plan, { settings }: Made): Promise<void> {
  const connected = new Set<string>()
  for (const name of plan.processes) {
    const read = readAsProcess(name, settings[name])
    const urls = Object.values(read).filter(
      (value): value is string => typeof value === 'string' && /^postgres(?:ql)?:/.test(value),
    )
    for (const url of urls.filter((one) => !connected.has(one))) {
      await connect(name, url)
      connected.add(url)
    }
  }
  output.step('passed', 'roles', `${connected.size} roles connect as their processes will`)
}

function readAsProcess(name: ProcessName, told: Told): Record<string, unknown> {
  try {
    return secureDatabaseUrls(
      readSettings(SPECS[name], told) as Parameters<typeof secureDatabaseUrls>[0],
    ) as unknown as Record<string, unknown>
  } catch (error) {
    if (!(error instanceof BatonError)) throw error
    throw permanent(error.code, `${name} would not start: ${error.message}`, {
      cause: error,
      ...(error.fix === undefined ? {} : { fix: error.fix }),
    })
  }
}

async function connect(name: ProcessName, url: string): Promise<void> {
  const pool = createAuditPool({ url, applicationName: 'baton-cli' })
  try {
    if (name === 'auditor') await requireDurability(pool)
    else (await pool.connect()).release()
  } catch (cause) {
    if (cause instanceof BatonError) throw cause
    throw transient(
      'BATON_DATABASE_UNAVAILABLE',
      `${name} could not connect to ${namesOfServers(url)}: ${(cause as Error).message}`,
      { cause, fix: 'Mend what it says, then run init again with the same folder.' },
    )
  } finally {
    await pool.end()
  }
}

/** What a person has to do that no command can do for them. */
function tellWhatIsLeft({ output }: Context, plan: Plan, { keysMadeOf, logKey }: Made): void {
  const { folder, files, otherWitness } = plan
  if (keysMadeOf.length > 0)
    output.step(
      'unknown',
      'people',
      `${keysMadeOf.join(', ')}: hand each their folder in ${join(folder, 'people')}, and delete it here`,
    )
  if (otherWitness === undefined)
    output.step(
      'unknown',
      'witness',
      'your own, which shows accidents and proves nothing against you: give other people its folder, or name theirs with --witness',
    )
  else output.step('unknown', 'witness', `tell whoever runs it the key of this log: ${logKey}`)
  output.step(
    'unknown',
    'anchor',
    `${files.anchor}: on a disk that no administrator of the database can write to`,
  )
  output.step(
    'unknown',
    'secrets',
    `keep ${join(folder, 'secrets')} and ${join(folder, 'admin')} apart from the servers and from every back-up of the databases`,
  )
}

const summaryOf = (plan: Plan, { migrations, keysMadeOf, logKey }: Made) => ({
  folder: plan.folder,
  processes: plan.processes,
  tls: plan.isTls,
  migrations: migrations.length,
  keysMadeOf,
  logKey,
})

const nextCommands = ({ folder }: Plan): string =>
  `sudo sh ${join(folder, 'systemd', 'install.sh')}   ·   export BATON_HOME=${folder}   ·   ${nextStep('doctor')}`

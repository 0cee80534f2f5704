// `env`: what a program of one's own needs to join the Baton that runs here, as lines for a shell, for a file, or as JSON.
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runningInstance } from '@baton/embedded'
import { permanent, transient } from '@baton/runtime'
import { listTenants } from '@baton/store'
import { openLog } from '../context.ts'
import type { Context, Environment } from '../context.ts'
import { EXIT } from '../exit-codes.ts'
import type { ExitCode } from '../exit-codes.ts'
import { readSettingsFile, SETTINGS_FILE, writePrivate } from '../installation/settings-file.ts'
import { openDatabases, withDatabases } from '../instance/databases.ts'
import type { Databases } from '../instance/databases.ts'
import { tlsEnvironment, withoutOperator } from '../instance/tls-files.ts'
import { readPerson } from '../instance/secrets.ts'
import { peopleOf } from '../instance/known-people.ts'
import type { Serving } from '../instance/services.ts'
import { dotenvValue, PRINTED_BY_ENV, PROGRAM_NAMES } from '../program-environment.ts'
import type { ProgramName } from '../program-environment.ts'
import { nextStep, quietCommand, quoted } from '../terminal/next-steps.ts'
import { tenantUnknown } from './tenants.ts'

interface EnvOptions {
  readonly format: 'shell' | 'dotenv'
  readonly tenant: string | undefined
}

/** Of a program: all that it may be told, as far as it is told it. */
type Told = { readonly [Name in ProgramName]?: string | undefined }

interface Found {
  readonly told: Told
  /** Which Baton, and as whom, in words. */
  readonly words: string
}

export async function env(context: Context, { format, tenant }: EnvOptions): Promise<ExitCode> {
  const { home, output, actAs } = context
  if (tenant !== undefined && actAs !== undefined) throw ONE_OF_BOTH
  const found = isInstallation(home) ? readInstallation(context) : await readInstance(context)
  const { told, words } = tenant === undefined ? found : await ofTenant(context, found, tenant)
  const named = PROGRAM_NAMES.flatMap((name) => {
    const value = told[name]
    return value === undefined || value === '' ? [] : [[name, value] as const]
  })
  const kept = isInstallation(home) ? named : await inFiles(named, folderOf(home, actAs, tenant))
  const lines = [['BATON_HOME', home], [PRINTED_BY_ENV, '1'], ...kept] as const
  const node = format === 'shell' ? newerNode(context) : undefined
  if (output.json) output.data(JSON.stringify(Object.fromEntries(lines)))
  else output.data([...lines.map(WRITTEN[format]), ...(node?.lines ?? [])].join('\n'))
  output.words(words)
  if (kept.some(([name]) => SECRET_FILES.has(name))) output.words(IN_FILES)
  if (node !== undefined && !output.json) output.words(node.words)
  if (told.BATON_DATABASE_URL === undefined) output.words(HTTP_ONLY)
  if (output.isRead) {
    output.words(`\nTake them into a shell with:\n  eval "$(${quietCommand} env)"`)
    output.next(nextStep('new agent <name>'))
  }
  return EXIT.fine
}

const WRITTEN = {
  shell: ([name, value]: readonly [string, string]) => `export ${name}=${quoted(value)}`,
  dotenv: ([name, value]: readonly [string, string]) => `${name}=${dotenvValue(name, value)}`,
} as const satisfies Record<EnvOptions['format'], (line: readonly [string, string]) => string>

const ONE_OF_BOTH = permanent('BATON_USAGE', '--as names somebody of the default tenant', {
  fix: 'Leave out --as or --tenant.',
})

const IN_FILES =
  'A variable that ends in _FILE names a file that is to be read: key=$(cat "$BATON_API_KEY_FILE"). The SDK, commands and services read them by themselves.'

const HTTP_ONLY =
  'That is enough for programs over HTTP. The SDK needs the settings of the receiver besides, which you may not read here.'

/** As the running command serves it; nothing is started. Throws BATON_INSTANCE_NOT_RUNNING. */
async function readInstance(context: Context): Promise<Found> {
  const { home, actAs, environment } = context
  const running = await runningInstance<Serving>(home)
  if (running === null) throw notRunning(home)
  const databases = await openDatabases(context, openLog(home))
  try {
    const { gatewayUrl, auditorUrl, redisUrl } = running
    const { development } = databases.keys
    const told = {
      BATON_GATEWAY_URL: gatewayUrl,
      ...callerOf(databases, actAs),
      ...tlsEnvironment(home, 'operator'),
      BATON_DATABASE_URL: withoutOperator(databases.urls.delivery, home),
      BATON_REDIS_URL: redisUrl,
      BATON_SIGNING_KEYS: development.BATON_SIGNING_KEYS,
      BATON_AUDIT_URL: auditorUrl,
      BATON_AUDIT_APPEND_TOKEN: development.BATON_AUDIT_APPEND_TOKEN,
      BATON_PEOPLE: peopleOf(environment, databases.keys),
    }
    return { told, words: `Baton of ${home}, at ${gatewayUrl}, as ${actAs ?? 'a program'}.` }
  } finally {
    await databases.stop()
  }
}

/** A program by default; a person also signs what they decide. */
function callerOf({ keys }: Databases, actAs: string | undefined): Told {
  if (actAs === undefined) return { BATON_API_KEY: keys.development.BATON_API_KEY }
  const person = readPerson(actAs)
  return { BATON_API_KEY: keys.people[person], BATON_PERSON_KEY: keys.signing[person] }
}

const notRunning = (home: string) =>
  transient('BATON_INSTANCE_NOT_RUNNING', `no Baton runs in ${home}`, {
    fix: 'Start one in another terminal and leave it there: `npm run up -- --reviews 6`. Another folder is named with --home.',
  })

const isInstallation = (home: string): boolean =>
  ['operator', 'program'].some((name) => existsSync(join(home, name)))

/** What lies in its folder, as far as whoever runs this may read it. */
function readInstallation({ home, actAs }: Context): Found {
  const who = actAs ?? 'program'
  const folder = who === 'program' || who === 'operator' ? who : join('people', who)
  const file = join(home, folder, SETTINGS_FILE)
  const caller = readSettingsFile(file)
  if (caller === undefined) throw notReadable(file)
  const receiver = readSettingsFile(join(home, 'receiver', SETTINGS_FILE))
  const told = { ...pick(receiver, OF_RECEIVER), ...pick(caller, OF_CALLER) }
  return { told, words: `Baton of ${home}, at ${told.BATON_GATEWAY_URL}, as ${who}.` }
}

const OF_CALLER = [
  'BATON_GATEWAY_URL',
  'BATON_API_KEY',
  'BATON_PERSON_KEY',
  'BATON_TLS_CA_FILE',
  'BATON_ALLOW_PLAINTEXT',
] as const satisfies readonly ProgramName[]

const OF_RECEIVER = [
  'BATON_DATABASE_URL',
  'BATON_REDIS_URL',
  'BATON_SIGNING_KEYS',
  'BATON_AUDIT_URL',
  'BATON_AUDIT_APPEND_TOKEN',
  'BATON_PEOPLE',
  'BATON_TLS_CERT_FILE',
  'BATON_TLS_KEY_FILE',
] as const satisfies readonly ProgramName[]

const pick = (told: Environment | undefined, names: readonly ProgramName[]): Told =>
  Object.fromEntries(names.map((name) => [name, told?.[name]]))

const notReadable = (file: string) =>
  permanent('BATON_FILE_NOT_ALLOWED', `${file} is not there, or not for you`, {
    fix: 'Ask whoever runs this installation for that file, or for a key of your own (`baton keys new`); or run this as its owner.',
  })

/** Tasks are begun for the tenant; the key is one that its tenant's programs have, and is kept nowhere. */
async function ofTenant(context: Context, { told, words }: Found, tenant: string): Promise<Found> {
  const tenants = await withDatabases(context, ({ pool }) => listTenants(pool))
  if (!tenants.some((one) => one.tenant === tenant)) throw tenantUnknown(tenant)
  const own = context.settings.BATON_API_KEY
  const make = nextStep(`keys new --role developer --operator <name> --tenant ${tenant}`)
  return {
    told: { ...told, BATON_TENANT: tenant, BATON_API_KEY: own },
    words: `${words} Tasks are those of ${tenant}.${own === undefined ? `\nA key of ${tenant} for the gateway goes into BATON_API_KEY: ${make}` : ''}`,
  }
}

const folderOf = (home: string, ...who: readonly (string | undefined)[]): string =>
  join(home, 'env', who.find((one) => one !== undefined) ?? 'program')

const SECRETS: ReadonlySet<ProgramName> = new Set([
  'BATON_API_KEY',
  'BATON_PERSON_KEY',
  'BATON_DATABASE_URL',
  'BATON_REDIS_URL',
  'BATON_SIGNING_KEYS',
  'BATON_AUDIT_APPEND_TOKEN',
])

const SECRET_FILES: ReadonlySet<string> = new Set([...SECRETS].map((name) => `${name}_FILE`))

/** A shell shows its environment to much; secrets stand in files of whoever owns the instance, and only their paths are printed. */
async function inFiles(
  named: readonly (readonly [ProgramName, string])[],
  folder: string,
): Promise<readonly (readonly [string, string])[]> {
  return Promise.all(
    named.map(async ([name, value]) => {
      if (!SECRETS.has(name)) return [name, value] as const
      const path = join(folder, name)
      await writePrivate(path, `${value}\n`)
      return [`${name}_FILE`, path] as const
    }),
  )
}

/** The oldest that the SDK runs on. */
const NODE_MIN = [22, 19] as const

/** Where the Node of whoever types is too old for the SDK, this one comes first in their shell; npm says which theirs is. */
function newerNode({ environment }: Context) {
  const said = /node\/v(\d+)\.(\d+)\S*/.exec(environment['npm_config_user_agent'] ?? '')
  if (said === null) return undefined
  const [text, major, minor] = said
  const isNewer = Number(major) > NODE_MIN[0]
  if (isNewer || (Number(major) === NODE_MIN[0] && Number(minor) >= NODE_MIN[1])) return undefined
  return {
    lines: [`export PATH=${quoted(dirname(process.execPath))}:"$PATH"`],
    words: `Node ${process.versions.node} of Baton comes before your ${text.replace('node/v', '')} in this shell: the SDK needs ${NODE_MIN.join('.')}.`,
  }
}

// The instance of a game day: databases, services, load and judge in a folder of its own, all stopped at the end.
import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { setTimeout as delay } from 'node:timers/promises'
import { createHttpClient } from '@baton/http/client'
import { permanent, readSettings } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { createPool } from '@baton/store'
import { interrupted } from '../commands/follow.ts'
import { openLog } from '../context.ts'
import { ROOT } from '../root.ts'
import type { Context, Environment } from '../context.ts'
import { migrateDatabases, openDatabases } from '../instance/databases.ts'
import type { Databases } from '../instance/databases.ts'
import { openQueue } from '../instance/queue.ts'
import { onFreePorts, settleServices } from '../instance/services.ts'
import { CLI_SETTINGS } from '../settings.ts'
import { HOSTED } from './agents.ts'
import type { GameDay, Scene } from './game-day.ts'
import { startLoad, startReaders } from './load.ts'
import { findPrometheus, startJudge } from './prometheus.ts'
import type { Judge } from './prometheus.ts'
import type { Target } from './read-metrics.ts'
import { openSlowLink } from './slow-link.ts'
import { openSmallDisk } from './small-disk.ts'
import { startServicesOfDay } from './services-of-day.ts'

export interface World {
  readonly scene: Scene
  readonly targets: readonly Target[]
  readonly judge: Judge | undefined
  stop(): Promise<void>
}

const AGENTS = fileURLToPath(new URL('agents.ts', import.meta.url))
const MAIN = fileURLToPath(new URL('../main.ts', import.meta.url))
/** The search for ports starts at a random place, so that it takes none of an instance of yours. */
const SEARCH = 1

/** Throws BATON_GAMEDAY_FOLDER_USED where `folder` holds anything. Leaves nothing running where it fails. */
export async function openWorld(
  context: Context,
  day: GameDay,
  folder: string | undefined,
): Promise<World> {
  const own = await ownContext(context, folder)
  const closing: (() => Promise<void>)[] = []
  if (folder === undefined)
    closing.push(() => rm(own.home, { recursive: true, force: true, maxRetries: 3 }))
  const stop = async () => {
    while (closing.length > 0) await closing.pop()?.()
  }
  try {
    return { ...(await startWorld(own, day, closing)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

async function startWorld(
  context: Context,
  day: GameDay,
  closing: (() => Promise<void>)[],
): Promise<Omit<World, 'stop'>> {
  const { home, environment } = context
  const logger = openLog(home)
  const databases = await openDatabases(context, logger)
  closing.push(() => databases.stop())
  await migrateDatabases(databases, context)
  const queue = await openQueue(context, { choice: day.withRedis ? 'redis' : 'none', logger })
  closing.push(() => queue.stop())
  const { redisUrl } = queue
  const { settled, services } = await onFreePorts(async (attempt) => {
    const settled = await settleServices(context, { databases, redisUrl }, SEARCH + attempt)
    const services = await startServicesOfDay(changedFor(day, settled.settings), home)
    return { settled, services }
  })
  closing.push(() => services.stopAll())
  const sender = createSender({
    databaseUrl: databases.urls.gateway,
    operator: 'operator',
    keyRing: parseSigningKeys(databases.secrets.BATON_SIGNING_KEYS),
    connectionsMax: 4,
  })
  closing.push(() => sender.close())
  const load = startLoad(sender, day.perSecond)
  closing.push(() => load.stop())
  const targets = targetsOf(settled, databases)
  const program = await findPrometheus(environment['PATH'] ?? '')
  const { timesFaster, lowered } = day
  const judge =
    program &&
    (await startJudge({ program, folder: join(home, 'prometheus'), targets, timesFaster, lowered }))
  if (judge) closing.push(() => judge.stop())
  const { gateway, auditor } = settled.urls
  const asking = { context, databases, gateway }
  const scene: Scene = {
    services,
    load,
    home,
    sql: (database, text) => asSuperuser(databases, database, text),
    baton: (...args) => runBaton(args, { ...asking, person: 'reviewer-1' }),
    batonAs: (person, ...args) => runBaton(args, { ...asking, person }),
    smallDisk: async (folder) => void closing.push(await openSmallDisk(folder)),
    async slowLink(url) {
      const link = await openSlowLink(url)
      closing.push(() => link.close())
      return link
    },
    verify: () => verdictOf(auditor, databases),
    readers(count, what) {
      const token = databases.keys.people['reviewer-1']
      const readers = startReaders({ gateway, token }, count, what)
      closing.push(() => readers.stop())
    },
    pause: pausing(context.interrupt),
  }
  return { scene, targets, judge: judge || undefined }
}

/** No address, key or folder of yours reaches the day: it only ever sees what it made itself. */
async function ownContext(context: Context, folder: string | undefined): Promise<Context> {
  if (folder !== undefined) await requireEmpty(folder)
  const home = folder ?? (await mkdtemp(join(tmpdir(), 'baton-gameday-')))
  const kept = Object.entries(context.environment).filter(
    ([name]) => !/^(?:BATON|HANDOFF|PG|AWS)_?/.test(name),
  )
  const quiet = { ...context.output, step: () => undefined, words: () => undefined }
  return {
    ...context,
    output: quiet,
    home,
    environment: Object.fromEntries(kept),
    settings: readSettings(CLI_SETTINGS, {}),
  }
}

async function requireEmpty(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  if ((await readdir(folder)).length === 0) return
  throw permanent('BATON_GAMEDAY_FOLDER_USED', `${folder} is not empty`, {
    fix: 'Name a folder that is empty or does not exist: a game day breaks the instance that it makes there.',
  })
}

function changedFor(
  { settings = {} }: GameDay,
  usual: ReadonlyMap<string, Environment>,
): ReadonlyMap<string, Environment> {
  const ofDay: GameDay['settings'] = {
    ...settings,
    receiver: { BATON_AGENTS: AGENTS, BATON_AGENTS_SETTINGS: HOSTED, ...settings['receiver'] },
  }
  return new Map([...usual].map(([name, own]) => [name, { ...own, ...ofDay[name] }]))
}

function targetsOf(
  { urls, settings }: Awaited<ReturnType<typeof settleServices>>,
  databases: Databases,
): readonly Target[] {
  return Object.entries(urls)
    .filter(([name]) => settings.has(name))
    .map(([name, url]) => ({
      job: `baton-${name}`,
      url,
      ...(name === 'gateway' && { key: databases.secrets.BATON_API_KEY }),
    }))
}

async function asSuperuser({ adminUrls }: Databases, database: string, text: string) {
  const url = new URL(database === 'baton' ? adminUrls.operational : adminUrls.audit)
  url.pathname = `/${database}`
  const pool = createPool({
    url: url.href,
    applicationName: 'baton-gameday',
    connectionsMax: 1,
  })
  try {
    const { rows } = await pool.query<object>({ text })
    return rows
  } finally {
    await pool.end()
  }
}

interface Asking {
  readonly context: Context
  readonly databases: Databases
  readonly gateway: string
  readonly person: 'reviewer-1' | 'reviewer-2'
}

/** As somebody who sent nothing: nobody reviews their own. Throws where the command fails. */
async function runBaton(args: readonly string[], asking: Asking) {
  const { context, databases, gateway, person } = asking
  const child = spawn(process.execPath, [MAIN, '--json', ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'ignore'],
    env: {
      ...context.environment,
      BATON_HOME: context.home,
      BATON_GATEWAY_URL: gateway,
      BATON_API_KEY: databases.keys.people[person],
    },
  })
  const said: Buffer[] = []
  child.stdout.on('data', (bytes: Buffer) => said.push(bytes))
  const exitCode = await new Promise<number>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => resolve(code ?? 1))
  })
  if (exitCode !== 0) throw new Error(`\`baton ${args.join(' ')}\` ended with ${exitCode}`)
  return Buffer.concat(said).toString()
}

const VERIFY_MAX_MS = 60_000

async function verdictOf(auditor: string, { secrets }: Databases): Promise<string> {
  const client = createHttpClient({
    url: auditor,
    name: 'the auditor',
    token: secrets.BATON_AUDIT_READ_TOKEN,
    timeoutMs: VERIFY_MAX_MS,
    unavailable: { code: 'BATON_AUDIT_UNAVAILABLE' },
  })
  try {
    const { verdict } = await client.json<{ readonly verdict: string }>('/v1/verify')
    return verdict
  } finally {
    client.close()
  }
}

/** Throws BATON_INTERRUPTED as soon as somebody interrupts. */
export const pausing = (interrupt: AbortSignal) => async (ms: number) => {
  await delay(ms, undefined, { signal: interrupt }).catch(() => Promise.reject(interrupted()))
}

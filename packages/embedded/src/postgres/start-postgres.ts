// An embedded Postgres 18 for a checkout: durable, loopback only, password only, shared by all its commands.
import { rm, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import pRetry from 'p-retry'
import { permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { readSecret, writeNewSecret } from '../secret-files.ts'
import { freePort } from '../ports.ts'
import { discardInstance, joinInstance } from '../shared-instance.ts'
import type { Engine, Membership, ServerProcess } from '../shared-instance.ts'
import { superviseServer } from '../supervise-server.ts'
import type { ServerNotify } from '../supervise-server.ts'
import type { Supervision } from '../supervise.ts'
import { followCertificates, noteTaken, readServerTls } from '../follow-certificates.ts'
import type { ServerMaterial } from '../follow-certificates.ts'
import { otherSpoken } from '../server-tls.ts'
import type { ServerTls } from '../server-tls.ts'
import { accountOn, commonAccount, ownAccount } from './account.ts'
import type { Account } from './account.ts'
import { runnableBinaries } from './binaries.ts'
import { outsideHomes, serverHome } from './home.ts'
import {
  abortServer,
  answers,
  initialise,
  launch,
  runningServer,
  spokenOn,
  stopServer,
  takeTls,
} from './server.ts'
import type { ServerPaths } from './server.ts'
import { clearStaleLock } from './stale-lock.ts'

const TITLE = 'Postgres'
const START_ATTEMPTS_MAX = 5

export interface PostgresOptions {
  /** For example `.baton/pg`. Its siblings `pg.json` and `secrets/pg` hold the record and the password. */
  readonly dataDir: string
  /** Preferred port; by default the one of last time, else a free one. */
  readonly port?: number
  /** Whether an empty database may be made where there is none; true by default. */
  readonly mayBeNew?: boolean
  /** Delete the data when the last user leaves. For tests. */
  readonly temporary?: boolean
  /** With it everybody but the superuser speaks TLS and shows a certificate. */
  readonly tls?: ServerTls | undefined
  /** Told, in words for a person, what is waited for and what was ended. */
  readonly tell?: (words: string) => void
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

export interface RunningPostgres {
  readonly port: number
  /** Where the data is: `dataDir`, or a folder outside the checkout that the server's account can reach. */
  readonly home: string
  readonly superuserUrl: string
  readonly source: 'started' | 'adopted'
  /** Starts it again whenever it dies, until `stop`, and tells. */
  supervise(notify: ServerNotify): Supervision
  /** Leaves the server; it is shut down when no other living command uses it. Safe to call twice. */
  stop(): Promise<void>
}

interface ServerDetails extends ServerProcess {
  readonly home: string
}

/**
 * Starts the Postgres of `dataDir`, or adopts the one that already runs on it.
 * Throws BATON_POSTGRES_* with a fix when this machine cannot run it, and BATON_SERVER_SILENT when it does not
 * answer while somebody uses it.
 */
export async function startPostgres(options: PostgresOptions): Promise<RunningPostgres> {
  const dataDir = resolve(options.dataDir)
  const secretPath = join(dirname(dataDir), 'secrets', basename(dataDir))
  const engine = postgresEngine({ ...options, dataDir }, secretPath)
  const membership = await joinInstance(`${dataDir}.json`, engine, { tell: options.tell })
  const { home, port } = membership.details
  const password = await readSecret(secretPath)
  if (password === null) throw passwordLost(secretPath, home)
  const wanted = options.tls === undefined ? 'plain text' : 'TLS'
  const spoken = await spokenOn(port)
  if (spoken !== null && spoken !== wanted) {
    await membership.leave()
    throw otherSpoken(TITLE, wanted)
  }
  const unfollow = await follow({ ...options, dataDir }, membership)
  let supervision: Supervision | undefined
  options.logger.info({ event: 'postgres.ready', port, home, source: membership.source })
  return {
    port,
    home,
    superuserUrl: `postgres://postgres:${password}@127.0.0.1:${port}/postgres${options.tls === undefined ? '' : '?sslmode=verify-full'}`,
    source: membership.source,
    supervise(notify) {
      supervision = superviseServer(membership, engine, notify)
      return supervision
    },
    async stop() {
      supervision?.stop()
      await unfollow()
      await membership.leave()
    },
  }
}

/** The server takes renewed files for as long as somebody uses it. */
async function follow(
  { tls, dataDir, logger }: PostgresOptions,
  membership: Membership<ServerDetails>,
) {
  if (tls === undefined) return async () => undefined
  const { home } = membership.details
  return followCertificates({
    title: TITLE,
    files: tls,
    takenPath: takenPathOf(dataDir),
    take: async (material) =>
      takeTls({ home, account: await accountOn(home) }, membership.details, material),
    logger,
  })
}

const takenPathOf = (dataDir: string): string => `${dataDir}.tls`

/** Stops and deletes a temporary Postgres whose command was killed; one in use stays as it is. */
export async function discardPostgres(dataDir: string): Promise<void> {
  await discardInstance<ServerDetails>(`${resolve(dataDir)}.json`, {
    title: TITLE,
    stop: async ({ home }) => {
      await stopOn(home)
      await rm(home, { recursive: true, force: true })
    },
  })
}

function postgresEngine(options: PostgresOptions, secretPath: string): Engine<ServerDetails> {
  const { temporary, logger } = options
  return {
    title: TITLE,
    stopSignal: 'SIGINT',
    logOf: ({ home }) => join(home, 'server.log'),
    find: async (previous) => {
      const { home } = await homeOf(options, secretPath, previous)
      const server = await runningServer(home)
      return server === null ? null : { home, ...server }
    },
    answers: ({ port }) => answers(port),
    start: (previous) => startServer(options, secretPath, previous),
    stop: async ({ home }) => {
      await stopOn(home)
      if (temporary) await rm(home, { recursive: true, force: true })
    },
    abort: async (server) => {
      logger.warn({ event: 'postgres.leftover_ended', pid: server.pid, port: server.port })
      await abortServer(server)
    },
  }
}

async function stopOn(home: string): Promise<void> {
  const running = await runningServer(home)
  if (running !== null) await stopServer(running)
}

async function startServer(
  options: PostgresOptions,
  secretPath: string,
  previous: ServerDetails | null,
): Promise<ServerDetails> {
  const { home, account: common } = await homeOf(options, secretPath, previous)
  await clearStaleLock(home)
  const account = await ownAccount(home, common)
  const paths = { home, account, common, bin: await runnableBinaries(common) }
  await prepareData(paths, secretPath, options)
  const preferred = options.port ?? previous?.port
  const takenPath = takenPathOf(options.dataDir)
  await rm(takenPath, { force: true })
  const tls = options.tls && readServerTls(options.tls)
  const server = await launchOnFreePort(paths, { preferred, tls })
  if (tls !== undefined) await noteTaken(takenPath, tls)
  return { home, ...server }
}

async function homeOf(
  options: PostgresOptions,
  secretPath: string,
  previous: ServerDetails | null,
): Promise<{ readonly home: string; readonly account: Account }> {
  const account = await commonAccount()
  if (previous === null && (await readSecret(secretPath)) === null)
    await dropForgotten(options, account)
  return { home: await serverHome(options.dataDir, account, previous?.home ?? null), account }
}

/** Whoever deleted the checkout's state wants to start afresh, so data kept outside for it goes too. */
async function dropForgotten({ dataDir, logger }: PostgresOptions, account: Account) {
  for (const home of await outsideHomes(dataDir, account)) {
    logger.warn({ event: 'postgres.forgotten_data_deleted', home })
    await stopOn(home)
    await rm(home, { recursive: true, force: true })
  }
}

async function prepareData(
  paths: ServerPaths,
  secretPath: string,
  { mayBeNew = true }: PostgresOptions,
): Promise<void> {
  const made = await stat(join(paths.home, 'data', 'PG_VERSION')).catch(() => null)
  const password = await readSecret(secretPath)
  if (made === null && !mayBeNew) throw dataLost(join(paths.home, 'data'))
  if (made === null) await initialise(paths, password ?? (await writeNewSecret(secretPath)))
  else if (password === null) throw passwordLost(secretPath, paths.home)
}

/** Another process may take the port between the choice and the start, so a failed start tries another one. */
async function launchOnFreePort(
  paths: ServerPaths,
  {
    preferred,
    tls,
  }: { readonly preferred: number | undefined; readonly tls: ServerMaterial | undefined },
) {
  return pRetry(
    async (attempt) =>
      launch(paths, { port: await freePort(attempt === 1 ? preferred : undefined), tls }),
    {
      retries: START_ATTEMPTS_MAX - 1,
      minTimeout: 200,
      shouldRetry: ({ error }) => isWorthRetrying(error),
    },
  )
}

/** A taken port, or the last children of a killed server that are still leaving. */
function isWorthRetrying(error: Error): boolean {
  return /could not bind|shared memory block/.test(error.message)
}

function passwordLost(secretPath: string, home: string) {
  return permanent('BATON_POSTGRES_PASSWORD_LOST', `the password file ${secretPath} is gone`, {
    fix: `Restore it, or delete ${home} too to start with an empty database.`,
  })
}

function dataLost(data: string) {
  return permanent(
    'BATON_POSTGRES_DATA_LOST',
    `the database in ${data} is gone, and what was made of it is still here: seals, anchors or the cold store`,
    {
      fix: 'Put the folder back from a backup. To begin anew instead, move the whole folder of the instance away, keys included, or name another one with --home: an empty database would not fit what was sealed.',
    },
  )
}

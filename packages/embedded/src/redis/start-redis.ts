// A Redis for a checkout, when the machine has one or its distribution offers one: shared by all commands.
import { execFile } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import type { Logger } from '@baton/runtime'
import { withLock } from '@baton/infra/lock'
import { readSecret, writeNewSecret } from '../secret-files.ts'
import { freePort } from '../ports.ts'
import { discardInstance, joinInstance } from '../shared-instance.ts'
import type { Engine, ServerProcess } from '../shared-instance.ts'
import { superviseServer } from '../supervise-server.ts'
import type { ServerNotify } from '../supervise-server.ts'
import type { Supervision } from '../supervise.ts'
import { followCertificates, noteTaken, readServerTls } from '../follow-certificates.ts'
import { otherSpoken } from '../server-tls.ts'
import type { ServerTls } from '../server-tls.ts'
import { unpackedServer, unpackFromDistribution } from './packages.ts'
import type { ServerBinary } from './packages.ts'
import { answers, launchRedis, runningRedis, stopRedis, takeTls } from './server.ts'
import type { RedisAddress } from './server.ts'

const run = promisify(execFile)
const TITLE = 'Redis'
const UNPACK_WAIT_MS = 400_000

export type RedisSource = 'path' | 'distribution'
export interface FoundRedis extends ServerBinary {
  readonly source: RedisSource
}
export interface Unavailable {
  /** Why there is no Redis here, as words for a person. */
  readonly unavailable: string
}

interface FindOptions {
  /** Where a server unpacked from the distribution's packages is kept, for example `.baton/redis-server`. */
  readonly cacheDir: string
  /** When false, nothing is downloaded: it only looks. */
  readonly fetch: boolean
  readonly logger: Pick<Logger, 'info' | 'warn'>
}

export interface RedisOptions extends FindOptions {
  /** Data and settings, for example `.baton/redis`. Its sibling `redis.json` holds the record. */
  readonly dir: string
  /** Delete the data when the last user leaves. For tests. */
  readonly temporary?: boolean
  /** With it everybody speaks TLS and shows a certificate. */
  readonly tls?: ServerTls | undefined
  /** Told, in words for a person, what is waited for and what was ended. */
  readonly tell?: (words: string) => void
}

export interface RunningRedis {
  readonly url: string
  readonly source: RedisSource
  readonly pid: number
  /** Starts it again whenever it dies, until `stop`, and tells. */
  supervise(notify: ServerNotify): Supervision
  /** Leaves the server; it is shut down when no other living command uses it. Safe to call twice. */
  stop(): Promise<void>
}

interface RedisDetails extends RedisAddress, ServerProcess {
  readonly source: RedisSource
}

/** Looks for a server: on PATH, then unpacked earlier, then (with `fetch`) from the distribution's packages. */
export async function findRedis(options: FindOptions): Promise<FoundRedis | Unavailable> {
  for (const command of ['redis-server', 'valkey-server']) {
    if (await isOnPath(command)) return { command, libraryPath: null, source: 'path' }
  }
  const cacheDir = resolve(options.cacheDir)
  const unpacked = await unpackedServer(cacheDir)
  if (unpacked !== null) return { ...unpacked, source: 'distribution' }
  if (!options.fetch) return { unavailable: 'no redis-server or valkey-server on PATH' }
  return await fetchOnce(cacheDir, options.logger)
}

/**
 * Starts the Redis of `dir`, or adopts the one that already runs on it; says why when there is none.
 * Throws BATON_SERVER_SILENT when it does not answer while somebody uses it.
 */
export async function startRedis(options: RedisOptions): Promise<RunningRedis | Unavailable> {
  const found = await findRedis(options)
  if ('unavailable' in found) return found
  const dir = resolve(options.dir)
  const engine = redisEngine({ ...options, dir }, found)
  const membership = await joinInstance(`${dir}.json`, engine, { tell: options.tell })
  const { port, password, pid, source, tls } = membership.details
  if ((tls === undefined) !== (options.tls === undefined)) {
    await membership.leave()
    throw otherSpoken(TITLE, options.tls === undefined ? 'plain text' : 'TLS')
  }
  const unfollow = await follow({ ...options, dir }, membership.details)
  let supervision: Supervision | undefined
  options.logger.info({ event: 'redis.ready', port, source, joined: membership.source })
  return {
    url: `${tls === undefined ? 'redis' : 'rediss'}://:${password}@127.0.0.1:${port}`,
    source,
    pid,
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
async function follow({ dir, logger }: RedisOptions, server: RedisDetails) {
  const { tls } = server
  if (tls === undefined) return async () => undefined
  return followCertificates({
    title: TITLE,
    files: tls,
    takenPath: takenPathOf(dir),
    take: () => takeTls(server, tls),
    logger,
  })
}

const takenPathOf = (dir: string): string => `${dir}.tls`

const FETCH_AGAIN_MS = 24 * 3_600_000
const FETCH_MAX_MS = 25_000

/**
 * Starts the Redis that is there, or fetches one: within 25 s, and not again for a day where that
 * failed, because a package server may take as long as it likes.
 */
export async function startOrFetchRedis(
  options: Omit<RedisOptions, 'fetch'>,
): Promise<RunningRedis | Unavailable> {
  const failure = `${resolve(options.cacheDir)}.not-available`
  const found = await startRedis({ ...options, fetch: false })
  if (!('unavailable' in found) || (await failedLately(failure))) return found
  const started = startRedis({ ...options, fetch: true })
  const timeout = AbortSignal.timeout(FETCH_MAX_MS)
  const late = new Promise<Unavailable>((settle) => {
    timeout.addEventListener('abort', () => settle({ unavailable: 'fetching one took too long' }))
  })
  const fetched = await Promise.race([started, late])
  if ('unavailable' in fetched) {
    await rememberFailure(failure, fetched.unavailable)
    void started.then((redis) => ('unavailable' in redis ? undefined : redis.stop()))
  }
  return fetched
}

// Where it cannot be remembered, it is tried again next time.
async function rememberFailure(path: string, reason: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true }).catch(() => undefined)
  await writeFile(path, `${Date.now()} ${reason}\n`).catch(() => undefined)
}

async function failedLately(path: string): Promise<boolean> {
  const at = Number((await readFile(path, 'utf8').catch(() => '')).split(' ', 1)[0])
  return at > 0 && Date.now() - at < FETCH_AGAIN_MS
}

/** Stops and deletes a temporary Redis whose command was killed; one in use stays as it is. */
export async function discardRedis(dir: string): Promise<void> {
  await discardInstance<RedisDetails>(`${resolve(dir)}.json`, {
    title: TITLE,
    stop: async () => {
      await stopOn(resolve(dir))
      await rm(dir, { recursive: true, force: true })
    },
  })
}

/** Ends the Redis of `dir` where every command that used it was killed; its data stays. Answers whether there was one. */
export async function endUnusedRedis(given: string): Promise<boolean> {
  const dir = resolve(given)
  if ((await runningRedis(dir)) === null) return false
  let isEnded = false
  await discardInstance<RedisDetails>(`${dir}.json`, {
    title: TITLE,
    stop: async () => {
      await stopOn(dir)
      isEnded = true
    },
  })
  return isEnded
}

function redisEngine(options: RedisOptions, found: FoundRedis): Engine<RedisDetails> {
  const { dir, temporary, logger } = options
  return {
    title: TITLE,
    stopSignal: 'SIGTERM',
    logOf: () => join(dir, 'server.log'),
    find: async () => {
      const server = await runningRedis(dir)
      return server === null ? null : { ...server, source: found.source }
    },
    answers,
    start: (previous) => startServer(options, found, previous),
    stop: async () => {
      await stopOn(dir)
      if (temporary) await rm(dir, { recursive: true, force: true })
    },
    abort: async (server) => {
      logger.warn({ event: 'redis.leftover_ended', pid: server.pid, port: server.port })
      await stopRedis(server)
    },
  }
}

async function stopOn(dir: string): Promise<void> {
  const running = await runningRedis(dir)
  if (running !== null) await stopRedis(running)
}

async function startServer(
  { dir, tls }: RedisOptions,
  found: FoundRedis,
  previous: RedisDetails | null,
): Promise<RedisDetails> {
  await mkdir(dir, { recursive: true, mode: 0o700 })
  const address = { port: await freePort(previous?.port), password: await passwordOf(dir), tls }
  await rm(takenPathOf(dir), { force: true })
  const material = tls && readServerTls(tls)
  const server = await launchRedis(found, dir, address)
  if (material !== undefined) await noteTaken(takenPathOf(dir), material)
  return { ...address, source: found.source, ...server }
}

async function passwordOf(dir: string): Promise<string> {
  const path = join(dirname(dir), 'secrets', basename(dir))
  return (await readSecret(path)) ?? (await writeNewSecret(path))
}

/** Commands that need it at the same time wait for one download. */
async function fetchOnce(
  cacheDir: string,
  logger: Pick<Logger, 'info'>,
): Promise<FoundRedis | Unavailable> {
  await mkdir(dirname(cacheDir), { recursive: true })
  return await withLock(`${cacheDir}.lock`, { waitMs: UNPACK_WAIT_MS }, async () => {
    const ready = await unpackedServer(cacheDir)
    if (ready !== null) return { ...ready, source: 'distribution' as const }
    logger.info({ event: 'redis.fetching', from: 'distribution packages' })
    const attempt = await unpackFromDistribution(cacheDir)
    if ('binary' in attempt) return { ...attempt.binary, source: 'distribution' as const }
    return { unavailable: `no redis-server or valkey-server on PATH, and ${attempt.reason}` }
  })
}

async function isOnPath(command: string): Promise<boolean> {
  return await run(command, ['--version']).then(
    () => true,
    () => false,
  )
}

// Servers of a test's own, for tests that stop, kill or flush them.
import { randomUUID } from 'node:crypto'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isAlive, startPostgres, startRedis } from '@baton/embedded'
import type { RunningPostgres, RunningRedis, ServerTls, Unavailable } from '@baton/embedded'
import { eventually } from './eventually.ts'
import { REDIS_CACHE, TEST_STATE } from './folders.ts'
import { quietLogger } from './progress.ts'

/** A folder of a server of one's own; whoever asks for it deletes it. */
export const ownFolder = (): string =>
  join(TEST_STATE, `run-${process.pid}`, randomUUID().slice(0, 8))
const CRASH_MAX_MS = 20_000

/** A Postgres nobody else uses; `stop` ends it and deletes its data. `restart` brings it back on the same port. */
export interface OwnPostgres extends RunningPostgres {
  /** Ends the server but keeps its data; a later `restart` continues with it. */
  pause(): Promise<void>
  /** Ends it without a checkpoint (immediate mode), as a crash does: the restart has to recover. */
  crash(): Promise<void>
  /** kill -9 of the server process alone: its children go on until they notice, and may still commit. */
  kill(): Promise<void>
  restart(): Promise<void>
}

interface OwnOptions {
  /** With it everybody speaks TLS and shows a certificate; Postgres' superuser need not. */
  readonly tls?: ServerTls
  /** Told what it does; what goes wrong is shown by default. */
  readonly logger?: Parameters<typeof startPostgres>[0]['logger']
}

export async function startOwnPostgres({
  tls,
  logger = quietLogger,
}: OwnOptions = {}): Promise<OwnPostgres> {
  const folder = ownFolder()
  const options = { dataDir: join(folder, 'pg'), logger, tls }
  let running = await startPostgres(options)
  const end = async (signal: NodeJS.Signals) => {
    const lines = await readFile(join(running.home, 'data', 'postmaster.pid'), 'utf8')
    await endHard(Number(lines.split('\n')[0]), signal)
    await running.stop()
  }
  return {
    ...running,
    // Who is a superuser on this machine needs no TLS.
    superuserUrl: running.superuserUrl.replace(/\?.*$/, ''),
    pause: async () => await running.stop(),
    crash: () => end('SIGQUIT'),
    kill: () => end('SIGKILL'),
    restart: async () => {
      const { port } = running
      running = await startPostgres({ ...options, port })
      if (running.port !== port) throw new Error(`port ${port} was taken in the meantime`)
    },
    stop: async () => {
      await running.stop()
      await rm(running.home, { recursive: true, force: true })
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A Redis nobody else uses; `stop` ends it and deletes its data. */
export interface OwnRedis extends Omit<RunningRedis, 'supervise'> {
  /** Where its data is. */
  readonly dir: string
  /** kill -9; a later `restart` continues with what its append-only file holds. */
  crash(): Promise<void>
  restart(): Promise<void>
}

export async function startOwnRedis({ tls, logger = quietLogger }: OwnOptions = {}): Promise<
  OwnRedis | Unavailable
> {
  const folder = ownFolder()
  const dir = join(folder, 'redis')
  const options = { dir, cacheDir: REDIS_CACHE, fetch: true, logger, tls }
  const first = await startRedis(options)
  if ('unavailable' in first) return first
  let running: RunningRedis = first
  return {
    url: first.url,
    source: first.source,
    dir,
    get pid() {
      return running.pid
    },
    crash: async () => {
      await endHard(running.pid, 'SIGKILL')
      await running.stop()
    },
    restart: async () => {
      const next = await startRedis(options)
      if ('unavailable' in next) throw new Error(next.unavailable)
      running = next
      if (next.url !== first.url) throw new Error('its port was taken in the meantime')
    },
    stop: async () => {
      await running.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function endHard(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal)
  await eventually(() => !isAlive({ pid, startedAt: null }), {
    deadlineMs: CRASH_MAX_MS,
    describe: `server ${pid} is gone`,
  })
}

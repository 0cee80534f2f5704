// One Postgres server on a data directory: initialise, start, recognise, stop. Loopback only, password only.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { permanent, transient } from '@baton/runtime'
import { holderOf, isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'
import { commandLine, endProcess, settles } from '../server-process.ts'
import type { EndStep } from '../server-process.ts'
import type { ServerProcess } from '../shared-instance.ts'
import { giveTo } from './account.ts'
import type { Account } from './account.ts'

const run = promisify(execFile)
/** Crash recovery of a full write-ahead log fits in this on a slow disk. */
const START_MAX_MS = 180_000
const PROBE_MAX_MS = 2_000
/** A paused server hears nothing else. */
const WAKE: EndStep = { signal: 'SIGCONT', waitMs: 0 }
/** Asked to stop at once, it kills after 5 s the children that did not: none is left to hold its memory. */
const AT_ONCE: readonly EndStep[] = [
  { signal: 'SIGQUIT', waitMs: 8_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
]
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export interface ServerPaths {
  readonly bin: string
  readonly home: string
  readonly account: Account
}

/** Sized for a development machine with two cores; durability stays on. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '256MB',
  max_connections: '200',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
  effective_cache_size: '1GB',
  jit: 'off',
  log_timezone: 'UTC',
  timezone: 'UTC',
}

/** Makes the cluster when there is none yet. A half-made one (killed in the middle) is made again. */
export async function initialise(paths: ServerPaths, password: string): Promise<void> {
  // A killed command may have left an initdb that still writes, so each one gets a folder of its own.
  const draft = join(paths.home, `data.${randomUUID().slice(0, 8)}.draft`)
  const passwordFile = `${draft}.password`
  await removeDrafts(paths.home)
  await writeFile(passwordFile, password, { mode: 0o600 })
  await giveTo(paths.account, passwordFile)
  const options = ['--auth=scram-sha-256', '--username=postgres', `--pwfile=${passwordFile}`]
  const locale = [
    '--encoding=UTF8',
    '--locale-provider=builtin',
    '--locale=C',
    '--builtin-locale=C.UTF-8',
  ]
  try {
    await run(
      join(paths.bin, 'initdb'),
      ['-D', draft, ...options, ...locale, '--no-instructions'],
      childOptions(paths),
    )
  } catch (cause) {
    const words = (cause as { stderr?: string }).stderr?.trim() ?? ''
    throw permanent(
      'BATON_POSTGRES_INIT_FAILED',
      `could not make the database in ${draft}: ${words}`,
      {
        cause,
        fix: 'Check the free space and the rights of the folder, then run the command again.',
      },
    )
  } finally {
    await rm(passwordFile, { force: true })
  }
  await rename(draft, join(paths.home, 'data'))
}

async function removeDrafts(home: string): Promise<void> {
  const left = (await readdir(home)).filter((name) => name.includes('.draft'))
  await Promise.allSettled(left.map((name) => rm(join(home, name), { recursive: true })))
}

/** Starts the server and waits until it accepts connections. */
export async function launch(paths: ServerPaths, port: number): Promise<ServerProcess> {
  const settings = Object.entries(SETTINGS).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await open(join(paths.home, 'server.log'), 'w')
  const child = spawn(
    join(paths.bin, 'postgres'),
    ['-D', join(paths.home, 'data'), '-p', String(port), ...settings],
    { ...childOptions(paths), detached: true, stdio: ['ignore', log.fd, log.fd] },
  )
  await log.close()
  await started(child, paths)
  child.unref()
  return { ...holderOf(child.pid), port }
}

async function started(child: ChildProcess, paths: ServerPaths): Promise<void> {
  let failure: string | null = null
  child.once('error', (error) => (failure = error.message))
  child.once('exit', (code) => (failure ??= `it ended with code ${code ?? 'unknown'}`))
  await settles(
    async () => failure !== null || (await isReady(paths.home, child.pid)),
    START_MAX_MS,
  )
  if (failure === null && (await isReady(paths.home, child.pid))) return
  child.kill('SIGQUIT')
  const log = await readFile(join(paths.home, 'server.log'), 'utf8').catch(() => '')
  throw transient(
    'BATON_POSTGRES_START_FAILED',
    `Postgres did not start: ${failure ?? 'it took too long'}\n${log.split('\n').slice(-12).join('\n').trim()}`,
    { fix: `Mend what ${join(paths.home, 'server.log')} names, then run the command again.` },
  )
}

/** The server that runs on this home now, if any. */
export async function runningServer(home: string): Promise<ServerProcess | null> {
  const lines = await pidFile(home)
  const [pid, port] = [Number(lines[0]), Number(lines[3])]
  if (!pid || !port) return null
  const holder = holderOf(pid)
  if (!isAlive(holder) || !(await commandLine(pid)).includes(join(home, 'data'))) return null
  return { ...holder, port }
}

/** True when a Postgres answers on the port within two seconds. */
export async function answers(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(SSL_REQUEST))
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(PROBE_MAX_MS, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('data', (bytes) => finish(bytes[0] === 0x4e || bytes[0] === 0x53))
  })
}

/** Fast shutdown: open transactions roll back, everything committed is on disk. */
export async function stopServer(server: Holder): Promise<void> {
  await endProcess(server, [WAKE, { signal: 'SIGINT', waitMs: 60_000 }, ...AT_ONCE])
}

/**
 * For a server that does not answer any more: it is asked for the same; if that does not help it ends at once, and
 * its next start recovers from the write-ahead log.
 */
export async function abortServer(server: Holder): Promise<void> {
  await endProcess(server, [WAKE, { signal: 'SIGINT', waitMs: 10_000 }, ...AT_ONCE])
}

/** Postgres itself writes its state into the eighth line of its pid file. */
async function isReady(home: string, pid: number | undefined): Promise<boolean> {
  const lines = await pidFile(home)
  return Number(lines[0]) === pid && lines[7]?.trim() === 'ready'
}

async function pidFile(home: string): Promise<readonly string[]> {
  const text = await readFile(join(home, 'data', 'postmaster.pid'), 'utf8').catch(() => '')
  return text.split('\n')
}

function childOptions(paths: ServerPaths) {
  return {
    ...paths.account,
    cwd: paths.home,
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  }
}

// One Postgres server on a data directory: initialise, start, recognise, stop. Loopback only, password only.
import { execFile, spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID, X509Certificate } from 'node:crypto'
import { constants, existsSync } from 'node:fs'
import { chmod, mkdir, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { promisify } from 'node:util'
import { permanent, transient } from '@baton/runtime'
import { holderOf, isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'
import { commandLine, endProcess, settles } from '../server-process.ts'
import type { EndStep } from '../server-process.ts'
import type { ServerMaterial } from '../follow-certificates.ts'
import type { ServerProcess } from '../shared-instance.ts'
import { giveTo, giveTree, openOwn } from './account.ts'
import type { Account } from './account.ts'

const run = promisify(execFile)
/** Crash recovery of a full write-ahead log fits in this on a slow disk. */
const START_MAX_MS = 180_000
/** A restored server goes through all write-ahead log since its backup first. */
const RESTORE_MAX_MS = 21_600_000
const PROBE_MAX_MS = 2_000
const TAKE_MAX_MS = 10_000
/** A paused server hears nothing else. */
const WAKE: EndStep = { signal: 'SIGCONT', waitMs: 0 }
/** Asked to stop at once, it kills after 5 s the children that did not: none is left to hold its memory. */
const AT_ONCE: readonly EndStep[] = [
  { signal: 'SIGQUIT', waitMs: 8_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
]
/** Whoever the server runs as cannot make us write elsewhere. */
const LOG_FLAGS =
  constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | (constants.O_NOFOLLOW ?? 0)
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

export interface ServerPaths {
  readonly bin: string
  readonly home: string
  /** Of this server alone. */
  readonly account: Account
  /** Which the system knows by a name, as initdb wants it. */
  readonly common: Account
}

/** Sized for a development machine with two cores; durability stays on. */
const SETTINGS = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  shared_buffers: '256MB',
  max_connections: '200',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  // Whoever follows and stays away may not fill the disk; it begins anew with a backup then.
  max_slot_wal_keep_size: '4GB',
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
  await writeFile(passwordFile, password, { mode: 0o640 })
  await giveTo(paths.account, passwordFile)
  // Others who run as the common account are not of this group, and so do not get in.
  await chmod(paths.home, 0o770)
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
      childOptions(paths, { ...paths.account, ...uidOf(paths.common) }),
    )
    await giveTree(paths.account, draft)
  } catch (cause) {
    const { stderr = '', message } = cause as Error & { stderr?: string }
    const words = /^.*(?:FATAL|initdb: error): .*$/m.exec(stderr)?.[0] ?? (stderr.trim() || message)
    throw permanent(
      'BATON_POSTGRES_INIT_FAILED',
      `could not make the database in ${draft}: ${words}`,
      {
        fix: 'Check the free space and the rights of the folder, then run the command again.',
      },
    )
  } finally {
    await chmod(paths.home, 0o700)
    await rm(passwordFile, { force: true })
  }
  await rename(draft, join(paths.home, 'data'))
}

async function removeDrafts(home: string): Promise<void> {
  const left = (await readdir(home)).filter((name) => name.includes('.draft'))
  await Promise.allSettled(left.map((name) => rm(join(home, name), { recursive: true })))
}

interface LaunchOptions {
  readonly port: number
  readonly tls: ServerMaterial | undefined
}

/** Starts the server and waits until it accepts connections. */
export async function launch(
  paths: ServerPaths,
  { port, tls }: LaunchOptions,
): Promise<ServerProcess> {
  const all = { ...SETTINGS, ...(tls === undefined ? {} : await writeTls(paths, tls)) }
  const settings = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = await open(await freshLog(paths.home), LOG_FLAGS, 0o600)
  const { uid, gid } = paths.account
  if (uid !== undefined && gid !== undefined) await log.chown(uid, gid)
  const child = spawn(
    join(paths.bin, 'postgres'),
    ['-D', join(paths.home, 'data'), '-p', String(port), ...settings],
    { ...childOptions(paths, paths.account), detached: true, stdio: ['ignore', log.fd, log.fd] },
  )
  await log.close()
  await started(child, paths)
  child.unref()
  return { ...holderOf(child.pid), port }
}

/** That of the server before is kept beside it: it says how that one ended. */
async function freshLog(home: string): Promise<string> {
  const path = join(home, 'server.log')
  await rename(path, `${path}.1`).catch(() => undefined)
  return path
}

/** Everybody but the superuser of this machine speaks TLS and shows a certificate, besides the password. */
const ACCESS = `
host    all postgres 127.0.0.1/32 scram-sha-256
hostssl all all      127.0.0.1/32 scram-sha-256 clientcert=verify-ca
`

/** Copies for the server's account, which may reach no other place; answers the settings that name them. */
async function writeTls(
  { home, account }: Pick<ServerPaths, 'home' | 'account'>,
  material: ServerMaterial,
) {
  const folder = join(home, 'tls')
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await using opened = await openOwn(folder, account)
  const own = async (name: string, text: string): Promise<string> => {
    await opened.write(name, text)
    return join(folder, name)
  }
  return {
    ssl: 'on',
    ssl_cert_file: await own('server.crt', material.certificate),
    ssl_key_file: await own('server.key', material.key),
    ssl_ca_file: await own('ca.crt', material.authorities.join('')),
    hba_file: await own('pg_hba.conf', ACCESS),
  }
}

/** Has a running server take another certificate for new connections, as pg_reload_conf() does. Throws BATON_TLS_NOT_TAKEN. */
export async function takeTls(
  paths: Pick<ServerPaths, 'home' | 'account'>,
  server: ServerProcess,
  material: ServerMaterial,
): Promise<void> {
  await writeTls(paths, material)
  if (isAlive(server)) process.kill(server.pid, 'SIGHUP')
  const { raw } = new X509Certificate(material.certificate)
  const isShown = async () => (await shownOn(server.port, material))?.equals(raw) === true
  if (!(await settles(isShown, TAKE_MAX_MS))) throw notTaken(paths.home)
}

async function started(child: ChildProcess, paths: ServerPaths): Promise<void> {
  let failure: string | null = null
  child.once('error', (error) => (failure = error.message))
  child.once('exit', (code) => (failure ??= `it ended with code ${code ?? 'unknown'}`))
  const isRestored = existsSync(join(paths.home, 'data', 'recovery.signal'))
  await settles(
    async () => failure !== null || (await isReady(paths.home, child.pid)),
    isRestored ? RESTORE_MAX_MS : START_MAX_MS,
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

const ANSWERS: Readonly<Record<string, Spoken>> = { N: 'plain text', S: 'TLS' }
type Spoken = 'plain text' | 'TLS'

/** True when a Postgres answers on the port within two seconds. */
export const answers = async (port: number): Promise<boolean> => (await spokenOn(port)) !== null

/** What the Postgres on the port offers; null where none answers within two seconds. */
export async function spokenOn(port: number): Promise<Spoken | null> {
  return await new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port }, () => socket.write(SSL_REQUEST))
    const finish = (answer: Spoken | null) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(PROBE_MAX_MS, () => finish(null))
    socket.once('error', () => finish(null))
    socket.once('data', (bytes) => finish(ANSWERS[bytes.toString('latin1')] ?? null))
  })
}

/** The certificate that the server shows to new connections; null where none is shown within two seconds. */
async function shownOn(port: number, { certificate, key }: ServerMaterial): Promise<Buffer | null> {
  return await new Promise((resolve) => {
    const plain = connect({ host: '127.0.0.1', port }, () => plain.write(SSL_REQUEST))
    const finish = (shown: Buffer | null) => {
      plain.destroy()
      resolve(shown)
    }
    plain.setTimeout(PROBE_MAX_MS, () => finish(null))
    plain.once('error', () => finish(null))
    plain.once('close', () => finish(null))
    plain.once('data', () => {
      // What it shows is compared, and nothing is said to it.
      const secure = connectTls({
        socket: plain,
        cert: certificate,
        key,
        rejectUnauthorized: false,
      })
      secure.once('error', () => finish(null))
      secure.once('secureConnect', () => finish(secure.getPeerCertificate().raw))
    })
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

const notTaken = (home: string) =>
  transient('BATON_TLS_NOT_TAKEN', 'Postgres does not show the certificate that it was given', {
    fix: `Read ${join(home, 'server.log')}: it says why Postgres could not load it.`,
  })

const uidOf = ({ uid }: Account): Account => (uid === undefined ? {} : { uid })

function childOptions({ home }: ServerPaths, account: Account) {
  return {
    ...account,
    cwd: home,
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
  }
}

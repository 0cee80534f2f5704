// One Redis on a folder: started with durable, bounded settings; spoken to just enough to know that it is ours.
import { spawn } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { open, readFile, rename, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import type { TLSSocket } from 'node:tls'
import { transient } from '@baton/runtime'
import { holderOf, isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'
import { commandLine, endProcess, settles } from '../server-process.ts'
import type { ServerTls } from '../server-tls.ts'
import type { ServerBinary } from './packages.ts'

/** Loading a large append-only file fits in this. */
const START_MAX_MS = 60_000
const PROBE_MAX_MS = 2_000

export interface RedisAddress {
  readonly port: number
  readonly password: string
  /** Where it speaks TLS alone, and who connects shows a certificate. */
  readonly tls?: ServerTls | undefined
}

/** Starts the server detached and waits until it answers. */
export async function launchRedis(
  binary: ServerBinary,
  dir: string,
  address: RedisAddress,
): Promise<Holder> {
  const settings = settingsPath(dir)
  await writeFile(settings, settingsText(dir, address), { mode: 0o600 })
  // That of the server before is kept beside it: it says how that one ended.
  const logPath = join(dir, 'server.log')
  await rename(logPath, `${logPath}.1`).catch(() => undefined)
  const log = await open(logPath, 'w')
  const child = spawn(binary.command, [settings], {
    cwd: dir,
    detached: true,
    stdio: ['ignore', log.fd, log.fd],
    env: {
      PATH: process.env['PATH'],
      ...(binary.libraryPath === null ? {} : { LD_LIBRARY_PATH: binary.libraryPath }),
    },
  })
  await log.close()
  let ended = false
  child.once('error', () => (ended = true))
  child.once('exit', () => (ended = true))
  await settles(async () => ended || (await answers(address)), START_MAX_MS)
  if (ended || !(await answers(address))) throw await startFailed(dir)
  child.unref()
  return holderOf(child.pid)
}

/** The server that runs on this folder now, if any, as its own settings and pid file describe it. */
export async function runningRedis(dir: string): Promise<(RedisAddress & Holder) | null> {
  const pid = Number(await readFile(join(dir, 'redis.pid'), 'utf8').catch(() => ''))
  const settings = await readFile(settingsPath(dir), 'utf8').catch(() => '')
  const read = (name: string): string | undefined =>
    new RegExp(`^${name} "?(.+?)"?$`, 'm').exec(settings)?.[1]
  const tls = tlsOf(read)
  const port = Number(read(tls === undefined ? 'port' : 'tls-port'))
  const password = read('requirepass')
  if (!pid || !port || password === undefined) return null
  const holder = holderOf(pid)
  if (!isAlive(holder) || !isOn(dir, port, await commandLine(pid))) return null
  return { ...holder, port, password, tls }
}

function tlsOf(read: (name: string) => string | undefined): ServerTls | undefined {
  const [certificateFile, keyFile, authorityFile] = [
    read('tls-cert-file'),
    read('tls-key-file'),
    read('tls-ca-cert-file'),
  ]
  if (certificateFile === undefined || keyFile === undefined || authorityFile === undefined)
    return undefined
  return { certificateFile, keyFile, authorityFile }
}

/** Names its settings while it starts and its port afterwards; another Redis with the same id does neither. */
const isOn = (dir: string, port: number, command: string): boolean =>
  /redis|valkey/.test(command) &&
  (command.includes(settingsPath(dir)) || new RegExp(`:${port}\\b`).test(command))

/** True when a Redis on the port accepts the password within two seconds. */
export const answers = async (address: RedisAddress): Promise<boolean> =>
  (await ask(address, 'PING')) === '+PONG'

/** Has a running server take what stands in its files by now, for new connections. Throws BATON_TLS_NOT_TAKEN. */
export async function takeTls(address: RedisAddress, files: ServerTls): Promise<void> {
  // It reads its key and its authorities again as well.
  const answer = await ask(address, `CONFIG SET tls-cert-file "${files.certificateFile}"`)
  if (answer !== '+OK') throw notTaken(answer)
}

/** The first line that it answers to a command; null where it answers none, or accepts no password, within two seconds. */
async function ask({ port, password, tls }: RedisAddress, command: string): Promise<string | null> {
  const material = tls && (await readMaterial(tls))
  return await new Promise((resolve) => {
    let heard = ''
    const address = { host: '127.0.0.1', port }
    const socket =
      material === undefined
        ? connect(address)
        : connectTls({ ...address, ...material, rejectUnauthorized: false })
    const finish = (answer: string | null) => {
      socket.destroy()
      resolve(answer)
    }
    socket.once(material === undefined ? 'connect' : 'secureConnect', () => {
      if (material !== undefined && !isOwn(socket as TLSSocket, material.ca)) return finish(null)
      socket.write(`AUTH ${password}\r\n${command}\r\n`)
    })
    socket.setTimeout(PROBE_MAX_MS, () => finish(null))
    socket.once('error', () => finish(null))
    socket.once('close', () => finish(null))
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1')
      const [accepted = '', answer, rest] = heard.split('\r\n')
      if (accepted.startsWith('-')) finish(null)
      else if (answer !== undefined && rest !== undefined) finish(answer)
    })
  })
}

/** Also one that has ended, if an authority of ours has signed it: the server is told to take another one then. */
function isOwn(socket: TLSSocket, authorities: string): boolean {
  if (socket.authorized) return true
  const shown = socket.getPeerX509Certificate()
  const believed = authorities.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []
  return believed.some((one) => shown?.verify(new X509Certificate(one).publicKey) === true)
}

/** Whoever asks it something shows the server's own certificate, which is of the same authority. */
async function readMaterial({ certificateFile, keyFile, authorityFile }: ServerTls) {
  const [cert, key, ca] = await Promise.all([
    readFile(certificateFile, 'utf8'),
    readFile(keyFile, 'utf8'),
    readFile(authorityFile, 'utf8'),
  ])
  return { cert, key, ca }
}

/** SIGTERM lets it finish writing its append-only file; it is woken first, in case it is paused. */
export async function stopRedis(server: Holder): Promise<void> {
  await endProcess(server, [
    { signal: 'SIGCONT', waitMs: 0 },
    { signal: 'SIGTERM', waitMs: 10_000 },
    { signal: 'SIGKILL', waitMs: 5_000 },
  ])
}

const settingsPath = (dir: string): string => join(dir, 'redis.conf')

function settingsText(dir: string, { port, password, tls }: RedisAddress): string {
  return [
    'bind 127.0.0.1',
    ...(tls === undefined ? [`port ${port}`] : tlsSettings(port, tls)),
    `requirepass ${password}`,
    `dir "${dir}"`,
    `pidfile "${join(dir, 'redis.pid')}"`,
    'daemonize no',
    'appendonly yes',
    'appendfsync everysec',
    'save ""',
    'maxmemory 512mb',
    'maxmemory-policy noeviction',
    '',
  ].join('\n')
}

const tlsSettings = (port: number, tls: ServerTls): readonly string[] => [
  'port 0',
  `tls-port ${port}`,
  `tls-cert-file "${tls.certificateFile}"`,
  `tls-key-file "${tls.keyFile}"`,
  `tls-ca-cert-file "${tls.authorityFile}"`,
  'tls-auth-clients yes',
]

async function startFailed(dir: string) {
  const log = await readFile(join(dir, 'server.log'), 'utf8').catch(() => '')
  return transient(
    'BATON_REDIS_START_FAILED',
    `Redis did not start:\n${log.split('\n').slice(-8).join('\n').trim()}`,
    { fix: `Mend what ${join(dir, 'server.log')} names, or run with --no-redis.` },
  )
}

const notTaken = (answer: string | null) =>
  transient(
    'BATON_TLS_NOT_TAKEN',
    `Redis did not load the certificate that it was given: ${answer ?? 'no answer'}`,
    { fix: 'Put certificate, key and authority that belong together into its files.' },
  )

// One Redis on a folder: started with durable, bounded settings; spoken to just enough to know that it is ours.
import { spawn } from 'node:child_process'
import { open, readFile, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { transient } from '@baton/runtime'
import { holderOf, isAlive } from '@baton/infra/lock'
import type { Holder } from '@baton/infra/lock'
import { commandLine, endProcess, settles } from '../server-process.ts'
import type { ServerBinary } from './packages.ts'

/** Loading a large append-only file fits in this. */
const START_MAX_MS = 60_000
const PROBE_MAX_MS = 2_000

export interface RedisAddress {
  readonly port: number
  readonly password: string
}

/** Starts the server detached and waits until it answers. */
export async function launchRedis(
  binary: ServerBinary,
  dir: string,
  address: RedisAddress,
): Promise<Holder> {
  const settings = settingsPath(dir)
  await writeFile(settings, settingsText(dir, address), { mode: 0o600 })
  const log = await open(join(dir, 'server.log'), 'w')
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
  const port = Number(/^port (\d+)$/m.exec(settings)?.[1])
  const password = /^requirepass (\S+)$/m.exec(settings)?.[1]
  if (!pid || !port || password === undefined) return null
  const holder = holderOf(pid)
  if (!isAlive(holder) || !isOn(dir, port, await commandLine(pid))) return null
  return { ...holder, port, password }
}

/** Names its settings while it starts and its port afterwards; another Redis with the same id does neither. */
const isOn = (dir: string, port: number, command: string): boolean =>
  /redis|valkey/.test(command) &&
  (command.includes(settingsPath(dir)) || new RegExp(`:${port}\\b`).test(command))

/** True when a Redis on the port accepts the password within two seconds. */
export async function answers({ port, password }: RedisAddress): Promise<boolean> {
  return await new Promise((resolve) => {
    let heard = ''
    const socket = connect({ host: '127.0.0.1', port }, () =>
      socket.write(`AUTH ${password}\r\nPING\r\n`),
    )
    const finish = (answer: boolean) => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(PROBE_MAX_MS, () => finish(false))
    socket.once('error', () => finish(false))
    socket.once('close', () => finish(false))
    socket.on('data', (bytes) => {
      heard += bytes.toString('latin1')
      if (heard.includes('+PONG')) finish(true)
      else if (heard.includes('-')) finish(false)
    })
  })
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

function settingsText(dir: string, { port, password }: RedisAddress): string {
  return [
    'bind 127.0.0.1',
    `port ${port}`,
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

async function startFailed(dir: string) {
  const log = await readFile(join(dir, 'server.log'), 'utf8').catch(() => '')
  return transient(
    'BATON_REDIS_START_FAILED',
    `Redis did not start:\n${log.split('\n').slice(-8).join('\n').trim()}`,
    { fix: `Mend what ${join(dir, 'server.log')} names, or run with --no-redis.` },
  )
}

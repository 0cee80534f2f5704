// One service as its own process: started with its settings, ready before it is used, drained at the end.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { transient } from '@baton/runtime'

interface ChildOptions {
  /** Its log is named after it. */
  readonly name: string
  /** The program, absolute; it runs with `folder` as its working directory. */
  readonly main: string
  readonly folder: string
  /** All of its environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly logsDir: string
}

export interface ChildService {
  readonly name: string
  readonly pid: number
  /** Resolves when it has printed `ready`. Rejects with BATON_SERVICE_START_FAILED and its last words. */
  readonly ready: Promise<void>
  /** Rejects with BATON_SERVICE_ENDED when the process ends before it was stopped. */
  readonly ended: Promise<never>
  /** Lets it drain; ends it after 30 s. Safe to call twice. */
  stop(): Promise<void>
}

/** Whatever ends this process, its services do not stay behind; only SIGKILL leaves them to the next command. */
const living = new Set<ChildProcess>()
process.once('exit', () => living.forEach((child) => child.kill('SIGTERM')))

const READY_MAX_MS = 30_000
const STOP_MAX_MS = 30_000
const LOG_LINES = 8

/** Starts the process. Its output goes to a log of its own, which begins anew. */
export function startChild(options: ChildOptions): ChildService {
  const logPath = join(options.logsDir, `${options.name}.log`)
  // Its own process group: Ctrl-C in a terminal reaches this process alone, which then drains in order.
  const child = spawn(process.execPath, [options.main], {
    cwd: options.folder,
    env: options.environment,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log = createWriteStream(logPath, { flags: 'w', mode: 0o600 })
  child.stdout?.pipe(log, { end: false })
  child.stderr?.pipe(log, { end: false })
  living.add(child)
  const written = new Promise<void>((resolve) => {
    child.once('close', () => {
      living.delete(child)
      log.end(() => resolve())
    })
  })
  return asService(child, { name: options.name, path: logPath, written })
}

interface Log {
  /** Of the service whose log it is. */
  readonly name: string
  readonly path: string
  /** Resolves once all that the ended process said stands in the file. */
  readonly written: Promise<void>
}

function untilReady(child: ChildProcess, log: Log): Promise<void> {
  return new Promise((resolve, reject) => {
    let heard = ''
    const fail = (why: string) => void startFailed(log, why).then(reject)
    const timer = setTimeout(() => {
      child.kill('SIGKILL')
      fail(`was not ready within ${READY_MAX_MS / 1000} s`)
    }, READY_MAX_MS)
    child.once('error', () => fail('could not be started'))
    child.once('close', (code, signal) => {
      clearTimeout(timer)
      void log.written.then(() => fail(`ended with ${code ?? signal} while starting`))
    })
    child.stdout?.on('data', (bytes: Buffer) => {
      if (/^ready$/m.test(heard)) return
      heard += bytes.toString()
      if (!/^ready$/m.test(heard)) return
      clearTimeout(timer)
      resolve()
    })
  })
}

function asService(child: ChildProcess, log: Log): ChildService {
  const { name } = log
  let stopping: Promise<void> | undefined
  const closed = new Promise<number | NodeJS.Signals | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  const ended = closed.then((how): never | Promise<never> => {
    if (stopping !== undefined) return new Promise<never>(() => undefined)
    throw serviceEnded(log, how)
  })
  ended.catch(() => undefined)
  const ready = untilReady(child, log)
  ready.catch(() => undefined)
  return {
    name,
    pid: child.pid as number,
    ready,
    ended,
    stop() {
      stopping ??= drain(child, closed)
      return stopping
    },
  }
}

async function drain(child: ChildProcess, closed: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
  await closed
  clearTimeout(timer)
}

const serviceEnded = ({ name, path }: Log, how: unknown) =>
  transient('BATON_SERVICE_ENDED', `the ${name} ended by itself (${String(how)})`, {
    fix: `Read ${path}, then start again: nothing that was acknowledged is lost.`,
  })

async function startFailed({ name, path }: Log, why: string) {
  const text = await readFile(path, 'utf8').catch(() => '')
  const lines = text.trimEnd().split('\n')
  // What it said to people, where it said anything, not what it wrote for machines.
  const words = lines.filter((line) => !line.startsWith('{'))
  const last = (words.length > 0 ? words : lines).slice(-LOG_LINES).join('\n    ')
  return transient(
    'BATON_SERVICE_START_FAILED',
    `the ${name} ${why}; its last words:\n    ${last}`,
    { fix: `The whole log is ${path}.` },
  )
}

// One service as its own process: started with its settings, ready before it is used, drained at the end.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { openLastingLog, transient } from '@baton/runtime'
import type { End } from './supervise.ts'

interface ChildOptions {
  /** Its log is named after it. */
  readonly name: string
  /** The program, absolute; it runs with `folder` as its working directory. */
  readonly main: string
  readonly folder: string
  /** All of its environment: nothing is inherited. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly logsDir: string
  /** Whether its log goes on where that of the process before it ended; it begins anew by default. */
  readonly isAgain?: boolean
}

export interface ChildService {
  readonly name: string
  readonly pid: number
  readonly logPath: string
  /** Resolves when it has printed `ready`. Rejects with BATON_SERVICE_START_FAILED and its last words. */
  readonly ready: Promise<void>
  /** Resolves when the process ends before it was stopped. */
  readonly ended: Promise<End>
  /** Lets it drain; ends it after 30 s. Safe to call twice. */
  stop(): Promise<void>
}

/**
 * Whatever ends this process, its services do not stay behind: whoever insists has them ended here and now, and where this
 * process was killed, each hears that its channel is gone and drains.
 */
const living = new Set<ChildProcess>()
process.once('exit', () => living.forEach((child) => child.kill('SIGKILL')))

/** A machine that starts everything at once, or has other things to do, takes its time. */
const READY_MAX_MS = 90_000
const STOP_MAX_MS = 30_000
const TOO_LATE = `was not ready within ${READY_MAX_MS / 1000} s`
const LOG_LINES = 8
const TAIL_MAX = 8_192

/** Starts the process. Its output goes to a log of its own. */
export function startChild(options: ChildOptions): ChildService {
  const { name, isAgain = false } = options
  // Its own process group: Ctrl-C in a terminal reaches this process alone, which then drains in order.
  const child = spawn(process.execPath, [options.main], {
    cwd: options.folder,
    env: options.environment,
    detached: true,
    // Through the channel nothing is said; the service drains when it closes.
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const file = openLastingLog(join(options.logsDir, `${name}.log`), { isNew: !isAgain })
  living.add(child)
  let tail = ''
  const hear = (bytes: Buffer) => {
    file.write(bytes)
    tail = (tail + bytes.toString()).slice(-TAIL_MAX)
  }
  child.stdout?.on('data', hear)
  child.stderr?.on('data', hear)
  const late = new AbortController()
  const ended = new Promise<string>((resolve) => {
    const end = (how: string) => {
      living.delete(child)
      file.close()
      resolve(late.signal.aborted ? TOO_LATE : how)
    }
    child.once('close', (code, signal) => end(signal ?? `exit code ${code ?? 'unknown'}`))
    // A process that could not be made has no end.
    child.once('error', (error) => {
      tail += `\n${error.message}`
      if (child.pid === undefined) end('could not be started')
    })
  })
  return asService(child, { name, path: file.path, words: () => lastWords(tail), late, ended })
}

interface Output {
  /** Of the service whose log it is. */
  readonly name: string
  readonly path: string
  readonly words: () => string
  /** Aborted when it is ended for not being ready. */
  readonly late: AbortController
  /** How it ended, once all that it said was heard. */
  readonly ended: Promise<string>
}

function untilReady(child: ChildProcess, output: Output): Promise<void> {
  return new Promise((resolve, reject) => {
    let heard = ''
    const timer = setTimeout(() => {
      output.late.abort()
      child.kill('SIGKILL')
      reject(startFailed(output, TOO_LATE))
    }, READY_MAX_MS)
    void output.ended.then((how) => {
      clearTimeout(timer)
      reject(startFailed(output, `ended with ${how} while starting`))
    })
    const listen = (bytes: Buffer) => {
      heard += bytes.toString()
      if (!/^ready$/m.test(heard)) return
      clearTimeout(timer)
      child.stdout?.off('data', listen)
      resolve()
    }
    child.stdout?.on('data', listen)
  })
}

function asService(child: ChildProcess, output: Output): ChildService {
  const { name, path: logPath } = output
  let stopping: Promise<void> | undefined
  const ended = output.ended.then((how) =>
    stopping === undefined ? { how, words: output.words() } : new Promise<never>(() => undefined),
  )
  const ready = untilReady(child, output)
  ready.catch(() => undefined)
  return {
    name,
    pid: child.pid ?? 0,
    logPath,
    ready,
    ended,
    stop() {
      stopping ??= drain(child, output.ended)
      return stopping
    },
  }
}

async function drain(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  // A paused one hears nothing else.
  child.kill('SIGCONT')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MAX_MS)
  await ended
  clearTimeout(timer)
}

/** What it said to people, where it said anything, not what it wrote for machines. */
function lastWords(tail: string): string {
  const lines = tail.trimEnd().split('\n')
  const words = lines.filter((line) => !line.startsWith('{') && line !== 'ready')
  return (words.length > 0 ? words : lines).slice(-LOG_LINES).join('\n')
}

const startFailed = ({ name, path, words }: Output, why: string) =>
  transient('BATON_SERVICE_START_FAILED', `the ${name} ${why}; ${said(words())}`, {
    fix: `${why === TOO_LATE ? 'Where this machine is busy with other things, try again. ' : ''}The whole log is ${path}.`,
  })

const said = (words: string) =>
  words === '' ? 'it said nothing' : `its last words:\n    ${words.replaceAll('\n', '\n    ')}`

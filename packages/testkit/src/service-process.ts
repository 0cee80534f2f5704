// Runs a service as its own process, as production does, and lets a test watch and kill it.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { COMPILE_CACHE, ROOT } from './folders.ts'
import { eventually } from './eventually.ts'

const READY_MAX_MS = 30_000
const STOP_MAX_MS = 40_000

interface SpawnOptions {
  /** A file of the checkout, for example `services/relay/src/main.ts`. */
  readonly main: string
  /** Another checkout, of another version; this one by default. */
  readonly root?: string | undefined
  readonly args?: readonly string[]
  /** Added to the test's own environment. */
  readonly env?: Readonly<Record<string, string>>
  /** A line of output, or a URL that answers 200. By default the line `ready`. `false` waits for nothing. */
  readonly ready?: RegExp | string | false
  readonly readyMaxMs?: number
  /** Gives it a stdin that `write` reaches; without it stdin is empty. */
  readonly input?: true
  /** Called with what it writes to stdout, as it comes. */
  readonly onStdout?: (text: string) => void
}

export interface ServiceProcess {
  readonly pid: number
  /** Everything written so far, stdout and stderr together. */
  output(): string
  stdout(): string
  /** Writes to its stdin; needs `input`, and nothing happens once it has ended. */
  write(text: string): void
  /** Ends at once and for sure. */
  kill(): Promise<void>
  /** Asks it to drain (SIGTERM) and returns its exit code. */
  stop(): Promise<number | null>
  signal(name: NodeJS.Signals): void
  /** Waits for it to end by itself; the code is null when a signal ended it. */
  exited(deadlineMs?: number): Promise<{ code: number | null; signal: NodeJS.Signals | null }>
}

const living = new Set<ChildProcess>()
process.once('exit', () => living.forEach((child) => child.kill('SIGKILL')))

/** Starts the service and waits until it is ready. Fails with its output when it ends before that. */
export async function spawnService(options: SpawnOptions): Promise<ServiceProcess> {
  const { root = ROOT } = options
  const child = spawn(process.execPath, [join(root, options.main), ...(options.args ?? [])], {
    cwd: root,
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...options.env },
    stdio: [options.input ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  })
  living.add(child)
  const service = watch(child, options.onStdout)
  if (options.ready !== false) await untilReady(child, service, options)
  return service
}

function watch(child: ChildProcess, onStdout?: (text: string) => void): ServiceProcess {
  const written = { all: '', stdout: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    written.all += text
    written.stdout += text
    onStdout?.(text)
  })
  child.stdin?.on('error', () => undefined)
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (written.all += text))
  child.once('close', () => living.delete(child))
  const exited: ServiceProcess['exited'] = async (deadlineMs = STOP_MAX_MS) => {
    await eventually(() => hasEnded(child), {
      deadlineMs,
      describe: () => `process ${child.pid} ends\n${written.all}`,
    })
    return { code: child.exitCode, signal: child.signalCode }
  }
  return {
    pid: child.pid as number,
    output: () => written.all,
    stdout: () => written.stdout,
    write: (text) => void child.stdin?.write(text),
    signal: (name) => void child.kill(name),
    exited,
    kill: async () => {
      child.kill('SIGKILL')
      await exited()
    },
    stop: async () => {
      child.kill('SIGTERM')
      return (await exited()).code
    },
  }
}

async function untilReady(child: ChildProcess, service: ServiceProcess, options: SpawnOptions) {
  const { ready = /^ready$/m } = options
  const isReady = async () =>
    typeof ready === 'string'
      ? await answersOk(ready)
      : ready !== false && ready.test(service.output())
  await eventually(async () => hasEnded(child) || (await isReady()), {
    deadlineMs: options.readyMaxMs ?? READY_MAX_MS,
    describe: () => `${options.main} is ready\n${service.output()}`,
  })
  if (hasEnded(child) && !(await isReady()))
    throw new Error(
      `${options.main} ended (${child.exitCode ?? child.signalCode})\n${service.output()}`,
    )
}

const hasEnded = (child: ChildProcess) => child.exitCode !== null || child.signalCode !== null

async function answersOk(url: string): Promise<boolean> {
  return await fetch(url).then(
    (response) => response.ok,
    () => false,
  )
}

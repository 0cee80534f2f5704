// An instance of one's own, which serves while something is tried on it and is deleted afterwards.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { run } from './run.ts'
import type { Ended } from './run.ts'

const ROOT = join(import.meta.dirname, '..')
/** The command line of this checkout. */
const COMMAND_LINE = join(ROOT, 'services', 'cli', 'src', 'main.ts')
const READY_MAX_MS = 180_000

export interface OwnInstance {
  readonly home: string
  /** What a program inherits to speak with it. */
  readonly environment: Readonly<Record<string, string | undefined>>
  /** Types one command of Baton's. */
  type(words: readonly string[], how?: { cwd?: string; timeoutMs?: number }): Promise<Ended>
}

const COMMAND_MAX_MS = 120_000

/** Throws what the instance said where it is not ready in time. */
export async function withOwnInstance<Result>(
  work: (instance: OwnInstance) => Promise<Result>,
): Promise<Result> {
  const home = await mkdtemp(join(tmpdir(), 'baton-own-'))
  const environment = { ...process.env, BATON_HOME: home, NO_COLOR: '1' }
  const served = spawn(process.execPath, [COMMAND_LINE, 'up', '--reviews', '6'], {
    cwd: ROOT,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await untilReady(served.stderr)
    return await work({
      home,
      environment,
      type: (words, { cwd = home, timeoutMs = COMMAND_MAX_MS } = {}) =>
        run(process.execPath, [COMMAND_LINE, ...words], { cwd, env: environment, timeoutMs }),
    })
  } finally {
    if (served.exitCode === null && served.signalCode === null) {
      const ended = once(served, 'exit')
      served.kill('SIGTERM')
      await ended
    }
    await rm(home, { recursive: true, force: true })
  }
}

async function untilReady(stderr: NodeJS.ReadableStream): Promise<void> {
  let said = ''
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const late = setTimeout(
    () => reject(new Error(`the instance is not ready:\n${said}`)),
    READY_MAX_MS,
  )
  stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    if (/main job took|Next:/.test(said)) resolve()
  })
  stderr.once('end', () => reject(new Error(`the instance ended:\n${said}`)))
  await promise.finally(() => clearTimeout(late))
}

// Runs the command line as its own process on an instance of its own, and cleans up after it.
import { spawn } from 'node:child_process'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { discardPostgres } from '@baton/embedded'
import { COMPILE_CACHE } from '@baton/testkit'

const MAIN = fileURLToPath(new URL('../../services/cli/src/main.ts', import.meta.url))

export interface Finished {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface CommandLine {
  /** Folder of the instance. */
  readonly home: string
  run(...args: string[]): Promise<Finished>
  /** One command with more in its environment. */
  runWith(environment: Readonly<Record<string, string>>, ...args: string[]): Promise<Finished>
  /** Deletes the instance. */
  discard(): Promise<void>
}

/** A command line on an empty instance; `environment` is added to the test's own. */
export async function openCommandLine(
  environment: Readonly<Record<string, string>> = {},
): Promise<CommandLine> {
  const home = await mkdtemp(join(tmpdir(), 'baton-e2e-'))
  // So that the account Postgres runs as can reach its data when the tests run as root.
  await chmod(home, 0o755)
  return {
    home,
    run: (...args) => runCommandLine([...args, '--home', home], environment),
    runWith: (more, ...args) =>
      runCommandLine([...args, '--home', home], { ...environment, ...more }),
    async discard() {
      await discardPostgres(join(home, 'pg'))
      await rm(home, { recursive: true, force: true })
    },
  }
}

/** One command; `environment` is added to the test's own. */
export async function runCommandLine(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Finished> {
  const child = spawn(process.execPath, [MAIN, ...args], {
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { exitCode, stdout, stderr }
}

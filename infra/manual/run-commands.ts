// Types every complete command of the pages into an instance of its own, which is deleted afterwards, and says what each ended with.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commandsShown } from './commands.ts'
import { readManual, ROOT } from './pages.ts'
import { run } from './run.ts'

const COMMAND_LINE = join(ROOT, 'services', 'cli', 'src', 'main.ts')
const COMMAND_MAX_MS = 120_000
const READY_MAX_MS = 180_000

export interface Ran {
  readonly page: string
  readonly command: string
  readonly exitCode: number
  /** The code it gave, where it did not end well. */
  readonly code: string | undefined
}

export interface RunReport {
  readonly ran: readonly Ran[]
  /** Commands in which something stands for what only the reader knows, or that another test types. */
  readonly left: number
}

/** Wrong are a command that is not understood and a defect; whatever else one says is about this instance. */
export const isWrong = ({ exitCode, code }: Ran): boolean =>
  exitCode === USAGE || exitCode > LAST_EXIT_CODE || code === 'BATON_DEFECT'

const USAGE = 2
const LAST_EXIT_CODE = 9

/** Words in capitals, brackets and dots stand for something; what serves or makes an installation is typed by tests of its own. */
const STANDS_FOR = /\b[A-Z][A-Z_]{2,}\b|[<>…$*]|^\.\.\./
const TYPED_ELSEWHERE = new Set(['up', 'init', 'restore', 'gameday'])

export async function runCommands(tell: (ran: Ran) => void): Promise<RunReport> {
  const home = await mkdtemp(join(tmpdir(), 'baton-manual-'))
  const environment = { ...process.env, BATON_HOME: home, NO_COLOR: '1' }
  const shown = new Map<string, { readonly page: string; readonly words: readonly string[] }>()
  let left = 0
  for (const { source, body } of readManual().pages) {
    for (const { words, mentioned } of commandsShown(body)) {
      if (mentioned) continue
      const command = words.join(' ')
      const isOwn =
        TYPED_ELSEWHERE.has(words[0] ?? '') || words.some((word) => STANDS_FOR.test(word))
      if (isOwn || source.includes('/runbooks/')) left += 1
      else if (!shown.has(command)) shown.set(command, { page: source, words })
    }
  }
  const served = spawn(process.execPath, [COMMAND_LINE, 'up', '--reviews', '6'], {
    cwd: ROOT,
    env: environment,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  try {
    await untilReady(served.stderr)
    const ran: Ran[] = []
    for (const [command, { page, words }] of shown) {
      const { exitCode, output } = await run(process.execPath, [COMMAND_LINE, ...words], {
        cwd: ROOT,
        env: environment,
        timeoutMs: COMMAND_MAX_MS,
      })
      const code = exitCode === 0 ? undefined : /\bBATON_[A-Z_]+\b/.exec(output)?.[0]
      const one = { page, command, exitCode, code }
      ran.push(one)
      tell(one)
    }
    return { ran, left }
  } finally {
    const ended = once(served, 'exit')
    served.kill('SIGTERM')
    await ended
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

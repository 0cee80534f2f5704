// Types every complete command of the pages into an instance of its own, which is deleted afterwards, and says what each ended with and
// why the others were not typed.
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { withOwnInstance } from '../own-instance.ts'
import type { OwnInstance } from '../own-instance.ts'
import { commandsShown } from './commands.ts'
import { readManual, ROOT } from './pages.ts'

/** How long a command is let go on that only its reader ends. */
const WATCHED_MS = 8_000

export interface Ran {
  readonly page: string
  readonly command: string
  readonly exitCode: number
  /** The code it gave, where it did not end well. */
  readonly code: string | undefined
}

export interface NotTyped {
  readonly page: string
  readonly command: string
  readonly why: string
}

export interface RunReport {
  readonly pages: number
  readonly ran: readonly Ran[]
  readonly notTyped: readonly NotTyped[]
}

/** Wrong are a command that is not understood and a defect; whatever else one says is about this instance. */
export const isWrong = ({ exitCode, code }: Ran): boolean =>
  exitCode === USAGE || exitCode > LAST_EXIT_CODE || code === 'BATON_DEFECT'

const USAGE = 2
const LAST_EXIT_CODE = 9

/** Pages of which `npm test` types every command, in order and with what its reader has to put in. */
export const TYPED_BY_TESTS: readonly { readonly pages: RegExp; readonly test: string }[] = [
  { pages: /^infra\/(?:runbooks\/.*|tutorial)\.md$/, test: 'test/e2e/runbooks.test.ts' },
  { pages: /^infra\/compliance\.md$/, test: 'test/e2e/compliance.test.ts' },
  {
    pages: /^infra\/protocols\/handoffs-api\.md$/,
    test: 'test/integration/handoffs-api-page.test.ts',
  },
]

/** What serves, makes or replaces an installation, each with the test that types it. */
export const TYPED_ALONE: ReadonlyMap<string, string> = new Map([
  ['up', 'test/e2e/up.test.ts'],
  ['init', 'test/e2e/installation.test.ts'],
  ['restore', 'test/e2e/backup.test.ts'],
  ['gameday', 'test/e2e/game-day.test.ts'],
])

/** Words in capitals, brackets and dots stand for something; states, events and reasons have a line in them. */
const STANDS_FOR = /(?<![A-Z_])[A-Z]{3,}(?![A-Z_])|[<>…$*]|^\.\.\./
const GOES_ON = /^backup follow|--watch\b/

interface Shown {
  readonly page: string
  readonly words: readonly string[]
  readonly before: string
}

function whyNot({ page, words, before }: Shown): string | undefined {
  const whole = TYPED_BY_TESTS.find(({ pages }) => pages.test(page))
  if (whole !== undefined) return `${whole.test} types the page`
  const alone = TYPED_ALONE.get(words[0] ?? '')
  if (alone !== undefined) return `${alone} types it`
  if (/\|\s*$/.test(before)) return 'it reads what another program writes'
  if (before.includes('…')) return `only its reader knows ${before.trim()}`
  const unknown = words.find((word) => STANDS_FOR.test(word) && !OF_THE_INSTANCE.test(word))
  return unknown === undefined ? undefined : `only its reader knows ${unknown}`
}

/** A task, the id of one or of a key, and a disk: the instance here has others. */
const OF_THE_INSTANCE = /^\$?TASK$|^[0-9a-f]{8}$|^[0-9a-f]{12}$|^\/mnt\//

export async function runCommands(tell: (ran: Ran) => void): Promise<RunReport> {
  const { pages } = readManual()
  const shown = new Map<string, Shown>()
  const notTyped: NotTyped[] = []
  for (const { source: page, body } of pages) {
    for (const { words, before, mentioned } of commandsShown(body)) {
      if (mentioned) continue
      const command = words.join(' ')
      const why = whyNot({ page, words, before })
      if (why !== undefined) notTyped.push({ page, command, why })
      else if (!shown.has(command)) shown.set(command, { page, words, before })
    }
  }
  const ran = await withOwnInstance((instance) => typeAll(instance, shown, tell))
  return { pages: pages.length, ran, notTyped }
}

async function typeAll(
  { home, type }: OwnInstance,
  shown: ReadonlyMap<string, Shown>,
  tell: (ran: Ran) => void,
): Promise<readonly Ran[]> {
  // Commands name files of the checkout, and write others beside them.
  const cwd = join(home, 'typed-here')
  await mkdir(join(cwd, 'mnt'), { recursive: true })
  for (const name of ['examples', 'node_modules', 'packages'])
    await symlink(join(ROOT, name), join(cwd, name))
  const firstOf = async (list: readonly string[], key: RegExp): Promise<string> =>
    key.exec((await type([...list, '--json'])).output)?.[1] ?? ''
  const put = async (word: string): Promise<string> => {
    if (!OF_THE_INSTANCE.test(word)) return word
    if (word.startsWith('/mnt/')) return join(cwd, word)
    if (word.length === 12) return await firstOf(['keys', 'ls'], /"id":\s*"([0-9a-f]{12})"/)
    return await firstOf(['tasks'], /"taskId":\s*"([^"]+)"/)
  }
  const ran: Ran[] = []
  for (const [command, { page, words }] of shown) {
    const here = await Promise.all(words.map(put))
    const goesOn = GOES_ON.test(command)
    const startedAt = performance.now()
    const { exitCode: ended, output } = await type(here, {
      cwd,
      ...(goesOn ? { timeoutMs: WATCHED_MS } : {}),
    })
    const exitCode = goesOn && performance.now() - startedAt >= WATCHED_MS ? 0 : ended
    const code = exitCode === 0 ? undefined : /\bBATON_[A-Z_]+\b/.exec(output)?.[0]
    const one = { page, command, exitCode, code }
    ran.push(one)
    tell(one)
  }
  return ran
}

// Makes an instance by the code of each of some earlier commits, lets the code of today take it, and says what became of it:
//   node test/upgrade/main.ts [COMMIT…]
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const COMMAND_LINE = join(ROOT, 'services/cli/src/main.ts')
const STEP_MS = 600_000

/** Days apart, and each with a schema of its own; the first is the oldest whose main job ran as it does today. */
const COMMITS = ['a3fdb770', '5b5d2656', 'da440b5f', 'd5d50bc0', 'f8949ffa', '2ff8bb9b', 'e3723204']
/** Commits that know how many texts to review; those before it review all that there are. */
const KNOWS_REVIEWS = '--reviews'

interface Run {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

interface Summary {
  readonly tasks: number
  readonly accepted: number
  readonly chainVerified: boolean
}

interface Outcome {
  readonly commit: string
  readonly applied: number
  readonly tasks: string
  readonly problems: readonly string[]
  readonly seconds: number
}

function upgrade(commit: string): Outcome {
  const startedAt = performance.now()
  const folder = join(ROOT, '.baton', 'upgrade', commit)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(join(folder, '..'), { recursive: true })
  execFileSync('git', ['clone', '--quiet', '--shared', ROOT, folder])
  execFileSync('git', ['checkout', '--quiet', commit], { cwd: folder })
  try {
    return {
      commit,
      ...takeOver(folder),
      seconds: Math.round((performance.now() - startedAt) / 1_000),
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function takeOver(folder: string): Pick<Outcome, 'applied' | 'tasks' | 'problems'> {
  const reviews = knows(folder, KNOWS_REVIEWS) ? ['--reviews', '6'] : []
  const made = run('npm', ['run', '--silent', 'up', '--', '--once', ...reviews, '--json'], folder)
  const before = summaryOf(made)
  if (before === undefined)
    return { applied: 0, tasks: '-', problems: [`its own main job: ${lastWords(made)}`] }
  const home = join(folder, '.baton')
  const today = (...args: string[]) =>
    run(process.execPath, [COMMAND_LINE, '--home', home, ...args], ROOT)
  const problems: string[] = []
  const expectFine = (name: string, result: Run): Run => {
    if (result.status !== 0)
      problems.push(`${name} ended with ${result.status}: ${lastWords(result)}`)
    return result
  }
  const planned = namesIn(expectFine('migrate --dry-run', today('migrate', '--dry-run', '--json')))
  const applied = namesIn(expectFine('migrate', today('migrate', '--json')))
  if (planned.toSorted().join() !== applied.toSorted().join())
    problems.push(`${planned.length} migrations were planned and ${applied.length} applied`)
  expectFine('verify after migrating', today('verify', '--json'))
  const kept = tasksIn(today('tasks', '--json', '--limit', '1000'))
  if (kept < before.tasks) problems.push(`${before.tasks} tasks became ${kept}`)
  // Its exit code also judges latencies, which say more about this machine than about an upgrade.
  const after = summaryOf(today('up', '--once', '--reviews', '6', '--json'))
  if (after === undefined || !after.chainVerified || after.accepted === 0)
    problems.push('the main job of today did not go through')
  expectFine('verify after the main job', today('verify', '--json'))
  expectFine('doctor', today('doctor', '--json'))
  return { applied: applied.length, tasks: `${before.tasks} + ${after?.tasks ?? 0}`, problems }
}

function knows(folder: string, text: string): boolean {
  return (
    spawnSync('git', ['grep', '--quiet', '-e', text, '--', 'services/cli/src'], { cwd: folder })
      .status === 0
  )
}

function run(command: string, args: readonly string[], cwd: string): Run {
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: STEP_MS,
    maxBuffer: 64 * 1024 * 1024,
  })
  return { status: status ?? -1, stdout, stderr }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const summaryOf = ({ stdout }: Run): Summary | undefined =>
  parsed(stdout.trim().split('\n').at(-1) ?? '') as Summary | undefined

/** Of a plan, whose migrations are objects, or of what was applied. */
const namesIn = ({ stdout }: Run): readonly string[] =>
  ((parsed(stdout) ?? []) as readonly (string | { readonly name: string })[]).map((one) =>
    typeof one === 'string' ? one : one.name,
  )

const tasksIn = ({ stdout }: Run): number => {
  const listed = parsed(stdout) as
    | readonly unknown[]
    | { readonly tasks?: readonly unknown[] }
    | undefined
  return (
    Array.isArray(listed) ? listed : ((listed as { tasks?: readonly unknown[] })?.tasks ?? [])
  ).length
}

const lastWords = ({ stderr }: Run): string => stderr.trim().split('\n').slice(-3).join(' ')

const given = process.argv.slice(2)
for (const commit of given.length === 0 ? COMMITS : given) {
  const { applied, tasks, problems, seconds } = upgrade(commit)
  const verdict = problems.length === 0 ? 'fine' : problems.join('; ')
  process.stdout.write(
    `${commit}  ${applied} migrations  tasks ${tasks}  ${seconds} s  ${verdict}\n`,
  )
  if (problems.length > 0) process.exitCode = 1
}

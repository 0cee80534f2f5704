// `npm run chaos -- graphs`: random graphs of handoffs, and a checker that says which promise broke.
import { parseArgs } from 'node:util'
import { startOwnPostgres } from '@baton/testkit'
import { whole } from './arguments.ts'
import { GRAPH_BUILDS } from './graph-builds.ts'
import { runGraphs } from './graphs.ts'
import type { GraphReport } from './graphs.ts'
import type { KnownBad } from './known-bad.ts'

const HELP = `npm run chaos -- graphs [options]
  --seeds N          how many seeds to run, one after the other (3)
  --seed-base S      the first seed (1)
  --tasks N          random tasks of each seed (500)
  --known-bad NAME   run a build that is wrong on purpose until it is caught; all runs every one of them
  --json             the reports as one JSON object, the last line of stdout
Known-bad builds:    ${GRAPH_BUILDS.map(({ name }) => name).join(', ')}
Exit codes:          0 everything held, 1 the run failed or a build was not caught, 2 usage, 3 a promise broke`

const OPTIONS = {
  seeds: { type: 'string', default: '3' },
  'seed-base': { type: 'string', default: '1' },
  tasks: { type: 'string', default: '500' },
  'known-bad': { type: 'string' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BROKEN = 3
const PRELOAD = new URL('known-bad-preload.ts', import.meta.url).href

interface Surroundings {
  say(text: string): void
  /** Ends the servers when this command is told to end. */
  endOnSignal(servers: { stop(): Promise<void> }): void
}

interface GraphArguments {
  readonly seeds: readonly number[]
  readonly tasks: number
  /** Undefined runs the product. */
  readonly builds: readonly (KnownBad | undefined)[]
  readonly json: boolean
}

function readGraphArguments(
  args: readonly string[],
): GraphArguments | { readonly exitCode: number; readonly text: string } {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.help) return { exitCode: 0, text: HELP }
    const base = whole('seed-base', values['seed-base'], 4_000_000_000)
    const count = whole('seeds', values.seeds, 10_000)
    return {
      seeds: Array.from({ length: count }, (_, nth) => base + nth),
      tasks: whole('tasks', values.tasks, 100_000),
      builds: buildsOf(values['known-bad']),
      json: values.json,
    }
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'wrong arguments'
    return { exitCode: 2, text: `chaos graphs: ${problem}\n\n${HELP}` }
  }
}

function buildsOf(name: string | undefined): readonly (KnownBad | undefined)[] {
  if (name === undefined) return [undefined]
  if (name === 'all') return GRAPH_BUILDS
  const build = GRAPH_BUILDS.find((one) => one.name === name)
  if (build === undefined) throw new Error(`--known-bad ${name}: there is no such build`)
  return [build]
}

/** Answers the exit code. Rejects where a run itself fails. */
export async function runGraphsCommand(
  argv: readonly string[],
  { say, endOnSignal }: Surroundings,
): Promise<number> {
  const args = readGraphArguments(argv)
  if ('exitCode' in args) {
    say(args.text)
    return args.exitCode
  }
  const postgres = await startOwnPostgres()
  endOnSignal(postgres)
  try {
    const verdicts: boolean[] = []
    const reports: GraphReport[] = []
    for (const build of args.builds) {
      if (build !== undefined) say(`known-bad build ${build.name}: ${build.about}`)
      const own = await runSeeds({ ...args, build, adminUrl: postgres.superuserUrl, say })
      reports.push(...own)
      const isCaught = own.some((report) => isCaughtBy(report, build))
      if (build !== undefined)
        say(`known-bad build ${build.name}: ${isCaught ? 'caught' : 'NOT CAUGHT'}`)
      verdicts.push(build === undefined ? own.every(({ broken }) => broken.length === 0) : isCaught)
    }
    if (args.json) process.stdout.write(`${JSON.stringify({ reports })}\n`)
    if (verdicts.every(Boolean)) return 0
    return args.builds[0] === undefined ? BROKEN : 1
  } finally {
    await postgres.stop()
  }
}

interface Seeds extends Pick<GraphArguments, 'seeds' | 'tasks'> {
  readonly build: KnownBad | undefined
  readonly adminUrl: string
  say(text: string): void
}

/** Every seed of the product; of a known-bad build until one catches it. */
async function runSeeds({ seeds, tasks, build, adminUrl, say }: Seeds) {
  const env =
    build === undefined
      ? {}
      : { NODE_OPTIONS: `--import=${PRELOAD}`, BATON_CHAOS_KNOWN_BAD: build.name }
  const reports: GraphReport[] = []
  for (const seed of seeds) {
    const report = await runGraphs({ seed, tasks, adminUrl, env })
    reports.push(report)
    const { handoffs, fanOuts, joins, ended, broken } = report
    const states = Object.entries(ended).map(([state, count]) => `${count} ${state}`)
    say(
      `seed ${seed}: ${tasks} tasks (${states.join(', ')}), ${handoffs} handoffs, ${fanOuts} fan-outs, ${joins} joins`,
    )
    for (const { rule, ids } of broken) say(`  broke ${rule}: ${ids.slice(0, 3).join(', ')}`)
    if (isCaughtBy(report, build)) break
  }
  return reports
}

const isCaughtBy = ({ broken }: GraphReport, build: KnownBad | undefined): boolean =>
  broken.some(({ rule }) => build?.breaks.some((id) => rule.startsWith(`${id} `)) === true)

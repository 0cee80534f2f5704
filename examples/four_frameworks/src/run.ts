// The four programs as processes: whoever dies is started again, until the desk has its answer.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Point } from './points.ts'

export { POINTS } from './points.ts'
export type { Point } from './points.ts'

export const PROGRAMS = ['desk', 'planner', 'writer', 'checker'] as const
export type Program = (typeof PROGRAMS)[number]

/** How a machine that is unwell looks: who dies where. */
export interface Kills {
  /** Each program that is named dies once at its point. */
  readonly at?: Partial<Readonly<Record<Program, Point>>>
  /** Called with every line that a program says; whoever it names is killed then. */
  readonly on?: (line: string) => Program | undefined
}

export interface FourOptions {
  /** What `baton env` prints, and `FOUR_EFFECTS`. */
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly requestId: string
  readonly question?: string
  readonly kills?: Kills
  readonly waitMs?: number
}

export interface Ran {
  readonly answer: string
  /** How often each program was started. */
  readonly starts: Readonly<Record<Program, number>>
}

const WAIT_MS = 120_000
/** Somebody who dies at once, each time, is not started for ever. */
const STARTS_MAX = 50

/** Resolves with the desk's answer. Throws where there is none in time, with what the programs said. */
export async function runFour(options: FourOptions): Promise<Ran> {
  const {
    environment,
    requestId,
    question = 'How do I cook rice?',
    kills = {},
    waitMs = WAIT_MS,
  } = options
  const starts = { desk: 0, planner: 0, writer: 0, checker: 0 }
  const running = new Map<Program, ChildProcess>()
  const said: string[] = []
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  let over = false

  function start(program: Program): void {
    starts[program] += 1
    if (starts[program] > STARTS_MAX) return reject(new Error(`${program} dies again and again`))
    const dies = starts[program] === 1 ? kills.at?.[program] : undefined
    const child = spawn(
      process.execPath,
      [join(import.meta.dirname, `${program}.ts`), requestId, question],
      {
        env: { ...environment, ...(dies === undefined ? {} : { FOUR_DIE_AT: dies }) },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    running.set(program, child)
    const hear = (line: string) => {
      said.push(`${program}: ${line}`)
      if (program === 'desk' && line.startsWith('answer '))
        resolve(JSON.parse(line.slice(7)) as string)
      const killed = over ? undefined : kills.on?.(line)
      if (killed !== undefined) running.get(killed)?.kill('SIGKILL')
    }
    createInterface({ input: child.stdout }).on('line', hear)
    createInterface({ input: child.stderr }).on('line', (line) => said.push(`${program}! ${line}`))
    child.once('exit', (code) => {
      if (!over && !(program === 'desk' && code === 0)) start(program)
    })
  }

  for (const program of PROGRAMS) start(program)
  const late = setTimeout(() => reject(new Error('no answer in time')), waitMs)
  try {
    return { answer: await promise, starts }
  } catch (error) {
    throw new Error(`${(error as Error).message}\n${said.slice(-60).join('\n')}`, { cause: error })
  } finally {
    over = true
    clearTimeout(late)
    await Promise.all([...running.values()].map(end))
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  await ended
}

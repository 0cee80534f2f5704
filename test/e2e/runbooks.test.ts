// Whoever is woken types the first commands of a runbook: each of them runs, ends as expected and says something. Whoever is new
// types those of the tutorial, and sees what the page shows.
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { commandsOf } from '@baton/infra/first-commands'
import { typeBlocks } from '@baton/infra/manual'
import { readRunbook } from '@baton/infra/read-runbook'
import { createPool } from '@baton/store'
import { ALERTS, runbookOf } from '@baton/telemetry'
import { COMPILE_CACHE, sliceOf, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openCommandLine } from './command-line.ts'
import type { CommandLine } from './command-line.ts'

const START_MAX_MS = 120_000
const MAIN = new URL('../../services/cli/src/main.ts', import.meta.url).pathname

const pages = await Promise.all(
  ALERTS.map(async (alert) => (await readRunbook(`${runbookOf(alert)}.md`)) ?? ''),
)
/** The same command into another file is the same. */
const inOneFile = (command: string) => command.replace(/> [a-z-]+\.json$/, '> findings.json')
const commands = [
  ...new Set(pages.flatMap((page) => commandsOf(page).map(({ command }) => inOneFile(command)))),
]

const STATEMENT = /psql "\$(\w+)" -(?:At)?c "([^"]+)"/
const isStatement = (command: string) => command.includes('psql ')
/** Looks for what a healthy instance has not logged: only that it is looked for in files that are there can be said. */
const isLogSearch = (command: string) => command.startsWith('grep ')
/** A young log may not be judged yet (4); nobody is told of alerts here (1). */
const EXPECTED: Readonly<Record<string, readonly number[]>> = {
  doctor: [0, 4],
  verify: [0, 4],
  'audit tiers': [0, 4],
  'alerts test': [1],
}

/** How commands reach this instance, which has ports of its own. */
interface Reach {
  readonly ports: ReadonlyMap<string, string>
  readonly taskId: string
  readonly urls: Readonly<Record<string, string>>
  readonly environment: Readonly<Record<string, string>>
}

let baton: CommandLine
let up: ServiceProcess
let folder: string
let reach: Reach

beforeAll(async () => {
  baton = await openCommandLine()
  folder = await mkdtemp(join(tmpdir(), 'baton-runbooks-'))
  await symlink(baton.home, join(folder, '.baton'))
  await symlink(new URL('../../clients', import.meta.url).pathname, join(folder, 'clients'))
  up = await spawnService({
    main: 'services/cli/src/main.ts',
    args: ['up', '--reviews', '5', '--no-redis', '--home', baton.home],
    ready: /Baton is up/,
    readyMaxMs: START_MAX_MS,
  })
  reach = await findReach()
}, START_MAX_MS)
afterAll(async () => {
  await up?.stop()
  await baton?.discard()
  await rm(folder, { recursive: true, force: true })
})

const PORTS = {
  8420: 'gateway',
  8421: 'auditor',
  8432: 'receiver',
  8433: 'sealer',
  8434: 'archiver',
}

/** As a Prometheus is told it. */
async function auditorMetricsPort(): Promise<string> {
  const targets = JSON.parse(
    await readFile(join(baton.home, 'monitoring', 'prometheus-targets.json'), 'utf8'),
  ) as readonly {
    readonly targets: readonly string[]
    readonly labels: { readonly job: string }
  }[]
  const auditor = targets.find(({ labels }) => labels.job === 'baton-auditor')
  return auditor?.targets[0]?.split(':')[1] ?? ''
}

async function findReach(): Promise<Reach> {
  const read = async (name: string) => JSON.parse(await readFile(join(baton.home, name), 'utf8'))
  const { readyUrls } = await read('instance.json')
  const { details } = await read('pg.json')
  const keys = await read('secrets/development.json')
  const people = await read('secrets/people.json')
  const [task] = JSON.parse((await baton.run('tasks', '--json')).stdout)
  const url = (role: string, password: string, database: string) =>
    `postgres://${role}:${password}@127.0.0.1:${details.port}/${database}`
  // Without Redis there is no relay: what it would say, the receiver says.
  const named = { ...PORTS, 8431: 'receiver' }
  const ready = Object.entries(named).map(
    ([port, name]) => [port, new URL(readyUrls[name]).port] as const,
  )
  return {
    ports: new Map([...ready, ['8435', await auditorMetricsPort()]]),
    taskId: task.taskId,
    urls: {
      BATON_DATABASE_URL: url('baton_app', keys.BATON_APP_PASSWORD, 'baton'),
      BATON_AUDIT_READER_URL: url('audit_reader', keys.BATON_AUDIT_READER_PASSWORD, 'baton_audit'),
    },
    environment: {
      BATON_HOME: baton.home,
      BATON_API_KEY: people.operator,
      NODE_COMPILE_CACHE: COMPILE_CACHE,
    },
  }
}

const here = (command: string): string =>
  command
    .replaceAll('npm run baton --', `"${process.execPath}" "${MAIN}"`)
    .replaceAll(/\b84[23]\d\b/g, (port) => reach.ports.get(port) ?? port)
    .replaceAll(/\bTASK\b/g, reach.taskId)

interface Ended {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

async function shell(command: string): Promise<Ended> {
  const options = { cwd: folder, env: { ...process.env, ...reach.environment } }
  try {
    const output = await promisify(execFile)('sh', ['-c', here(command)], options)
    return { exitCode: 0, ...output }
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string }
    return { exitCode: code, stdout, stderr }
  }
}

it('are more than fifty', () => expect(commands.length).toBeGreaterThan(50))

describe.concurrent('statements', () => {
  it.each(commands.filter(isStatement))('%s', async (command) => {
    const [, name = '', sql = ''] = STATEMENT.exec(command) ?? []
    const pool = createPool({
      url: reach.urls[name] ?? '',
      applicationName: 'runbooks',
      connectionsMax: 1,
    })
    try {
      const { rows } = await pool.query({ name: 'first_command', text: sql })
      expect(rows).toBeInstanceOf(Array)
    } finally {
      await pool.end()
    }
  })
})

describe.concurrent('searches of logs', () => {
  it.each(commands.filter(isLogSearch))('%s', async (command) => {
    expect(await shell(command)).toMatchObject({ exitCode: 0, stderr: '' })
  })
})

const others = commands.filter((command) => !isStatement(command) && !isLogSearch(command))

describe.concurrent('commands', () => {
  it.each(sliceOf(others, 3))(
    '%s',
    async (command) => {
      const [, name = ''] = /npm run baton -- ([a-z ]*[a-z])/.exec(command) ?? []
      const { exitCode, stdout, stderr } = await shell(command)
      expect(EXPECTED[name] ?? [0]).toContain(exitCode)
      expect(`${stdout}${stderr}`.trim()).not.toBe('')
    },
    60_000,
  )
})

it('the tutorial shows what its commands print', async () => {
  const page = await readFile(new URL('../../infra/tutorial.md', import.meta.url), 'utf8')
  const letters: { handoffId: string; taskId: string }[] = []
  const typed = await typeBlocks(
    page,
    {
      cwd: folder,
      env: { ...process.env, ...reach.environment, PYTHONDONTWRITEBYTECODE: '1' },
      async here(block) {
        if (/LETTER|TASK/.test(block) && letters.length === 0) {
          const { stdout } = await baton.run('dlq', 'ls', '--json')
          letters.push(...JSON.parse(stdout).filter(isOfTutorial))
        }
        const [letter] = letters
        return here(
          block
            .replaceAll('LETTER', letter?.handoffId ?? 'LETTER')
            .replaceAll('TASK', letter?.taskId ?? 'TASK'),
        )
      },
    },
    (block) => !block.startsWith('npm run up'),
  )
  expect(typed.length).toBeGreaterThan(10)
  expect(typed.filter(({ exitCode, missing }) => exitCode !== 0 || missing.length > 0)).toEqual([])
}, 120_000)

const isOfTutorial = ({ toAgent }: { readonly toAgent?: string }) => toAgent === 'word-count'

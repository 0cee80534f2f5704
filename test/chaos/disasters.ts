// Takes one part of an instance after the other away from under load, has it restored as its operator would, and counts what is left.
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { discardPostgres, startPostgres } from '@baton/embedded'
import { createLogger } from '@baton/runtime'
import { createPool } from '@baton/store'
import { COMPILE_CACHE, eventually } from '@baton/testkit'

const COMMAND_LINE = fileURLToPath(new URL('../../services/cli/src/main.ts', import.meta.url))

/** What an instance has lost when its machine has died. */
export interface Disaster {
  readonly name: string
  readonly about: string
  /** Whether the write-ahead log was followed until then. */
  readonly isFollowed: boolean
  /** Takes the part away; nothing runs. */
  destroy(instance: Destroyed): void | Promise<void>
  /** What the operator then types; the newest backup and everything kept since by default. */
  readonly restore?: readonly string[]
  /** After that, where it says so. */
  readonly afterwards?: readonly string[]
}

interface Destroyed {
  readonly home: string
  /** The folder with the files of Postgres. */
  readonly data: string
  /** Of each database, the folder of its files. */
  readonly databases: ReadonlyMap<string, string>
}

const removeDatabase =
  (name: string) =>
  ({ databases }: Destroyed): void =>
    rmSync(databases.get(name) ?? '', { recursive: true })

const removeBelow =
  (...parts: readonly string[]) =>
  ({ home }: Destroyed): void =>
    parts.forEach((part) => rmSync(join(home, part), { recursive: true, force: true }))

const OUTSIDE = ['restore', '--keep-databases']

export const DISASTERS: readonly Disaster[] = [
  {
    name: 'main-database',
    about: 'the files of `baton`',
    isFollowed: true,
    destroy: removeDatabase('baton'),
  },
  {
    name: 'audit-database',
    about: 'the files of `baton_audit`',
    isFollowed: true,
    destroy: removeDatabase('baton_audit'),
  },
  {
    name: 'vault',
    about: 'the files of `baton_vault`',
    isFollowed: true,
    destroy: removeDatabase('baton_vault'),
  },
  {
    name: 'server-not-followed',
    about: 'all of Postgres, with a backup and nothing kept since',
    isFollowed: false,
    destroy: ({ data }) => rmSync(data, { recursive: true }),
  },
  {
    name: 'cold-store',
    about: 'the cold store',
    isFollowed: true,
    destroy: removeBelow('cold'),
    restore: OUTSIDE,
    afterwards: ['audit', 'mend-cold'],
  },
  {
    name: 'sealer-state',
    about: 'the state of the sealer',
    isFollowed: true,
    destroy: removeBelow('seals/sealer.json'),
    restore: OUTSIDE,
  },
  {
    name: 'witness-state',
    about: 'the state of the witness',
    isFollowed: true,
    destroy: removeBelow('seals/witness.json'),
    restore: OUTSIDE,
  },
  {
    name: 'all-seals',
    about: 'sealer state, anchor file, witness state and policy',
    isFollowed: true,
    destroy: removeBelow('seals'),
    restore: OUTSIDE,
  },
  {
    name: 'everything',
    about: 'the whole folder of the instance, secrets included',
    isFollowed: true,
    destroy({ home, data }) {
      rmSync(data, { recursive: true })
      rmSync(home, { recursive: true })
    },
    restore: ['restore', '--secrets', 'SECRETS'],
  },
]

export interface DisasterResult {
  readonly disaster: string
  readonly acknowledged: number
  /** Acknowledged, and not there after the restore. */
  readonly lost: number
  /** Of those, acknowledged before the time until which the restore says that everything is there. */
  readonly lostUnsaid: number
  /** How long before the loss the first lost one was acknowledged; 0 where none was. */
  readonly lostSeconds: number
  readonly restoreSeconds: number
  readonly restoreExit: number
  readonly records: number
  readonly gaps: number
  readonly verifyExit: number
  /** The words of its verdict. */
  readonly verdict: string
  /** Whether the instance then delivers a main job of its own and verifies. */
  readonly goesOn: boolean
}

interface Run {
  readonly exitCode: number | null
  readonly stdout: string
  readonly stderr: string
  readonly seconds: number
}

interface Options {
  readonly ratePerSecond: number
  /** Of load after everything runs. */
  readonly seconds: number
  say(text: string): void
}

const UP_MAX_MS = 240_000
const END_MAX_MS = 30_000

export async function runDisaster(
  disaster: Disaster,
  { ratePerSecond, seconds, say }: Options,
): Promise<DisasterResult> {
  const place = mkdtempSync(join(tmpdir(), 'baton-disaster-'))
  // The account of Postgres passes through.
  chmodSync(place, 0o755)
  const home = join(place, 'home')
  mkdirSync(home, { mode: 0o755 })
  const backups = join(place, 'backups')
  const secrets = join(place, 'secrets.json')
  const environment = { BATON_HOME: home, BATON_BACKUP_FOLDER: backups }
  const run = (...args: readonly string[]) => runCommand(args, environment)
  const up = start(['up', '--no-redis', '--reviews', '1'], environment)
  const children = [up.child]
  try {
    await up.says(/Baton is up/)
    const { url, key } = await readGateway(run)
    const load = startLoad({ url, key, ratePerSecond })
    if (disaster.isFollowed) {
      const follower = start(['backup', 'follow'], environment)
      children.push(follower.child)
      await follower.says(/followed from/)
      await must(run('backup', '--secrets-to', secrets))
    } else await must(run('backup', '--secrets-to', secrets))
    await delay(seconds * 1_000)
    const there = await inspect(home)
    const lostAt = Date.now()
    killAll(children, home)
    const acknowledged = await load.end()
    await hasEnded(home)
    await disaster.destroy(there)
    const command = (disaster.restore ?? ['restore']).map((word) =>
      word === 'SECRETS' ? secrets : word,
    )
    const restored = await run(...command, '--json')
    const report = JSON.parse(restored.stdout) as {
      readonly coveredUntil: string
      readonly records: number
      readonly gaps: readonly object[]
    }
    say(`  ${command.join(' ')}: exit ${restored.exitCode} after ${restored.seconds.toFixed(1)} s`)
    if ('error' in report) throw new Error(`${restored.stderr}`)
    if (disaster.afterwards !== undefined)
      say(
        `  ${disaster.afterwards.join(' ')}: exit ${(await run(...disaster.afterwards)).exitCode}`,
      )
    const left = await handoffsIn(home)
    const lost = acknowledged.filter(({ id }) => !left.has(id))
    const verified = await run('verify')
    const again = await run('up', '--once', '--no-redis', '--reviews', '1', '--json')
    const first = Math.min(...lost.map(({ at }) => at))
    return {
      disaster: disaster.name,
      acknowledged: acknowledged.length,
      lost: lost.length,
      lostUnsaid: lost.filter(({ at }) => at < Date.parse(report.coveredUntil)).length,
      lostSeconds: lost.length === 0 ? 0 : Math.round((lostAt - first) / 100) / 10,
      restoreSeconds: Math.round(restored.seconds * 10) / 10,
      restoreExit: restored.exitCode ?? -1,
      records: report.records,
      gaps: report.gaps.length,
      verifyExit: verified.exitCode ?? -1,
      verdict: /verdict\s+(.*)/.exec(verified.stdout)?.[1] ?? '',
      goesOn: chainVerified(again),
    }
  } finally {
    killAll(children, home)
    await hasEnded(home)
    await discardPostgres(join(home, 'pg'))
    rmSync(place, { recursive: true, force: true })
  }
}

function chainVerified({ stdout }: Run): boolean {
  try {
    const last = stdout.trim().split('\n').at(-1) ?? ''
    return (JSON.parse(last) as { readonly chainVerified?: boolean }).chainVerified === true
  } catch {
    return false
  }
}

interface Started {
  readonly child: ChildProcess
  says(pattern: RegExp): Promise<unknown>
}

function start(args: readonly string[], environment: Readonly<Record<string, string>>): Started {
  const child = spawn(process.execPath, [COMMAND_LINE, ...args], {
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => (said += text))
  return {
    child,
    says: (pattern) =>
      eventually(
        () => {
          if (child.exitCode !== null) throw new Error(`${args.join(' ')} ended: ${said}`)
          return pattern.test(said)
        },
        { deadlineMs: UP_MAX_MS, describe: () => `${args.join(' ')} says ${pattern}: ${said}` },
      ),
  }
}

async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
): Promise<Run> {
  const began = performance.now()
  const child = spawn(process.execPath, [COMMAND_LINE, ...args], {
    env: { NODE_COMPILE_CACHE: COMPILE_CACHE, ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text))
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { exitCode, ...written, seconds: (performance.now() - began) / 1_000 }
}

async function must(running: Promise<Run>): Promise<Run> {
  const run = await running
  if (run.exitCode !== 0) throw new Error(`a command ended with ${run.exitCode}: ${run.stderr}`)
  return run
}

interface Gateway {
  readonly url: string
  readonly key: string
}

async function readGateway(run: (...args: readonly string[]) => Promise<Run>): Promise<Gateway> {
  const { stdout } = await must(run('env', '--json'))
  const told = JSON.parse(stdout) as Readonly<Record<string, string>>
  const file = told['BATON_API_KEY_FILE']
  const key = told['BATON_API_KEY'] ?? readFileSync(file ?? '', 'utf8').trim()
  return { url: told['BATON_GATEWAY_URL'] ?? '', key }
}

interface Acknowledged {
  readonly id: string
  /** When the answer came, in milliseconds since 1970. */
  readonly at: number
}

interface Load {
  /** Everything that was acknowledged. */
  end(): Promise<readonly Acknowledged[]>
}

/** Sends at a steady rate until it is ended; what is not answered is nobody's promise. */
function startLoad({ url, key, ratePerSecond }: Gateway & Pick<Options, 'ratePerSecond'>): Load {
  const acknowledged: Acknowledged[] = []
  const running = new Set<Promise<void>>()
  async function send(): Promise<void> {
    const response = await fetch(`${url}/v2/handoffs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(submission()),
      signal: AbortSignal.timeout(10_000),
    })
    const answer = (await response.json()) as { readonly handoffId?: string }
    if (response.status === 202 && answer.handoffId !== undefined)
      acknowledged.push({ id: answer.handoffId, at: Date.now() })
  }
  const timer = setInterval(() => {
    const one = send().catch(() => undefined)
    running.add(one)
    void one.then(() => running.delete(one))
  }, 1_000 / ratePerSecond)
  return {
    async end() {
      clearInterval(timer)
      await Promise.all(running)
      return acknowledged
    },
  }
}

const submission = () => ({
  agentState: {
    taskId: randomUUID(),
    agent: { agentId: 'intake-agent', agentVersion: '1.0.0' },
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [{ subtaskId: 'extract', description: 'Extract the clauses' }],
    currentState: { document: 'The licence of a part.' },
    cost: {
      spentSoFarUSD: 0.05,
      budgetRemainingUSD: 0.35,
      ownCostUSD: 0.03,
      tokenSpent: { prompt: 10, completion: 5 },
    },
  },
  targetAgentType: 'clause-extraction',
  constraints: {},
})

/** Runs `work` on the server of an instance, which is started where it does not run. */
async function onServer<Result>(
  home: string,
  database: string,
  work: (pool: ReturnType<typeof createPool>, folder: string) => Promise<Result>,
): Promise<Result> {
  const logger = createLogger({ service: 'chaos', level: 'silent' })
  const server = await startPostgres({ dataDir: join(home, 'pg'), mayBeNew: false, logger })
  const url = new URL(server.superuserUrl)
  url.pathname = `/${database}`
  const pool = createPool({ url: url.href, applicationName: 'chaos', connectionsMax: 1 })
  try {
    return await work(pool, server.home)
  } finally {
    await pool.end()
    await server.stop()
  }
}

const inspect = (home: string): Promise<Destroyed> =>
  onServer(home, 'postgres', async (pool, folder) => {
    const { rows } = await pool.query<{ datname: string; oid: string }>({
      text: 'select datname, oid::text from pg_database',
    })
    const data = join(folder, 'data')
    const databases = new Map(rows.map(({ datname, oid }) => [datname, join(data, 'base', oid)]))
    return { home, data, databases }
  })

const handoffsIn = (home: string): Promise<ReadonlySet<string>> =>
  onServer(home, 'baton', async (pool) => {
    const { rows } = await pool.query<{ id: string }>({ text: 'select id from handoff' })
    return new Set(rows.map(({ id }) => id))
  })

/** As a machine does that loses its power: nothing is told to end. */
function killAll(children: readonly ChildProcess[], home: string): void {
  for (const child of children) child.kill('SIGKILL')
  for (const pid of readPids(home)) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // It has ended by itself.
    }
  }
}

const hasEnded = (home: string): Promise<unknown> =>
  eventually(() => readPids(home).length === 0, {
    deadlineMs: END_MAX_MS,
    describe: () => `all of ${home} has ended: ${readPids(home).join(', ')}`,
  })

/** Of processes that are told of this home, or stand in it. Only who ran it here has one of that name. */
function readPids(home: string): readonly number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid !== process.pid && stands(pid, home))
}

function stands(pid: number, home: string): boolean {
  try {
    const told = ['cmdline', 'environ'].map((name) => readFileSync(`/proc/${pid}/${name}`, 'utf8'))
    return [...told, readlinkSync(`/proc/${pid}/cwd`)].some((text) => text.includes(home))
  } catch {
    return false
  }
}

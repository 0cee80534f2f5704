// The processes of one handoff's way, watched from inside: which of their functions ran between two moments.
import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createPool } from '@baton/audit'
import { createSystem, eventually, spawnService } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import type { Calls } from './walk-preload.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const PRELOAD = fileURLToPath(new URL('walk-preload.ts', import.meta.url))
/** So often the periodic work of every process has run before what it calls counts as known. */
const ROUNDS = 4
const DEADLINE_MS = 60_000

/** Files from the checkout's root, by the process that they ran in. */
export type FilesByProcess = ReadonlyMap<string, ReadonlySet<string>>

export interface WalkedProcesses {
  /** Sends one handoff, waits until all it led to is in the audit log, and answers what ran only for it. */
  followOne(): Promise<ReadonlyMap<string, ReadonlySet<string>>>
  stop(): Promise<void>
}

interface Watched {
  readonly name: string
  readonly process: ServiceProcess
  taken: number
  /** What ran although nothing was sent. */
  readonly idle: Set<string>
}

/** Starts sender, relay, receiver and auditor, and learns what each of them does while nothing is sent. */
export async function startWalk(servers: {
  readonly adminUrl: string
  readonly redisUrl: string
}): Promise<WalkedProcesses> {
  const folder = await mkdtemp(join(tmpdir(), 'baton-walk-'))
  const system = await createSystem({
    purpose: 'walk',
    ...servers,
    agents: './test/integration/gateway-agents.ts',
    env: { BATON_WALK_FOLDER: folder, NODE_OPTIONS: `--import=${PRELOAD}` },
  })
  const watched: Watched[] = []
  const watch = (name: string, process: ServiceProcess): void =>
    void watched.push({ name, process, taken: 0, idle: new Set() })
  for (const name of ['auditor', 'relay', 'receiver'] as const)
    watch(name, await system.start(name))
  const sender = await spawnService({
    main: 'services/sender/src/main.ts',
    env: system.env,
    input: true,
    ready: /ops\.listening/,
  })
  watch('sender', sender)
  let sent = 0
  // Otherwise the log of what a process began with would count as what runs while nothing is sent.
  const ofStart = await eventually(() => recordsOfStart(system), {
    deadlineMs: DEADLINE_MS,
    describe: 'the settings of the receiver are in the audit log',
  })

  async function take({ process, ...one }: Watched, number: number): Promise<Calls> {
    const path = join(folder, `${process.pid}.${number}.json`)
    process.signal('SIGUSR2')
    await eventually(() => existsSync(path), {
      deadlineMs: DEADLINE_MS,
      describe: () => `${one.name} writes what it ran\n${process.output()}`,
    })
    return JSON.parse(readFileSync(path, 'utf8')) as Calls
  }

  const takeAll = () =>
    Promise.all(
      watched.map(async (one) => {
        one.taken += 1
        return { one, calls: await take(one, one.taken) }
      }),
    )

  async function sendAndWait(): Promise<void> {
    sent += 1
    sender.write(`${JSON.stringify(requestLine())}\n`)
    await eventually(() => sender.stdout().split('\n').length > sent, {
      deadlineMs: DEADLINE_MS,
      describe: () => `the sender answers\n${sender.output()}`,
    })
    await eventually(() => isRecorded(system, ofStart + sent * HANDOFFS * 2), {
      deadlineMs: DEADLINE_MS,
      describe: () =>
        `both handoffs and what came of them are in the audit log\n${watched.map(({ process }) => process.output()).join('')}`,
    })
  }

  return {
    async followOne() {
      await learnIdle(takeAll)
      await sendAndWait()
      const ran = await takeAll()
      return new Map(ran.map(({ one, calls }) => [one.name, newFunctions(calls, one.idle)]))
    },
    async stop() {
      await sender.stop()
      await system.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// Done when every process has gone through its rounds and called nothing new in them.
async function learnIdle(
  takeAll: () => Promise<readonly { one: Watched; calls: Calls }[]>,
): Promise<void> {
  await takeAll()
  const counts = new Map<string, number>()
  await eventually(
    async () => {
      let known = true
      for (const { one, calls } of await takeAll()) {
        for (const [place, count] of Object.entries(calls)) {
          if (!one.idle.has(place)) known = false
          one.idle.add(place)
          counts.set(place, (counts.get(place) ?? 0) + count)
        }
      }
      const sweeps = [...counts].find(([place]) => place.includes('/sweep.ts#'))?.[1] ?? 0
      return known && sweeps >= ROUNDS
    },
    { deadlineMs: DEADLINE_MS, describe: 'nothing new runs while nothing is sent' },
  )
}

const newFunctions = (calls: Calls, idle: ReadonlySet<string>): ReadonlySet<string> =>
  new Set(Object.keys(calls).filter((place) => !idle.has(place)))

/** The files of functions that ran in every one of several runs; what ran by chance in one is left out. */
export function filesOf(runs: readonly ReadonlyMap<string, ReadonlySet<string>>[]): FilesByProcess {
  const [first = new Map<string, ReadonlySet<string>>()] = runs
  return new Map(
    [...first].map(([name, places]) => {
      const always = [...places].filter((place) =>
        runs.every((run) => run.get(name)?.has(place) === true),
      )
      const files = always.map((place) => relative(ROOT, fileURLToPath(place.split('#')[0] ?? '')))
      return [name, new Set(files.map((path) => path.replaceAll('\\', '/')))]
    }),
  )
}

const requestLine = () => ({
  agentState: {
    taskId: randomUUID(),
    agent: { agentId: 'intake', agentVersion: '1.0.0' },
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [{ subtaskId: 'extract', description: 'Extract the clauses' }],
    currentState: { document: 'Each party may end it.' },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: 1,
      ownCostUSD: 0,
      tokenSpent: { prompt: 1, completion: 1 },
    },
    traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  },
  targetAgentType: 'clause-extraction',
})

const HANDOFFS = 2

/** How many records the start itself made, or false while any of them is on its way. */
async function recordsOfStart(system: System): Promise<number | false> {
  const { left, settings, records } = await recordedSoFar(system)
  return left === 0 && settings > 0 && records
}

/** Every handoff so far has its decision and its end in the log, and nothing waits to be told. */
async function isRecorded(system: System, expected: number): Promise<boolean> {
  const { left, records } = await recordedSoFar(system)
  return left === 0 && records >= expected
}

async function recordedSoFar(
  system: System,
): Promise<{ left: number; settings: number; records: number }> {
  const store = createPool({ url: system.adminUrls.store, applicationName: 'walk' })
  const audit = createPool({ url: system.adminUrls.audit, applicationName: 'walk' })
  try {
    const left = await store.query<{ left: number; settings: number }>({
      name: 'walk_left',
      text: `select (select count(*) from audit_outbox) + (select count(*) from handoff where state <> 'COMPLETED') as left,
        least((select count(*) from recorded_settings), (select count(*) from recorded_ruleset)) as settings`,
    })
    const records = await audit.query<{ records: number }>({
      name: 'walk_records',
      text: 'select count(*) as records from audit.record',
    })
    return {
      left: left.rows[0]?.left ?? 0,
      settings: left.rows[0]?.settings ?? 0,
      records: records.rows[0]?.records ?? 0,
    }
  } finally {
    await Promise.all([store.end(), audit.end()])
  }
}

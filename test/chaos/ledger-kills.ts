// The kills of a ledger campaign: a seeded deck of targets, and what kill -9 means for each of them.
import { eventually, randomFrom } from '@baton/testkit'
import type { FaultRun } from './fault-runner.ts'
import { pause } from './fault.ts'
import type { LedgerWorld } from './ledger-world.ts'

/** `postgres` is its server process alone, `backend` one of the processes that serve Baton's connections. */
export type KillTarget = 'auditor' | 'sealer' | 'archiver' | 'witness' | 'postgres' | 'backend'

export interface Kill {
  readonly target: KillTarget
  /** From the kill before it, and from its recovery where it is not eager. */
  readonly pauseMs: number
  /** Comes also while the log has not answered again. */
  readonly eager: boolean
  /** Until a supervisor starts a service again. */
  readonly downMs: number
  /** Which backend, as a share of all of them. */
  readonly share: number
}

/** Times in milliseconds since 1970. `readyAt` is when the process said so again, or Postgres answered. */
export interface KillRun extends Kill {
  readonly killedAt: number
  readonly readyAt: number
}

/** How often each is killed, compared with the others; the first few hold every target that must not lose anything. */
const DECK: readonly KillTarget[] = [
  ...(['auditor', 'sealer', 'archiver', 'postgres', 'backend', 'witness'] as const),
  ...(['auditor', 'sealer', 'postgres', 'archiver', 'auditor', 'sealer'] as const),
  ...(['postgres', 'auditor', 'backend', 'archiver', 'sealer', 'auditor'] as const),
  ...(['postgres', 'backend'] as const),
]
const PAUSE_MS = { min: 200, max: 3_000 }
const EAGER_SHARE = 0.25
const DOWN_MAX_MS = 800
/** After this the next kill comes although nothing was acknowledged. */
const PATIENCE_MS = 20_000
const LOOK_EVERY_MS = 20
const UP_MAX_MS = 90_000

/** The same for the same seed. */
export function killPlan(seed: number, kills: number): readonly Kill[] {
  const random = randomFrom(seed)
  const targets = Array.from({ length: kills }, (_, at) => DECK[at % DECK.length] as KillTarget)
  for (let at = targets.length - 1; at > 0; at -= 1) {
    const other = random.integer(0, at)
    ;[targets[at], targets[other]] = [targets[other] as KillTarget, targets[at] as KillTarget]
  }
  return targets.map((target) => ({
    target,
    pauseMs: random.integer(PAUSE_MS.min, PAUSE_MS.max),
    eager: random.next() < EAGER_SHARE,
    downMs: random.integer(0, DOWN_MAX_MS),
    share: random.next(),
  }))
}

interface Surroundings {
  readonly world: LedgerWorld
  /** When the newest of the appends began that the log has acknowledged. */
  lastAcknowledged(): number
  say(text: string): void
}

/** Kills one after the other, each only while it is up; what was killed before may still be on its way back. */
export async function runKills(
  plan: readonly Kill[],
  { world, lastAcknowledged, say }: Surroundings,
): Promise<readonly KillRun[]> {
  const runs: Promise<KillRun>[] = []
  let before = 0
  for (const [at, kill] of plan.entries()) {
    const until = performance.now() + PATIENCE_MS
    const isHurt = () => lastAcknowledged() <= before && performance.now() < until
    while (!kill.eager && isHurt()) await pause(LOOK_EVERY_MS)
    await pause(kill.pauseMs)
    const { killedAt, back } = await KILLS[kill.target](kill, world)
    before = killedAt
    const run = back.then(() => ({ ...kill, killedAt, readyAt: Date.now() }))
    // It is looked at when all are done.
    run.catch(() => undefined)
    runs.push(run)
    say(`  kill ${at + 1} of ${plan.length}: ${kill.target}`)
  }
  return Promise.all(runs)
}

interface Killed {
  readonly killedAt: number
  /** Resolves once the target is back. */
  readonly back: Promise<unknown>
}

async function killPostgres(world: LedgerWorld): Promise<Killed> {
  await answering(world)
  const killedAt = Date.now()
  await world.postgres.kill()
  return { killedAt, back: world.postgres.restart().then(() => answering(world)) }
}

const BACKENDS = `select pid from pg_stat_activity
  where backend_type = 'client backend' and application_name like 'baton-%' order by pid`

async function killBackend({ share }: Kill, world: LedgerWorld): Promise<Killed> {
  let killedAt = 0
  await eventually(
    async () => {
      const { rows } = await world.admin.query<{ pid: number }>({ text: BACKENDS })
      const victim = rows[Math.floor(share * rows.length)]
      killedAt = Date.now()
      return victim !== undefined && process.kill(victim.pid, 'SIGKILL')
    },
    { deadlineMs: UP_MAX_MS, describe: 'a backend serves Baton' },
  )
  return { killedAt, back: answering(world) }
}

async function killService({ target, downMs }: Kill, world: LedgerWorld): Promise<Killed> {
  const slot = world.slots.get(`${target}-1`)
  if (slot === undefined) throw new Error(`nothing runs as ${target}`)
  const ready = () => slot.ready()
  await eventually(ready, { deadlineMs: UP_MAX_MS, describe: `${target} is up` })
  const killedAt = Date.now()
  await slot.kill(downMs)
  const describe = `${target} is up again`
  return { killedAt, back: eventually(ready, { deadlineMs: UP_MAX_MS, describe }) }
}

const KILLS: Readonly<Record<KillTarget, (kill: Kill, world: LedgerWorld) => Promise<Killed>>> = {
  auditor: killService,
  sealer: killService,
  archiver: killService,
  witness: killService,
  postgres: (_, world) => killPostgres(world),
  backend: killBackend,
}

const answering = ({ admin }: LedgerWorld): Promise<unknown> =>
  eventually(() => admin.query({ text: 'select' }).then(() => true), {
    deadlineMs: UP_MAX_MS,
    describe: 'Postgres answers',
  })

/** The kills that stood between a receiver and its database, as the other checker knows faults. */
export const asFaults = (runs: readonly KillRun[], startedAt: number): readonly FaultRun[] =>
  runs.map(({ target, killedAt, readyAt }) => ({
    atMs: killedAt - startedAt,
    kind: isPostgres(target) ? 'postgres.crash' : 'process.kill',
    target: isPostgres(target) ? 'postgres' : `${target}-1`,
    parameters: {},
    begunAt: killedAt,
    endedAt: readyAt,
  }))

const isPostgres = (target: KillTarget): boolean => target === 'postgres' || target === 'backend'

// A whole system behind links that can fail, and a load that remembers what it was told while they do.
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentState, Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually } from '@baton/testkit'
import type { System } from '@baton/testkit'
import { createDriver, newTask } from './driver.ts'
import { drained, violations } from './history.ts'

interface WorldOptions {
  readonly purpose: string
  readonly adminUrl: string
  readonly auditAdminUrl?: string
  readonly redisUrl: string
  readonly env?: Readonly<Record<string, string>>
}

export interface World {
  readonly system: System
  readonly driver: Sender
  /** Beside the links: looks at the database while services cannot. */
  readonly pool: Pool
  /** Handoff ids whose send was confirmed. */
  readonly acknowledged: string[]
  /** Where the agents write down each execution. */
  readonly ledger: string
  /** Waits until nothing is open and answers which promises were broken. */
  settle(): Promise<string[]>
  close(): Promise<void>
}

/** Nothing runs yet; `system.start` starts the services a test needs. */
export async function openWorld({ env, ...options }: WorldOptions): Promise<World> {
  const ledger = join(mkdtempSync(join(tmpdir(), 'baton-ledger-')), 'effects.jsonl')
  const system = await createSystem({
    ...options,
    agents: './test/fault/ledger-agents.ts',
    env: { BATON_TEST_LEDGER: ledger, ...env },
  })
  const driver = createDriver(system)
  const pool = createPool({ url: system.adminUrls.store, applicationName: 'watch' })
  const acknowledged: string[] = []
  return {
    system,
    driver,
    pool,
    acknowledged,
    ledger,
    async settle() {
      await drained(system)
      return violations(system, acknowledged, ledger)
    },
    async close() {
      await driver.close()
      await pool.end()
      await system.stop()
    },
  }
}

export interface Load {
  /** Codes of sends that failed; each was repeated until it was confirmed. */
  readonly failures: string[]
  readonly confirmed: number
  /** Sends no more and waits until everything sent is confirmed. */
  stop(): Promise<void>
}

const REPEAT_AFTER_MS = 250

/** Sends tasks evenly, to each agent type in turn; a send that fails is repeated with the same ids, as an application would. */
export function startLoad(
  { driver, acknowledged }: World,
  ratePerSecond: number,
  agentTypes: readonly string[] = ['first'],
): Load {
  const failures: string[] = []
  const underWay = new Set<Promise<void>>()
  let confirmed = 0

  async function sendUntilConfirmed(task: AgentState, agentType: string): Promise<void> {
    for (;;) {
      try {
        acknowledged.push((await driver.send(task, agentType)).handoffId)
        confirmed += 1
        return
      } catch (error) {
        failures.push((error as { code?: string }).code ?? String(error))
        await new Promise((resolve) => setTimeout(resolve, REPEAT_AFTER_MS))
      }
    }
  }

  let turn = 0
  const timer = setInterval(() => {
    const agentType = agentTypes[turn % agentTypes.length] ?? 'first'
    turn += 1
    const sending = sendUntilConfirmed(newTask(), agentType).finally(() => underWay.delete(sending))
    underWay.add(sending)
  }, 1_000 / ratePerSecond)
  return {
    failures,
    get confirmed() {
      return confirmed
    },
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

/** How many handoffs satisfy a condition on `h`. */
export async function countHandoffs({ pool }: World, where: string): Promise<number> {
  const text = `select count(*) as count from handoff h where ${where}`
  return (await pool.query<{ count: number }>({ text })).rows[0]?.count ?? 0
}

const MORE = 5

/** Resolves once Postgres answers and more handoffs complete than had by then. */
export async function goesOn(
  world: World,
  { deadlineMs, describe = () => 'work goes on' }: { deadlineMs: number; describe?: () => string },
): Promise<void> {
  // Undefined while Postgres is away, which it may be again a moment after it has answered.
  const completed = () =>
    countHandoffs(world, `h.state = 'COMPLETED'`).then(
      (count) => ({ count: Number(count) }),
      () => undefined,
    )
  const before = await eventually(completed, { deadlineMs, describe: 'Postgres is back' })
  await eventually(async () => ((await completed())?.count ?? 0) > before.count + MORE, {
    deadlineMs,
    describe,
  })
}

/** The longest time between two handoffs that ended since then, of one agent type or of all. */
export async function longestPauseSeconds(
  { pool }: World,
  since: Date,
  agent?: string,
): Promise<number> {
  const text = `select max(pause) as pause from (
    select extract(epoch from ended_at - lag(ended_at) over (order by ended_at))::float8 as pause
    from handoff where ended_at >= $1 and ($2::text is null or to_agent = $2)) pauses`
  const { rows } = await pool.query<{ pause: number | null }>({
    text,
    values: [since, agent ?? null],
  })
  return rows[0]?.pause ?? 0
}

// Random graphs of handoffs through real processes, with cancellations and resumptions on the way; then every promise about them
// is looked for in what Postgres holds.
import { createKnownReceivers, requestCancel, resumeTask } from '@baton/engine'
import { createLogger } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender } from '@baton/sdk'
import { createPool, storeInvariants } from '@baton/store'
import type { Pool } from '@baton/store'
import { createMetrics } from '@baton/telemetry'
import { createSystem, eventually } from '@baton/testkit'
import type { System } from '@baton/testkit'
import { newTask } from '../fault/driver.ts'
import { drawJoin, draws, GRAPH_AGENTS, pick } from './graph-agents.ts'
import { GRAPH_RULES } from './graph-rules.ts'

export interface GraphPlan {
  readonly seed: number
  readonly tasks: number
  readonly adminUrl: string
  /** Added to the environment of the receiver: a known-bad build is loaded by it. */
  readonly env?: Readonly<Record<string, string>>
}

export interface GraphReport {
  readonly seed: number
  readonly tasks: number
  readonly handoffs: number
  readonly fanOuts: number
  readonly joins: number
  /** Tasks by the state that they ended in. */
  readonly ended: Readonly<Record<string, number>>
  /** Each promise that broke, with what shows it. */
  readonly broken: readonly { readonly rule: string; readonly ids: readonly string[] }[]
}

const UNDER_WAY_MAX = 40
const BUDGET_USD = 1
const OWN_COST_USD = 0.05
const QUIET_MS = 30_000

export async function runGraphs(plan: GraphPlan): Promise<GraphReport> {
  const { seed, tasks, adminUrl, env = {} } = plan
  const system = await createSystem({
    purpose: 'graphs',
    adminUrl,
    agents: './test/chaos/graph-agents.ts',
    env: {
      BATON_LOG_LEVEL: 'warn',
      BATON_CONCURRENCY: '32',
      BATON_RETRY_BASE_MS: '5',
      BATON_RETRY_CAP_MS: '20',
    },
  })
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const sender = createSender({ databaseUrl: system.databaseUrl, keyRing })
  const pool = createPool({
    url: system.adminUrls.store,
    applicationName: 'graphs',
    connectionsMax: 4,
  })
  try {
    await system.start('auditor')
    await system.start('receiver', env)
    const world = { system, sender, pool }
    // What does not come to rest is found below, as tasks that never end.
    if (await traffic(world, seed, tasks)) await endEverything(world, seed)
    return { seed, tasks, ...(await readGraphs(pool)), broken: await findBroken(pool) }
  } finally {
    await sender.close()
    await pool.end()
    await system.stop()
  }
}

interface World {
  readonly system: System
  readonly sender: Sender
  readonly pool: Pool
}

/** Sends as fast as tasks come to rest; some go to several receivers at once, some are canceled on the way. */
async function traffic({ sender, pool }: World, seed: number, tasks: number): Promise<boolean> {
  for (let sent = 0; sent < tasks; sent += UNDER_WAY_MAX) {
    const ids = await Promise.all(
      Array.from({ length: Math.min(UNDER_WAY_MAX, tasks - sent) }, (_, nth) =>
        sendOne(sender, draws(`${seed}/task/${sent + nth}`)),
      ),
    )
    const draw = draws(`${seed}/cancels/${sent}`)
    for (const taskId of ids)
      if (draw() < 0.1) await requestCancel(pool, { taskId, graceMs: 0, actor: 'graphs' })
    if (!(await comesToRest(pool))) return false
  }
  return true
}

const LABELS = ['internal', 'confidential', 'restricted'] as const

async function sendOne(sender: Sender, draw: () => number): Promise<string> {
  const task = newTask()
  const state: AgentState = {
    ...task,
    taskDescription: '0',
    cost: { ...task.cost, budgetRemainingUSD: BUDGET_USD, ownCostUSD: OWN_COST_USD },
    dataClassification: pick(draw, LABELS),
  }
  const to = pick(draw, GRAPH_AGENTS)
  if (draw() < 0.6) return (await sender.send(state, to)).taskId
  const receivers = GRAPH_AGENTS.filter((type) => type === to || draw() < 0.5)
  const sent = await sender.send(state, to, {
    receiverList: receivers.map((agentType) => ({ agentType })),
    ...(draw() < 0.7 ? { join: drawJoin(draw, receivers.length, 0) } : {}),
  })
  return sent.taskId
}

/** Whether nothing is under way after a while: what has not ended waits for a person. */
const comesToRest = (pool: Pool): Promise<boolean> =>
  eventually(
    async () => {
      const text = `select not exists (select from handoff where ended_at is null)
        and not exists (select from fan_out where state = 'READY') as quiet`
      return (await pool.query<{ quiet: boolean }>({ text })).rows[0]?.quiet
    },
    { deadlineMs: QUIET_MS, describe: () => 'nothing is under way any more' },
  ).then(
    () => true,
    () => false,
  )

const ROUNDS = 4

/** A person takes up what was rolled back, for some rounds, and cancels what waits then. */
async function endEverything({ system, pool }: World, seed: number): Promise<void> {
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const logger = createLogger({ service: 'graphs', level: 'silent' })
  const receivers = createKnownReceivers({ pool })
  const parts = { pool, receivers, keyRing, attemptsMax: 3, metrics: createMetrics(), logger }
  for (let round = 0; round <= ROUNDS; round += 1) {
    const { rows } = await pool.query<{ taskId: string; handoffId: string }>({
      text: `select distinct on (t.id) t.id as "taskId", h.id as "handoffId" from task t join handoff h on h.task_id = t.id
        where t.status not in ('COMPLETED', 'FAILED', 'CANCELED') and h.state = 'ROLLED_BACK'
        order by t.id, h.task_seq desc`,
    })
    const draw = draws(`${seed}/people/${round}`)
    for (const { taskId, handoffId } of rows) {
      if (round < ROUNDS && draw() < 0.8)
        await resumeTask(parts, { taskId, handoffId, actor: 'graphs', sentBy: null }).catch(
          () => undefined,
        )
      else await requestCancel(pool, { taskId, graceMs: 0, actor: 'graphs' })
    }
    await comesToRest(pool)
  }
  const { rows } = await pool.query<{ taskId: string }>({
    text: `select id as "taskId" from task where status not in ('COMPLETED', 'FAILED', 'CANCELED')`,
  })
  for (const { taskId } of rows) await requestCancel(pool, { taskId, graceMs: 0, actor: 'graphs' })
  await comesToRest(pool)
}

async function readGraphs(pool: Pool) {
  const { rows } = await pool.query<{ handoffs: number; fanOuts: number; joins: number }>({
    text: `select (select count(*)::int from handoff) as handoffs, (select count(*)::int from fan_out) as "fanOuts",
      (select count(*)::int from handoff where joins_id is not null) as joins`,
  })
  const states = await pool.query<{ status: string; count: number }>({
    text: 'select status, count(*)::int as count from task group by status order by status',
  })
  const ended = Object.fromEntries(states.rows.map(({ status, count }) => [status, count]))
  return { handoffs: 0, fanOuts: 0, joins: 0, ...rows[0], ended }
}

/** What holds besides once everything has ended; each statement answers the ids that break it. */
const RULES: Readonly<Record<string, string>> = {
  ...GRAPH_RULES,
  'I2 every task ends, and every fan-out with it': `
    select id from task where status not in ('COMPLETED', 'FAILED', 'CANCELED')
    union select id from fan_out where state in ('OPEN', 'READY')`,
  'I8 a task has cost what its executions cost, and no more than its budget': `
    select t.id from task t
    join lateral (select coalesce(sum(e.cost_micro_usd), 0) as cost from handoff h join execution e on e.handoff_id = h.id
      where h.task_id = t.id and e.status = 'DONE') e on true
    where t.spent_micro_usd <> ${OWN_COST_USD * 1e6} + e.cost or t.spent_micro_usd > t.budget_micro_usd`,
}

async function findBroken(pool: Pool): Promise<GraphReport['broken']> {
  const own = await Promise.all(
    Object.entries(RULES).map(async ([rule, text]) => {
      const { rows } = await pool.query<{ id: string }>({ text: `${text} limit 20` })
      return { rule, ids: rows.map(({ id }) => id) }
    }),
  )
  const others = await Promise.all(
    storeInvariants(pool).map(async ({ promise, rule, check }) => ({
      rule: `${promise} ${rule}`,
      ids: await check(),
    })),
  )
  return [...own, ...others].filter(({ ids }) => ids.length > 0)
}

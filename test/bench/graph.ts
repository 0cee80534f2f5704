// `npm run bench -- graph`: what order costs. A chain of handoffs, and three branches beside their slowest one.
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually } from '@baton/testkit'
import { BRANCH_MS, CHAIN_HOPS } from './graph-agents.ts'
import { stateOf } from './message.ts'
import { withOwnServers } from './own-servers.ts'
import { recordMeasurements } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'
import type { Servers } from './system-under-load.ts'

const AT_ONCE = 64

const HELP = `npm run bench -- graph [options]
  --tasks N      chains, and tasks that fan out, one after another (30)
  --chains N     then so many chains, ${AT_ONCE} of them under way at once (640)
  --only-chains  no task that fans out, as for a version that knows none
  --no-redis     relay in the receiver's process instead of BullMQ on Redis
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  tasks: { type: 'string', default: '30' },
  chains: { type: 'string', default: '640' },
  'only-chains': { type: 'boolean', default: false },
  'no-redis': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BYTES = 4_096
/** The first tasks warm up plans, caches and code. */
const WARM_UP = 5
const TASK_MAX_MS = 30_000
const POLL_MS = 20
const RATE_MAX_MS = 300_000
const SLOWEST_MS = Math.max(...BRANCH_MS)
const SHARE_MAX = 1.2

const say = (text: string): void => void process.stderr.write(`${text}\n`)

// From the end of the execution that fanned out until a receiver has accepted the join.
const BRANCHED = `
select extract(epoch from joining.accepted_at - forking.ended_at)::float8 * 1000 as ms
from handoff forking join handoff joining on joining.task_id = forking.task_id and joining.to_agent = 'join'
where forking.to_agent = 'fork' and forking.task_id = $1`
const CHAINED = `
select extract(epoch from max(ended_at) - min(created_at))::float8 * 1000 as ms from handoff where task_id = $1`

interface Bench {
  readonly sender: Sender
  readonly pool: Pool
}

/** Sends one task after another; answers the milliseconds that `text` reads of each. */
async function measure({ sender, pool }: Bench, tasks: number, [to, text]: [string, string]) {
  const spent: number[] = []
  for (let nth = 0; nth < WARM_UP + tasks; nth += 1) {
    const { taskId } = await sender.send(stateOf(BYTES, nth + 1), to)
    await eventually(() => hasCompleted(pool, taskId), {
      deadlineMs: TASK_MAX_MS,
      describe: `task ${taskId} completes`,
    })
    const { rows } = await pool.query<{ ms: number }>({ text, values: [taskId] })
    if (nth >= WARM_UP) spent.push(rows[0]?.ms ?? Number.NaN)
  }
  return spreadOf(spent)
}

/** Keeps chains under way until `chains` have completed; answers the handoffs a second. */
async function measureRate({ sender, pool }: Bench, chains: number): Promise<number> {
  const underWay = new Set<string>()
  let sent = 0
  const startedAt = performance.now()
  while (sent < chains || underWay.size > 0) {
    const more = Math.min(AT_ONCE - underWay.size, chains - sent)
    const states = Array.from({ length: more }, () => stateOf(BYTES, (sent += 1)))
    await Promise.all(states.map((state) => sender.send(state, 'link-0')))
    for (const { taskId } of states) underWay.add(taskId)
    await setTimeout(POLL_MS)
    const text = `select id from task where id = any($1::uuid[]) and status = 'COMPLETED'`
    const { rows } = await pool.query<{ id: string }>({ text, values: [[...underWay]] })
    for (const { id } of rows) underWay.delete(id)
    if (performance.now() - startedAt > RATE_MAX_MS)
      throw new Error(`${underWay.size} of ${chains} chains have not completed`)
  }
  return Math.round((chains * CHAIN_HOPS * 1_000) / (performance.now() - startedAt))
}

async function hasCompleted(pool: Pool, taskId: string): Promise<boolean> {
  const text = `select status = 'COMPLETED' as completed from task where id = $1`
  const { rows } = await pool.query<{ completed: boolean }>({ text, values: [taskId] })
  return rows[0]?.completed === true
}

const figuresOf = ({ p50, p95, max }: Spread): string => `p50 ${p50}, p95 ${p95}, max ${max} ms`
const ofSlowest = (ms: number): string => (ms / SLOWEST_MS).toFixed(3)

interface Plan {
  readonly tasks: number
  readonly chains: number
  readonly onlyChains: boolean
}

async function run({ tasks, chains, onlyChains }: Plan, { adminUrl, redisUrl }: Servers) {
  const system = await createSystem({
    purpose: 'bench',
    adminUrl,
    agents: './test/bench/graph-agents.ts',
    ...(redisUrl === undefined ? {} : { redisUrl }),
    env: { BATON_LOG_LEVEL: 'warn' },
  })
  const pool = createPool({ url: system.databaseUrl, applicationName: 'bench', connectionsMax: 2 })
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const sender = createSender({ databaseUrl: system.databaseUrl, keyRing })
  try {
    await system.start('auditor')
    if (redisUrl !== undefined) await system.start('relay')
    await system.start('receiver')
    const chain = await measure({ sender, pool }, tasks, ['link-0', CHAINED])
    const perSecond = await measureRate({ sender, pool }, chains)
    const branches = onlyChains
      ? undefined
      : await measure({ sender, pool }, tasks, ['fork', BRANCHED])
    return { chain, perSecond, branches }
  } finally {
    await sender.close()
    await pool.end()
    await system.stop()
  }
}

function tell(what: string, figures: string, promised?: string): void {
  say(`${what}: ${figures}`)
  recordMeasurements([{ what, figures, ...(promised === undefined ? {} : { promised }) }])
}

function tellBranches(branches: Spread, tasks: number): void {
  tell(
    `graph: branches of ${BRANCH_MS.join(', ')} ms, joined`,
    `${figuresOf(branches)} of ${tasks} until the join is accepted: ${ofSlowest(branches.p50)} of the slowest at p50, ${ofSlowest(branches.p95)} at p95`,
    `${SHARE_MAX} of the slowest`,
  )
  if (!(branches.p50 <= SLOWEST_MS * SHARE_MAX)) process.exitCode = 1
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const plan = {
    tasks: Number(values.tasks),
    chains: Number(values.chains),
    onlyChains: values['only-chains'],
  }
  await withOwnServers(!values['no-redis'], async (servers) => {
    const { chain, perSecond, branches } = await run(plan, servers)
    const { tasks, chains } = plan
    tell(
      `graph: a chain of ${CHAIN_HOPS}, alone`,
      `${figuresOf(chain)} of ${tasks}, first send to last effect`,
    )
    tell(
      `graph: chains of ${CHAIN_HOPS}, ${AT_ONCE} at once`,
      `${perSecond} handoffs/s over ${chains} chains`,
    )
    if (branches !== undefined) tellBranches(branches, tasks)
    if (values.json)
      process.stdout.write(`${JSON.stringify({ tasks, chains, chain, perSecond, branches })}\n`)
  })
}

await main()

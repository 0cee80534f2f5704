// `npm run bench -- graph`: what order costs. A chain of handoffs, and three branches beside their slowest one.
import { parseArgs } from 'node:util'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually, startOwnPostgres, startOwnRedis } from '@baton/testkit'
import { BRANCH_MS, CHAIN_HOPS } from './graph-agents.ts'
import { stateOf } from './message.ts'
import { recordMeasurements } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- graph [options]
  --tasks N      chains, and tasks that fan out, one after another (30)
  --no-redis     relay in the receiver's process instead of BullMQ on Redis
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  tasks: { type: 'string', default: '30' },
  'no-redis': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BYTES = 4_096
/** The first tasks warm up plans, caches and code. */
const WARM_UP = 5
const TASK_MAX_MS = 30_000
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

async function hasCompleted(pool: Pool, taskId: string): Promise<boolean> {
  const text = `select status = 'COMPLETED' as completed from task where id = $1`
  const { rows } = await pool.query<{ completed: boolean }>({ text, values: [taskId] })
  return rows[0]?.completed === true
}

const figuresOf = ({ p50, p95, max }: Spread): string => `p50 ${p50}, p95 ${p95}, max ${max} ms`
const ofSlowest = (ms: number): string => (ms / SLOWEST_MS).toFixed(3)

interface Servers {
  readonly adminUrl: string
  readonly redisUrl: string | undefined
}

async function run(tasks: number, { adminUrl, redisUrl }: Servers) {
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
    const branches = await measure({ sender, pool }, tasks, ['fork', BRANCHED])
    return { chain, branches }
  } finally {
    await sender.close()
    await pool.end()
    await system.stop()
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const tasks = Number(values.tasks)
  const postgres = await startOwnPostgres()
  const redis = values['no-redis'] ? undefined : await startOwnRedis()
  try {
    if (redis !== undefined && 'unavailable' in redis)
      throw new Error(`no Redis (${redis.unavailable}): give --no-redis`)
    const servers = { adminUrl: postgres.superuserUrl, redisUrl: redis?.url }
    const { chain, branches } = await run(tasks, servers)
    const share = ofSlowest(branches.p50)
    const chainFigures = `${figuresOf(chain)} of ${tasks}, first send to last effect`
    const branchFigures = `${figuresOf(branches)} of ${tasks} until the join is accepted: ${share} of the slowest at p50, ${ofSlowest(branches.p95)} at p95`
    say(
      `chain of ${CHAIN_HOPS}: ${chainFigures}\nbranches of ${BRANCH_MS.join(', ')} ms: ${branchFigures}`,
    )
    recordMeasurements([
      { what: `graph: a chain of ${CHAIN_HOPS}, alone`, figures: chainFigures },
      {
        what: `graph: branches of ${BRANCH_MS.join(', ')} ms, joined`,
        figures: branchFigures,
        promised: `${SHARE_MAX} of the slowest`,
      },
    ])
    if (values.json) process.stdout.write(`${JSON.stringify({ tasks, chain, branches })}\n`)
    if (!(branches.p50 <= SLOWEST_MS * SHARE_MAX)) process.exitCode = 1
  } finally {
    if (redis !== undefined && !('unavailable' in redis)) await redis.stop()
    await postgres.stop()
  }
}

await main()

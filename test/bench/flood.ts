// `npm run bench -- flood`: what everybody else feels while one sender sends texts that make a scanner work as hard as they can.
import { parseArgs } from 'node:util'
import { setTimeout } from 'node:timers/promises'
import { ADVERSARIAL } from '@baton/safety/fixtures/adversarial'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { AgentState, Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually } from '@baton/testkit'
import { stateOf } from './message.ts'
import { withOwnServers } from './own-servers.ts'
import { recordMeasurements } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'
import type { Servers } from './system-under-load.ts'

const HELP = `npm run bench -- flood [options]
  --seconds N    length of the quiet part, and of the part with hostile texts (60)
  --rate N       ordinary handoffs of 4 KB per second (20)
  --no-redis     relay in the receiver's process instead of BullMQ on Redis
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  seconds: { type: 'string', default: '60' },
  rate: { type: 'string', default: '20' },
  'no-redis': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BYTES = 4_096
/** The largest that a thread scans, and one that the receiver begins with itself. */
const HOSTILE_BYTES = [1_000_000, 40_000]
/** One text of a message may be no longer than 256 Ki characters. */
const TEXT_LENGTH_MAX = 200_000
const TEXT_LENGTH_MIN = 1_024
const DRAIN_MAX_MS = 300_000
/** Of dispatch to accept, in milliseconds. */
const SLO = { p99: 500, max: 2_000 }
const HOSTILE = 'flood'

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** As it is written in a message. */
const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text))

function hostileState(generate: (length: number) => string, bytes: number): AgentState {
  const state = stateOf(BYTES, 1)
  const texts: string[] = []
  for (let left = bytes; left > TEXT_LENGTH_MIN;) {
    const text = generate(Math.min(left, TEXT_LENGTH_MAX))
    const own = bytesOf(text)
    // Of characters of several bytes as many as there is room for.
    const fitting = own <= left ? text : text.slice(0, Math.floor((text.length * left) / own))
    texts.push(fitting.toWellFormed())
    left -= Math.max(1, bytesOf(fitting))
  }
  return {
    ...state,
    agent: { ...state.agent, agentId: HOSTILE },
    currentState: { payload: 'text', texts },
  }
}

/** Answers how many could not be sent. */
async function sendAtRate(sender: Sender, ratePerSecond: number, until: number): Promise<number> {
  const prepared = Array.from({ length: 64 }, (_, seed) => stateOf(BYTES, seed + 1))
  const startedAt = performance.now()
  const underWay: Promise<boolean>[] = []
  for (let sent = 0; performance.now() < until; sent++) {
    const state = prepared[sent % prepared.length] ?? stateOf(BYTES, 1)
    const sending = sender.send({ ...state, taskId: crypto.randomUUID() }, 'sink')
    underWay.push(sending.then(Boolean, () => false))
    const due = startedAt + ((sent + 1) * 1_000) / ratePerSecond
    await setTimeout(Math.max(0, due - performance.now()))
  }
  return (await Promise.all(underWay)).filter((isSent) => !isSent).length
}

/** Each hostile text once in each size, evenly over the time; answers how many could be sent. */
async function sendHostile(sender: Sender, until: number): Promise<number> {
  const plan = HOSTILE_BYTES.flatMap((bytes) =>
    Object.values(ADVERSARIAL).map((generate) => ({ generate, bytes })),
  )
  const startedAt = performance.now()
  const gapMs = (until - startedAt) / plan.length
  const underWay: Promise<boolean>[] = []
  for (const [nth, { generate, bytes }] of plan.entries()) {
    const sending = sender.send(hostileState(generate, bytes), 'sink')
    underWay.push(sending.then(Boolean, () => false))
    await setTimeout(Math.max(0, startedAt + (nth + 1) * gapMs - performance.now()))
  }
  return (await Promise.all(underWay)).filter(Boolean).length
}

// Of what ordinary senders sent since a time, how long each waited until a receiver accepted it.
const ACCEPTED = `
select extract(epoch from accepted_at - created_at)::float8 * 1000 as ms from handoff
where from_agent <> '${HOSTILE}' and created_at >= $1 and accepted_at is not null`
const OPEN = 'select exists (select from handoff where ended_at is null) as open'
const OUTCOMES = `
select lower(state) || coalesce(' for ' || reason, '') as outcome, count(*)::int as count from handoff
where from_agent = '${HOSTILE}' group by 1 order by 2 desc`

async function acceptedSince(pool: Pool, since: Date): Promise<Spread> {
  await eventually(
    async () => (await pool.query<{ open: boolean }>({ text: OPEN })).rows[0]?.open === false,
    { deadlineMs: DRAIN_MAX_MS, describe: 'every handoff is settled' },
  )
  const { rows } = await pool.query<{ ms: number }>({ text: ACCEPTED, values: [since] })
  return spreadOf(rows.map(({ ms }) => ms))
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const plan = { seconds: Number(values.seconds), rate: Number(values.rate) }
  await withOwnServers(!values['no-redis'], async (servers) => {
    const { parts, taken, outcomes } = await run(plan, servers)
    if (values.json) process.stdout.write(`${JSON.stringify({ parts, taken, outcomes })}\n`)
    if ((parts['hostile']?.p99 ?? Infinity) > SLO.p99) process.exitCode = 1
  })
}

interface Plan {
  readonly seconds: number
  readonly rate: number
}

async function run({ seconds, rate }: Plan, { adminUrl, redisUrl }: Servers) {
  const system = await createSystem({
    purpose: 'bench',
    adminUrl,
    agents: './test/bench/sink-agents.ts',
    ...(redisUrl === undefined ? {} : { redisUrl }),
    env: { BATON_LOG_LEVEL: 'warn' },
  })
  const pool = createPool({ url: system.databaseUrl, applicationName: 'bench', connectionsMax: 2 })
  const openSender = () =>
    createSender({
      databaseUrl: system.env['BATON_DATABASE_URL'] ?? '',
      keyRing: parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? ''),
    })
  const [ordinary, hostile] = [openSender(), openSender()]
  try {
    await system.start('auditor')
    if (redisUrl !== undefined) await system.start('relay')
    await system.start('receiver')
    await sendAtRate(ordinary, rate, performance.now() + 5_000)
    const parts: Record<string, Spread> = {}
    let taken = 0
    for (const part of ['quiet', 'hostile']) {
      const since = new Date()
      const until = performance.now() + seconds * 1_000
      const [failed] = await Promise.all([
        sendAtRate(ordinary, rate, until),
        part === 'quiet' ? undefined : sendHostile(hostile, until).then((count) => (taken = count)),
      ])
      parts[part] = await acceptedSince(pool, since)
      const { p50, p95, p99, max } = parts[part]
      say(
        `${part}: dispatch to accept of ordinary handoffs p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms; ${failed} could not be sent`,
      )
    }
    const { rows } = await pool.query<{ outcome: string; count: number }>({ text: OUTCOMES })
    const outcomes = rows.map(({ outcome, count }) => `${outcome} ${count}`).join(', ')
    say(`${taken} hostile handoffs sent: ${outcomes}`)
    const figures = ({ p50, p95, p99, max }: Spread): string =>
      `p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms`
    recordMeasurements(
      Object.entries(parts).map(([part, measured]) => ({
        what: `scanner: dispatch to accept of ordinary handoffs, ${part === 'quiet' ? 'quiet' : `beside ${taken} hostile ones`}`,
        figures: figures(measured),
        promised: `p99 ${SLO.p99}, max ${SLO.max} ms`,
      })),
    )
    return { parts, taken, outcomes: rows }
  } finally {
    await Promise.all([ordinary.close(), hostile.close(), pool.end()])
    await system.stop()
  }
}

await main()

// `npm run bench -- tenants`: what one tenant feels of another that takes all it can. Exit code 1 above twice its quiet value.
import { parseArgs } from 'node:util'
import { freePort } from '@baton/embedded'
import { createApiKey } from '@baton/gateway'
import { addTenant, createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem } from '@baton/testkit'
import { withOwnServers } from './own-servers.ts'
import { recordMeasurements } from './results.ts'
import { runScript } from './run-script.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'
import type { TenantLoad } from './tenant-load-process.ts'
import type { Servers } from './system-under-load.ts'

const HELP = `npm run bench -- tenants [options]
  --seconds N    length of each part (20)
  --rounds N     all parts so often, in turn; the median of what each round says of itself counts (1)
  --rate N       handoffs that the watched tenant sends per second (20)
  --no-redis     relay in the receiver's process instead of BullMQ on Redis
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  seconds: { type: 'string', default: '20' },
  rounds: { type: 'string', default: '1' },
  rate: { type: 'string', default: '20' },
  'no-redis': { type: 'boolean', default: false },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const BYTES = 4_096
/** With what stands around it, as much as the gateway takes of one message. */
const LARGE_BYTES = 1_000_000
const OUTBOX_TYPES = 300
const TIMES_MAX = 2
/**
 * A tenant's share is a fifth of what two cores deliver over HTTP when one tenant sends all it can: 180 handoffs of 4 KB a
 * second, or 7 of 1 MB. Outboxes are so low that a flood fills them within a part.
 */
const SHARES = {
  BATON_GATEWAY_TENANT_RATE_MAX: '2200',
  BATON_GATEWAY_TENANT_BYTES_MAX: '1500000',
  BATON_OUTBOX_MAX: '200',
  BATON_OUTBOX_TENANT_MAX: '400',
  BATON_RELAY_WAITING_MAX: '100',
}

const say = (text: string): void => void process.stderr.write(`${text}\n`)

/** What the other tenant does meanwhile, from a process of low priority, as if on another machine; nothing in the quiet part. */
const FLOODS: Readonly<Record<string, Pick<TenantLoad, 'bytes' | 'types'> | undefined>> = {
  quiet: undefined,
  'sends to an unknown type': { bytes: BYTES, types: ['acme/unknown'] },
  'fills its outbox': {
    bytes: BYTES,
    types: ['acme/sink', ...Array.from({ length: OUTBOX_TYPES }, (_, nth) => `acme/nobody-${nth}`)],
  },
  'sends 1 MiB messages': { bytes: LARGE_BYTES, types: ['acme/sink'] },
}

interface Part {
  readonly name: string
  readonly acceptMs: Spread
  /** Of its p99 in the quiet part of the same round; the median of the rounds. */
  readonly timesQuiet: number
  readonly roundsQuiet: readonly number[]
  readonly watched: Readonly<Record<string, number>>
  readonly other: Readonly<Record<string, number>>
}

interface Plan {
  readonly rounds: number
  readonly seconds: number
  readonly ratePerSecond: number
}

// Of what a tenant sent since a time, how long each waited until a receiver accepted it.
const ACCEPTED = `
select extract(epoch from accepted_at - created_at)::float8 * 1000 as ms from handoff
where tenant = 'globex' and created_at >= $1 and accepted_at is not null`

async function acceptedSince(pool: Pool, since: Date): Promise<Spread> {
  const { rows } = await pool.query<{ ms: number }>({ text: ACCEPTED, values: [since] })
  return spreadOf(rows.map(({ ms }) => ms))
}

const keyOf = (tenant: string) =>
  createApiKey({ scopes: 'handoffs:send', operator: 'bench', tenant })

async function run(plan: Plan, { adminUrl, redisUrl }: Servers): Promise<readonly Part[]> {
  const system = await createSystem({
    purpose: 'bench',
    adminUrl,
    agents: './test/bench/tenant-agents.ts',
    ...(redisUrl === undefined ? {} : { redisUrl }),
    env: { BATON_LOG_LEVEL: 'warn', ...SHARES },
  })
  const pool = createPool({
    url: system.adminUrls.store,
    applicationName: 'bench',
    connectionsMax: 2,
  })
  const [acme, globex, port] = [keyOf('acme'), keyOf('globex'), await freePort()]
  const url = `http://127.0.0.1:${port}`
  const load = (
    { tenant, key }: { tenant: string; key: string },
    more: Pick<TenantLoad, 'bytes' | 'types' | 'ratePerSecond' | 'elsewhere'>,
  ) => {
    const { seconds } = plan
    const argument: TenantLoad = { url, key, tenant, seconds, ...more }
    return runScript<Record<string, number>>('test/bench/tenant-load-process.ts', { argument })
  }
  const watched = { bytes: BYTES, types: ['globex/sink'], ratePerSecond: plan.ratePerSecond }
  const rounds: Part[][] = []
  try {
    for (const tenant of ['acme', 'globex']) await addTenant(pool, tenant)
    await system.start('auditor')
    if (redisUrl !== undefined) await system.start('relay')
    await system.start('receiver')
    const BATON_API_KEYS = [acme, globex].map(({ entry }) => entry).join(',')
    await system.start('gateway', { BATON_API_KEYS, BATON_GATEWAY_PORT: String(port) })
    await load({ tenant: 'globex', ...globex }, watched)
    for (let round = 0; round < plan.rounds; round += 1) rounds.push(await runRound())
    return overRounds(rounds)
  } finally {
    await pool.end()
    await system.stop()
  }

  async function runRound(): Promise<Part[]> {
    const parts: Part[] = []
    for (const [name, flood] of Object.entries(FLOODS)) {
      const since = new Date()
      const [own, other] = await Promise.all([
        load({ tenant: 'globex', ...globex }, watched),
        flood === undefined ? {} : load({ tenant: 'acme', ...acme }, { ...flood, elsewhere: true }),
      ])
      const acceptMs = await acceptedSince(pool, since)
      const timesQuiet = acceptMs.p99 / (parts[0]?.acceptMs.p99 ?? acceptMs.p99)
      parts.push({ name, acceptMs, timesQuiet, roundsQuiet: [timesQuiet], watched: own, other })
      const { p50, p99, max } = acceptMs
      say(
        `${name}: p50 ${p50}, p99 ${p99}, max ${max} ms, ${timesQuiet.toFixed(2)} times quiet; it was answered ${JSON.stringify(own)}, the other ${JSON.stringify(other)}`,
      )
    }
    return parts
  }
}

/** Of each part the round in the middle. */
function overRounds(rounds: readonly (readonly Part[])[]): readonly Part[] {
  return Object.keys(FLOODS).flatMap((name, part) => {
    const all = rounds.flatMap((round) => round[part] ?? [])
    const inOrder = all.toSorted((one, other) => one.timesQuiet - other.timesQuiet)
    const roundsQuiet = all.map(({ timesQuiet }) => timesQuiet)
    const middle = inOrder[Math.floor(inOrder.length / 2)]
    return middle === undefined ? [] : [{ ...middle, name, roundsQuiet }]
  })
}

const saidOf = (rounds: readonly number[]): string =>
  rounds.length < 2 ? '' : ` (rounds: ${rounds.map((times) => times.toFixed(2)).join(', ')})`

function record(parts: readonly Part[]): void {
  recordMeasurements(
    parts.map(({ name, acceptMs: { p50, p99, max }, timesQuiet, roundsQuiet }) => ({
      what: `tenants: dispatch to accept of one, the other ${name === 'quiet' ? 'quiet' : name}`,
      figures: `p50 ${p50}, p99 ${p99}, max ${max} ms; ${timesQuiet.toFixed(2)} times quiet${saidOf(roundsQuiet)}`,
      promised: name === 'quiet' ? '' : `p99 at most ${TIMES_MAX} times quiet`,
    })),
  )
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const plan = {
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    ratePerSecond: Number(values.rate),
  }
  await withOwnServers(!values['no-redis'], async (servers) => {
    const parts = await run(plan, servers)
    record(parts)
    if (values.json) process.stdout.write(`${JSON.stringify({ ...plan, parts })}\n`)
    if (parts.some(({ timesQuiet }) => !(timesQuiet <= TIMES_MAX))) process.exitCode = 1
  })
}

await main()

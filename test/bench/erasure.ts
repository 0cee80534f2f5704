// `npm run bench -- erasure`: how long it takes to erase a person out of so many tasks, and to export the evidence of them.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { createApiKey } from '@baton/gateway'
import { createSender, parseSigningKeys } from '@baton/sdk'
import type { Sender } from '@baton/sdk'
import { createPool } from '@baton/store'
import type { Pool } from '@baton/store'
import { createSystem, eventually, fetchSigned, startOwnPostgres } from '@baton/testkit'
import type { ServiceProcess, System } from '@baton/testkit'
import { CHAIN_HOPS } from './graph-agents.ts'
import { stateOf } from './message.ts'
import { MACHINE, recordMeasurements } from './results.ts'
import type { Measurement } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- erasure [options]
  --tasks N,M    how many tasks tell of each person (1,10,100,1000), each of three handoffs
  --people N     people who are erased for each number of tasks (5)
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  tasks: { type: 'string', default: '1,10,100,1000' },
  people: { type: 'string', default: '5' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const HOPS = 3
const FIRST = `link-${CHAIN_HOPS - HOPS}`
const BYTES = 4_096
const EVIDENCE_TOKEN = 'bench-evidence-token-of-24-characters'
const ENDS_MAX_MS = 600_000
const ASK_MAX_MS = 600_000

/** What the source states of its users (section 16), and the duty of its section 12.1. */
const ERASED_WITHIN_S = 4 * 3_600
const TRACED_WITHIN_S = 30
const DUTY_WITHIN_S = 72 * 3_600

const keyOf = (operator: string) =>
  createApiKey({ scopes: 'handoffs:read+erasures:plan+erasures:approve', operator })
const PEOPLE = { ann: keyOf('ann'), bob: keyOf('bob') }

const say = (text: string): void => void process.stderr.write(`${text}\n`)

interface World {
  readonly system: System
  readonly gatewayUrl: string
  readonly pool: Pool
  readonly sender: Sender
}

/** A person of whom tasks tell, all of them ended and recorded. */
interface Person {
  readonly subject: string
  readonly taskIds: readonly string[]
}

async function openWorld(adminUrl: string, folder: string): Promise<World> {
  const system = await createSystem({
    purpose: 'bench',
    adminUrl,
    agents: './test/bench/graph-agents.ts',
    ledgerFolder: folder,
    env: {
      BATON_LOG_LEVEL: 'info',
      BATON_GATEWAY_PORT: '0',
      BATON_API_KEYS: Object.values(PEOPLE)
        .map(({ entry }) => entry)
        .join(','),
    },
    envOf: { auditor: { BATON_AUDIT_EVIDENCE_TOKEN: EVIDENCE_TOKEN } },
  })
  await system.start('auditor')
  await system.start('witness')
  await system.start('sealer')
  await system.start('receiver')
  const gatewayUrl = urlOf(await system.start('gateway'))
  const pool = createPool({ url: system.databaseUrl, applicationName: 'bench', connectionsMax: 2 })
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const sender = createSender({ databaseUrl: system.databaseUrl, keyRing })
  return { system, gatewayUrl, pool, sender }
}

const urlOf = (gateway: ServiceProcess): string =>
  /"url":"(http:\/\/127\.0\.0\.1:\d+)"/.exec(gateway.output())?.[1] ?? ''

/** Sends what tells of a person, and waits until all of it has ended and stands in the log. */
async function tellOf({ sender, pool }: World, subject: string, tasks: number): Promise<Person> {
  const payload = { '/currentState/name': { subject, value: `the name of ${subject}` } }
  const personalData = { dataSubjects: [subject], payload }
  const sent = await Promise.all(
    Array.from({ length: tasks }, (_, nth) =>
      sender.send({ ...stateOf(BYTES, nth + 1), personalData }, FIRST),
    ),
  )
  const taskIds = sent.map(({ taskId }) => taskId)
  const text = `select count(*)::int as open from task t where t.id = any($1::uuid[]) and (t.status <> 'COMPLETED'
    or exists (select from handoff h join audit_outbox o on o.handoff_id = h.id where h.task_id = t.id))`
  await eventually(
    async () => {
      const { rows } = await pool.query<{ open: number }>({ text, values: [taskIds] })
      return rows[0]?.open === 0
    },
    { deadlineMs: ENDS_MAX_MS, describe: `everything about ${subject} is recorded` },
  )
  return { subject, taskIds }
}

async function ask<Answer>(
  { gatewayUrl }: World,
  who: keyof typeof PEOPLE,
  { path, body }: { readonly path: string; readonly body: object },
): Promise<Answer> {
  const response = await fetchSigned(gatewayUrl + path, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${PEOPLE[who].key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(ASK_MAX_MS),
  })
  if (response.ok) return (await response.json()) as Answer
  throw new Error(`${path}: ${response.status} ${await response.text()}`)
}

/** Milliseconds from the plan to the receipt: both people act at once. */
async function erase(world: World, { subject }: Person): Promise<number> {
  const startedAt = performance.now()
  const { erasureId } = await ask<{ erasureId: string }>(world, 'ann', {
    path: '/v2/erasures',
    body: { subject },
  })
  await ask(world, 'bob', { path: `/v2/erasures/${erasureId}/confirm`, body: { subject } })
  return performance.now() - startedAt
}

/** Of a person of whom more tasks tell, so many are exported. */
const EXPORTS_MAX = 100

/** Milliseconds of each export, one after another; the first of them waits until the newest records are sealed. */
async function exportEach({ system }: World, { taskIds }: Person): Promise<readonly number[]> {
  const times: number[] = []
  for (const taskId of taskIds.slice(0, EXPORTS_MAX)) {
    const startedAt = performance.now()
    const response = await fetch(`${system.auditorUrl}/v1/evidence/${taskId}`, {
      headers: { authorization: `Bearer ${EVIDENCE_TOKEN}` },
      signal: AbortSignal.timeout(ASK_MAX_MS),
    })
    const { byteLength } = await response.arrayBuffer()
    if (!response.ok || byteLength === 0) throw new Error(`evidence: ${response.status}`)
    times.push(performance.now() - startedAt)
  }
  return times
}

interface Measured {
  readonly tasks: number
  readonly eraseMs: Spread
  readonly exportMs: Spread
  /** Of the evidence of all tasks of a person, or of as many as are exported, one after another. */
  readonly exportAllMs: Spread
}

async function measure(world: World, tasks: number, people: number): Promise<Measured> {
  const erased: number[] = []
  const exported: number[] = []
  const all: number[] = []
  for (let nth = 0; nth < people; nth += 1) {
    const person = await tellOf(world, `person-${tasks}-${nth}`, tasks)
    const times = await exportEach(world, person)
    exported.push(...times)
    all.push(times.reduce((sum, ms) => sum + ms, 0))
    erased.push(await erase(world, person))
    say(
      `  ${tasks} tasks: person ${nth + 1} of ${people}, erased in ${Math.round(erased.at(-1) ?? 0)} ms`,
    )
  }
  return {
    tasks,
    eraseMs: spreadOf(erased),
    exportMs: spreadOf(exported),
    exportAllMs: spreadOf(all),
  }
}

const figuresOf = ({ p50, p95, max }: Spread): string => `p50 ${p50}, p95 ${p95}, max ${max} ms`

const rowsOf = ({ tasks, eraseMs, exportMs, exportAllMs }: Measured): readonly Measurement[] => [
  {
    what: `erasure of a person out of ${tasks} tasks of ${HOPS} handoffs, plan to receipt`,
    figures: figuresOf(eraseMs),
    promised: `${ERASED_WITHIN_S / 3_600} h`,
  },
  {
    what: `evidence of one task of ${HOPS} handoffs, of people with ${tasks}`,
    figures: figuresOf(exportMs),
    promised: `${TRACED_WITHIN_S} s`,
  },
  {
    what: `evidence of ${Math.min(tasks, EXPORTS_MAX)} of ${tasks} tasks of a person, one after another`,
    figures: figuresOf(exportAllMs),
    promised: `${DUTY_WITHIN_S / 3_600} h`,
  },
]

const keepsBars = ({ eraseMs, exportMs, exportAllMs }: Measured): boolean =>
  eraseMs.max <= ERASED_WITHIN_S * 1_000 &&
  exportMs.max <= TRACED_WITHIN_S * 1_000 &&
  exportAllMs.max <= DUTY_WITHIN_S * 1_000

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const postgres = await startOwnPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  try {
    const world = await openWorld(postgres.superuserUrl, folder)
    const measured: Measured[] = []
    try {
      for (const tasks of values.tasks.split(',').map(Number))
        measured.push(await measure(world, tasks, Number(values.people)))
    } finally {
      await world.sender.close()
      await world.pool.end()
      await world.system.stop()
    }
    const rows = measured.flatMap(rowsOf)
    say(`\n${MACHINE}; fsync on; ${values.people} people for each number of tasks`)
    for (const { what, figures, promised } of rows) say(`  ${what}: ${figures} (bar ${promised})`)
    recordMeasurements(rows)
    if (values.json) process.stdout.write(`${JSON.stringify({ machine: MACHINE, measured })}\n`)
    if (!measured.every(keepsBars)) process.exitCode = 1
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

await main()

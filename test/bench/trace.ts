// `npm run bench -- trace`: how long a ten-hop trace takes out of a large log, hot and cold, with every record and its end proven.
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import {
  archiveLog,
  createPool,
  extendTaskMap,
  migrateAudit,
  openColdStore,
  openLogArchive,
  readHeads,
  readTrace,
} from '@baton/audit'
import type { ColdStore, CoveredSizes, Pool } from '@baton/audit'
import { createBatchSigner, formatInstant, toBase64 } from '@baton/ledger'
import { startOwnPostgres } from '@baton/testkit'
import { fillLog, HOPS, SHARDS } from './fill-log.ts'
import { dropDays } from './log-tables.ts'
import { MACHINE, recordMeasurements } from './results.ts'
import { spreadOf } from './statistics.ts'
import type { Spread } from './statistics.ts'

const HELP = `npm run bench -- trace [options]
  --records N    records in the log (1000000); ten million take some minutes to fill in
  --cold-days N  of its 30 days, this many are archived and dropped (3)
  --traces N     traces measured out of each tier (1000)
  --json         one JSON object as the last line of stdout`

const OPTIONS = {
  records: { type: 'string', default: '1000000' },
  'cold-days': { type: 'string', default: '3' },
  traces: { type: 'string', default: '1000' },
  json: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

const LOAD_MS = 3_600_000
const HOT_GOAL_MS = 50
const COLD_GOAL_MS = 2_000
const PASSWORDS = { writer: 'w', reader: 'r', vault: 'v', sealer: 's', archiver: 'a' }

const say = (text: string): void => void process.stderr.write(`${text}\n`)

interface Plan {
  readonly adminUrl: string
  readonly folder: string
  readonly records: number
  readonly coldDays: number
  readonly traces: number
}

type Filled = Awaited<ReturnType<typeof fillLog>>

async function fill(pool: Pool, { records, coldDays }: Plan): Promise<Filled> {
  const startedAt = performance.now()
  const { rows } = await pool.query<{ origin: string }>({
    text: 'select origin from audit.head order by chain',
  })
  const pkcs8 = generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' })
  let shown = 0
  const filled = await fillLog({
    pool,
    origins: rows.map(({ origin }) => origin),
    signer: createBatchSigner(pkcs8.toString('base64')),
    records,
    coldDays,
    onProgress(made) {
      if (made - shown < records / 20) return
      shown = made
      const seconds = (performance.now() - startedAt) / 1_000
      say(`  ${made} of ${records} records, ${Math.round(made / seconds)}/s`)
    },
  })
  say(`  filled and indexed in ${Math.round((performance.now() - startedAt) / 1_000)} s`)
  return filled
}

/** Archives the first days of each chain and drops them, as the archiver does over weeks. */
async function makeCold(
  pools: { readonly superuser: Pool; readonly archiver: Pool; readonly store: ColdStore },
  { chains, firstDay }: Filled,
  coldDays: number,
): Promise<void> {
  const { superuser, archiver, store } = pools
  const startedAt = performance.now()
  let archived = 0
  for (const { chain, origin, sealed, coldRecords } of chains) {
    if (sealed === undefined) throw new Error('too few records for the cold days; give more')
    await superuser.query({
      text: 'insert into audit.chain_checkpoint (chain, size, note) values ($1, $2, $3)',
      values: [chain, sealed.size, 'bench'],
    })
    const archive = await openLogArchive({ store, origin, size: 0 })
    const findings = await archiveLog({
      pool: archiver,
      log: { log: chain, origin },
      archive,
      target: sealed,
      withTail: false,
      onArchived: (records) => (archived += records),
      isStopped: () => false,
    })
    if (findings.length > 0) throw new Error(JSON.stringify(findings))
    await superuser.query({
      text: 'update audit.archive set hot_from = $2 where log = $1',
      values: [chain, coldRecords],
    })
  }
  await dropDays(superuser, firstDay, coldDays)
  const seconds = (performance.now() - startedAt) / 1_000
  say(`  archived ${archived} records, ${Math.round(archived / seconds)}/s`)
}

/** What a seal over the whole log says, as if somebody outside had seen it. Makes the map of tasks from the first record on. */
async function sealAll(
  { sealer, reader }: { readonly sealer: Pool; readonly reader: Pool },
  { chains }: Filled,
): Promise<CoveredSizes> {
  const startedAt = performance.now()
  const parts = chains.map(({ chain, origin, tree }) => ({ chain, origin, tree: tree.state() }))
  const made = await extendTaskMap({
    pool: sealer,
    cold: undefined,
    from: undefined,
    to: { seals: 1, chains: parts },
  })
  if (made.kind !== 'extended') throw new Error(`no map of tasks: ${JSON.stringify(made)}`)
  const seconds = (performance.now() - startedAt) / 1_000
  const records = chains.reduce((sum, { size }) => sum + size, 0)
  say(
    `  map of ${made.tasks} ends made in ${Math.round(seconds)} s, ${Math.round(records / seconds)} records/s`,
  )
  const heads = chains.map(({ chain, size, tree }) => {
    return [chain, { size, root: toBase64(tree.root()) }] as const
  })
  return {
    heads: await readHeads(reader),
    sealed: new Map(heads),
    witnessed: new Map(heads),
    witnessedSeals: 2,
    seenBy: 'witnesses',
    seenSeals: 2,
    newestSeal: {
      size: 2,
      root: made.root,
      at: formatInstant(Date.now() * 1_000),
      heads: new Map(heads),
    },
    taskMaps: [
      {
        proof: 'witnessed',
        until: formatInstant(Date.now() * 1_000),
        root: made.root,
        seals: 1,
        isCut: false,
        sizes: new Map(chains.map(({ chain, size }) => [chain, size])),
      },
    ],
  }
}

interface Measured {
  readonly covered: CoveredSizes
  readonly pool: Pool
  readonly store: ColdStore
  readonly tasks: readonly string[]
  readonly tier: 'hot' | 'cold'
}

async function measure(
  { pool, store, tasks, tier, covered }: Measured,
  traces: number,
): Promise<Spread> {
  const times: number[] = []
  for (let at = 0; at < traces; at += 1) {
    const taskId = tasks[(at * 7_919) % tasks.length] ?? ''
    const startedAt = performance.now()
    const trace = await readTrace(pool, taskId, { covered, cold: store })
    times.push(performance.now() - startedAt)
    const isProven = trace.ends[0]?.records === HOPS
    const isWhole = trace.verified && trace.records.length === HOPS && isProven
    if (!isWhole || trace.records[0]?.tier !== tier) {
      throw new Error(`a ${tier} trace is not whole: ${JSON.stringify(trace.findings)}`)
    }
  }
  return spreadOf(times)
}

async function run(plan: Plan) {
  const { urls } = await migrateAudit(plan.adminUrl, {
    passwords: PASSWORDS,
    log: { shards: SHARDS },
  })
  const admin = new URL(plan.adminUrl)
  admin.pathname = '/baton_audit'
  const open = (url: string) =>
    createPool({ url, applicationName: 'bench', connectionsMax: 2, statementMs: LOAD_MS })
  const [superuser, archiver, sealer, reader] = [
    admin.href,
    urls.archiver,
    urls.sealer,
    urls.reader,
  ].map(open) as [Pool, Pool, Pool, Pool]
  const store = openColdStore({
    BATON_COLD_FOLDER: join(plan.folder, 'cold'),
    BATON_COLD_S3_BUCKET: undefined,
    BATON_COLD_S3_REGION: '',
    BATON_COLD_S3_ENDPOINT: undefined,
    BATON_COLD_S3_LOCK_DAYS: 0,
  }) as ColdStore
  try {
    const filled = await fill(superuser, plan)
    const covered = await sealAll({ sealer, reader }, filled)
    await makeCold({ superuser, archiver, store }, filled, plan.coldDays)
    const { coldTasks, hotTasks } = filled
    const common = { pool: reader, store, covered }
    return {
      machine: MACHINE,
      records: plan.records,
      hops: HOPS,
      hotMs: await measure({ ...common, tasks: hotTasks, tier: 'hot' }, plan.traces),
      coldMs: await measure({ ...common, tasks: coldTasks, tier: 'cold' }, plan.traces),
    }
  } finally {
    await Promise.all([superuser, archiver, sealer, reader].map((pool) => pool.end()))
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({ options: OPTIONS, args: process.argv.slice(3) })
  if (values.help) return say(HELP)
  const postgres = await startOwnPostgres()
  const folder = await mkdtemp(join(tmpdir(), 'baton-bench-'))
  try {
    const report = await run({
      adminUrl: postgres.superuserUrl,
      folder,
      records: Number(values.records),
      coldDays: Number(values['cold-days']),
      traces: Number(values.traces),
    })
    say(`\n${report.machine}; fsync on; ${report.records} records, ${HOPS} hops a trace`)
    for (const [tier, spread, goal] of [
      ['hot ', report.hotMs, HOT_GOAL_MS],
      ['cold', report.coldMs, COLD_GOAL_MS],
    ] as const) {
      const { p50, p95, p99, max } = spread
      say(`  ${tier}  p50 ${p50}  p95 ${p95}  p99 ${p99}  max ${max} ms (promised p99 ${goal} ms)`)
      if (p99 > goal) process.exitCode = 1
    }
    recordMeasurements(
      (
        [
          ['hot', report.hotMs, HOT_GOAL_MS],
          ['cold', report.coldMs, COLD_GOAL_MS],
        ] as const
      ).map(([tier, { p50, p95, p99, max }, goal]) => ({
        what: `trace of ${HOPS} hops out of ${report.records} records, ${tier}`,
        figures: `p50 ${p50}, p95 ${p95}, p99 ${p99}, max ${max} ms`,
        promised: `p99 ${goal} ms`,
      })),
    )
    if (values.json) process.stdout.write(`${JSON.stringify(report)}\n`)
  } finally {
    await postgres.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

await main()

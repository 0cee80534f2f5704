// Instances that earlier versions made are taken over by this one: migrated to what a new one has, verified, and their unfinished work ended.
import { globSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import {
  createPool as createAuditPool,
  migrateAudit,
  readFileAnchor,
  sealLogKeys,
  verifyChains,
} from '@baton/audit'
import type { AuditUrls, VerifyReport } from '@baton/audit'
import { batchKeyId, readBatchPublicKey } from '@baton/ledger'
import { withAdmin } from '@baton/postgres'
import { createLogger } from '@baton/runtime'
import { createWorker, parseSigningKeys } from '@baton/sdk'
import { migrateStore } from '@baton/store'
import {
  acquirePostgres,
  createAuditDatabases,
  createStoreDatabase,
  createSystem,
  eventually,
  isLong,
  PASSWORDS,
  PEOPLE,
  STORE_PASSWORDS,
  uniqueDatabaseName,
} from '@baton/testkit'
import type { System } from '@baton/testkit'
import { createInProcessTransport } from '@baton/transport'
import { agents } from '../upgrade/agents.ts'
import { describeDatabase } from '../upgrade/catalog.ts'
import { DUMPS, readDump, restoreDatabase, SCHEMA_NAMES, urlOf } from '../upgrade/dump.ts'
import type { Dump, SchemaName } from '../upgrade/dump.ts'

const END_MAX_MS = 30_000
const { app: _app, gateway: _gateway, delivery: _delivery, ...passwords } = PASSWORDS

type Names = Readonly<Record<SchemaName, string>>

let adminUrl = ''
const fresh = {
  store: uniqueDatabaseName('fresh'),
  audit: uniqueDatabaseName('fresh'),
  vault: uniqueDatabaseName('fresh'),
}

interface Taken {
  readonly commit: string
  readonly dump: Dump
  readonly names: Names
  readonly system: System
  readonly folder: string
}

/** Whoever migrates from the oldest passes through all; the newest is what most will come from. The others are for long runs. */
const OLDEST_AND_NEWEST = ['a3fdb770', 'e3723204']
const all = globSync('*.json.gz', { cwd: DUMPS }).map((file) => basename(file, '.json.gz'))
const commits = isLong ? all : all.filter((commit) => OLDEST_AND_NEWEST.includes(commit))
const taken = new Map<string, Promise<Taken>>()

beforeAll(async () => {
  adminUrl = (await acquirePostgres()).adminUrl
  await Promise.all([
    createStoreDatabase(adminUrl, fresh.store),
    createAuditDatabases(adminUrl, fresh),
  ])
})
afterAll(async () => {
  for (const { system, folder } of await Promise.all(taken.values())) {
    await system.stop()
    await rm(folder, { recursive: true })
  }
})

/** They wait for servers and processes much of the time, so they are taken over side by side. */
describe.concurrent.each(commits.toSorted())('an instance that %s made', (commit) => {
  it('has the schema and the rights of a new one, and a log that verifies with the seals of then', async ({
    expect,
  }) => {
    const { names, ...own } = await takeOver(commit)
    for (const schema of SCHEMA_NAMES) {
      const [migrated, made] = [await linesOf(names[schema]), await linesOf(fresh[schema])]
      expect(migrated.filter((line) => !made.includes(line))).toEqual([])
      expect(made.filter((line) => !migrated.includes(line))).toEqual([])
    }
    const { ok, findings, records, compared } = await verify(own)
    expect(findings).toEqual([])
    expect(compared.map(({ name, outcome }) => `${name} ${outcome}`)).toContain('file agreed')
    expect(ok).toBe(true)
    expect(records).toBeGreaterThan(0)
  })

  it('ends what was unfinished then, and keeps what had ended', async ({ expect }) => {
    const { dump, system, folder } = await takeOver(commit)
    await system.start('auditor', dump.keys.auditor)
    const { completed, deadLettered, waiting, interrupted } = dump.tasks
    const worker = startWorker(system, dump)
    await worker.start()
    const ended = [...completed, waiting, interrupted]
    const states = () => statesOf(system, [...ended, deadLettered])
    await eventually(
      async () => (await states()).filter((state) => state === 'COMPLETED').length === ended.length,
      { deadlineMs: END_MAX_MS, describe: () => worker.log() },
    )
    expect((await states()).at(-1)).not.toBe('COMPLETED')
    await worker.stop()
    const { findings } = await verify({ dump, system, folder })
    expect(findings).toEqual([])
  })
})

/** Once for each, whichever test asks first. */
function takeOver(commit: string): Promise<Taken> {
  const known = taken.get(commit) ?? migrateDump(commit)
  taken.set(commit, known)
  return known
}

async function migrateDump(commit: string): Promise<Taken> {
  const dump = await readDump(join(DUMPS, `${commit}.json.gz`))
  const folder = await mkdtemp(join(tmpdir(), 'baton-earlier-'))
  await writeFile(join(folder, 'anchor.jsonl'), dump.anchor)
  let names: Names = { store: '', audit: '', vault: '' }
  const system = await createSystem({
    purpose: 'earlier',
    adminUrl,
    agents: 'none',
    env: { BATON_SIGNING_KEYS: dump.keys.signingKeys },
    migrate: (databases) => {
      names = databases
      return migrated(dump, databases)
    },
  })
  return { commit, dump, names, system, folder }
}

/** What an operator does: the databases are there as they were, then this version migrates them. */
async function migrated({ databases }: Dump, names: Names): Promise<AuditUrls> {
  const restored = SCHEMA_NAMES.map((schema) =>
    restoreDatabase(adminUrl, { schema, database: names[schema], dump: databases[schema] }),
  )
  await Promise.all(restored)
  await migrateStore({ adminUrl, database: names.store, ...STORE_PASSWORDS })
  const { audit, vault } = names
  return (await migrateAudit(adminUrl, { passwords, databases: { audit, vault } })).urls
}

async function linesOf(database: string): Promise<readonly string[]> {
  let lines: readonly string[] = []
  await withAdmin(urlOf(adminUrl, database), async (admin) => {
    lines = await describeDatabase(admin)
  })
  return lines
}

async function verify({
  dump,
  system,
  folder,
}: Omit<Taken, 'commit' | 'names'>): Promise<VerifyReport> {
  const pool = createAuditPool({ url: system.auditUrls.reader, applicationName: 'test' })
  const batch = readBatchPublicKey(dump.keys.batch)
  const publicKey = readBatchPublicKey(dump.keys.seal)
  const anchor = readFileAnchor(join(folder, 'anchor.jsonl'), sealLogKeys(pool, publicKey))
  try {
    return await verifyChains({
      pool,
      batchKeys: new Map([[batchKeyId(batch), batch]]),
      people: PEOPLE.people,
      seals: { publicKey, anchors: [anchor] },
    })
  } finally {
    await pool.end()
  }
}

function startWorker(system: System, dump: Dump) {
  const lines: string[] = []
  const destination = { write: (line: string) => void lines.push(line) }
  const logger = createLogger({ service: 'worker', level: 'info', destination })
  const transport = createInProcessTransport({ logger })
  const worker = createWorker({
    agents,
    databaseUrl: system.deliveryUrl,
    keyRing: parseSigningKeys(dump.keys.signingKeys),
    people: PEOPLE.people,
    audit: { url: system.auditorUrl, token: system.tokens.append },
    transport,
    backoff: { baseMs: 5, capMs: 20 },
    undeliveredMs: 500,
    logger,
  })
  return {
    start: () => worker.start(),
    stop: async () => {
      await worker.stop()
      await transport.close()
    },
    log: () => lines.join(''),
  }
}

/** In the order of the ids. */
async function statesOf(system: System, tasks: readonly string[]): Promise<readonly string[]> {
  let states: readonly string[] = []
  await withAdmin(system.adminUrls.store, async (admin) => {
    const text =
      'select status from unnest($1::uuid[]) with ordinality t (id, place) join task using (id) order by place'
    states = (await admin.query<{ status: string }>(text, [tasks])).rows.map(({ status }) => status)
  })
  return states
}

// A log with days in the past, a sealer, an archiver and a cold store on disk; everything real but the clock.
import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { rename, writeFile } from 'node:fs/promises'
import type { KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  createAuditLog,
  createPool,
  createSubjectVault,
  findHeldTasks,
  isRetentionOver,
  openColdStore,
  readArchivePositions,
  readCoveredSizes,
  verifyChains,
} from '@baton/audit'
import { createAuditClient } from '@baton/audit/client'
import type { ColdStore, Pool, SubjectVault, VerifyReport } from '@baton/audit'
import { batchKeyId, createBatchSigner } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import { eventually, PEOPLE, spawnService } from '@baton/testkit'
import type { ServiceProcess } from '@baton/testkit'
import { ARCHIVE_TOKEN, createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture } from './audit-fixture.ts'
import { createSealing, taskOfShard } from './audit-seals-fixture.ts'
import type { Sealing } from './audit-seals-fixture.ts'

const DAY_MS = 86_400_000
const BATCH_RECORDS = 200

export interface Tiers {
  readonly fixture: AuditFixture
  readonly sealing: Sealing
  readonly folder: string
  readonly cold: ColdStore
  readonly archiverPool: Pool
  readonly vault: SubjectVault
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** The sealer's. */
  readonly sealKey: KeyObject
  readonly auditorUrl: string
  readonly sealer: ServiceProcess
  /** As the archiver asks before records expire. */
  heldAmong(taskIds: readonly string[]): Promise<readonly string[]>
  /** As the archiver asks about chain 0. */
  isOldEnough(toIndex: number, bundle: readonly Uint8Array[]): Promise<boolean>
  /** Appends one entry through the auditor. */
  record(entry: AuditEntry): Promise<void>
  /** Appends handoffs of one task per entry, as if it were `daysAgo`; answers the entries. */
  append(daysAgo: number, count: number, changes?: Partial<AuditEntry>): Promise<AuditEntry[]>
  startArchiver(env?: Record<string, string>): Promise<ServiceProcess>
  /** Runs the archiver's `mend` to its end. */
  mend(): Promise<{ readonly code: number; readonly output: string }>
  /** Waits until the archive of chain 0 has got as far as `done` wants. */
  archived(
    done: (position: { size: number; tail: number; hotFrom: number }) => boolean,
  ): Promise<void>
  verify(cold?: ColdStore): Promise<VerifyReport>
  close(): Promise<void>
}

const dayName = (daysAgo: number): string =>
  new Date(Date.now() - daysAgo * DAY_MS).toISOString().slice(0, 10)

/** Before the oldest records of any test. */
const LOG_BEGAN_DAYS_AGO = 500
const MOVING_CLOCK = fileURLToPath(new URL('moving-clock.mjs', import.meta.url))

/** `isAged`: the log is as old as its records; each append is sealed on its day, in the order of the days. */
export async function createTiers(shards = 1, { isAged = false } = {}): Promise<Tiers> {
  const fixture = await createAuditFixture(shards)
  const sealing = await createSealing(fixture)
  const auditor = await fixture.startAuditor()
  const clock = join(sealing.folder, 'sealer.clock')
  // Whole or not at all: an empty file, read in between, would seal old records as of today.
  const setSealersClock = async (daysAgo: number) => {
    if (!isAged) return
    await writeFile(`${clock}.new`, String(-daysAgo * DAY_MS))
    await rename(`${clock}.new`, clock)
  }
  await setSealersClock(LOG_BEGAN_DAYS_AGO)
  const sealer = await sealing.startSealer(
    isAged ? { NODE_OPTIONS: `--import ${MOVING_CLOCK}`, BATON_TEST_CLOCK_FILE: clock } : {},
  )
  const folder = join(sealing.folder, 'cold')
  const cold = openColdStore(coldSettings(folder)) as ColdStore
  const open = (url: string) => createPool({ url, applicationName: 'test', connectionsMax: 2 })
  const [writer, keeper, archiverPool] = [
    fixture.urls.writer,
    fixture.urls.vault,
    fixture.urls.archiver,
  ].map(open) as [Pool, Pool, Pool]
  const vault = createSubjectVault({ db: keeper, ...fixture.vaultKeys })
  const signer = createBatchSigner(fixture.signingKey)
  const sealKey = createBatchSigner(sealing.sealKey).publicKey
  const batchKeys = new Map([[batchKeyId(signer.publicKey), signer.publicKey]])
  const running: ServiceProcess[] = []
  const { url } = auditor
  const archiverClient = createAuditClient({ url, token: ARCHIVE_TOKEN, timeoutMs: 10_000 })
  return {
    fixture,
    sealing,
    folder,
    cold,
    archiverPool,
    vault,
    batchKeys,
    sealKey,
    auditorUrl: auditor.url,
    sealer,
    async heldAmong(taskIds) {
      const covered = await readCoveredSizes(archiverPool, sealKey)
      const reading = { reader: archiverPool, cold, covered, sealAgeMaxMs: 90_000 }
      const { held, unproven } = await findHeldTasks(reading, taskIds)
      return [...held, ...unproven.map(({ taskId }) => taskId)]
    },
    async isOldEnough(toIndex, bundle) {
      const covered = await readCoveredSizes(archiverPool, sealKey)
      const origin = covered.heads[0]?.origin ?? ''
      const expiring = { chain: 0, origin, toIndex, bundle }
      return isRetentionOver(archiverPool, { covered, cold }, expiring)
    },
    record: async (entry) => void (await archiverClient.append([entry])),
    async append(daysAgo, count, changes = {}) {
      await ensurePartition(fixture, daysAgo)
      await setSealersClock(daysAgo)
      const nowMicros = () => (Date.now() - daysAgo * DAY_MS) * 1_000
      const log = createAuditLog({ db: writer, vault, signer, environment: 'test', nowMicros })
      const entries = Array.from({ length: count }, () =>
        entryOf({ taskId: taskOfShard(0, shards), handoffId: randomUUID(), ...changes }),
      )
      for (let at = 0; at < count; at += BATCH_RECORDS) {
        await log.append(entries.slice(at, at + BATCH_RECORDS))
      }
      if (isAged && daysAgo > 0) await sealing.sealed()
      return entries
    },
    async startArchiver(env = {}) {
      const archiver = await spawnService({
        main: 'services/archiver/src/main.ts',
        env: { ...archiverEnvironment({ fixture, sealing, folder, url: auditor.url }), ...env },
        ...(env['BATON_TEST_READY'] === 'false' ? { ready: false as const } : {}),
      })
      running.push(archiver)
      return archiver
    },
    async mend() {
      const env = { ...process.env, ...archiverEnvironment({ fixture, sealing, folder, url }) }
      const child = spawn(process.execPath, ['services/archiver/src/main.ts', 'mend'], { env })
      let output = ''
      child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()))
      child.stderr.on('data', (bytes: Buffer) => (output += bytes.toString()))
      const [code] = (await once(child, 'close')) as [number]
      return { code, output }
    },
    async archived(done) {
      await eventually(
        async () => {
          const position = (await readArchivePositions(fixture.reader)).get(0)
          return position !== undefined && done(position)
        },
        { deadlineMs: 20_000, describe: () => running.map((one) => one.output()).join('\n') },
      )
    },
    verify: (store = cold) =>
      verifyChains({
        pool: fixture.reader,
        vault,
        cold: store,
        batchKeys,
        people: PEOPLE.people,
        seals: { publicKey: sealKey, anchors: [] },
      }),
    async close() {
      await Promise.all(running.map((one) => one.kill()))
      await Promise.all([writer, keeper, archiverPool].map((pool) => pool.end()))
      await sealing.close()
      await fixture.close()
    },
  }
}

const coldSettings = (folder: string): Parameters<typeof openColdStore>[0] => ({
  BATON_COLD_FOLDER: folder,
  BATON_COLD_S3_BUCKET: undefined,
  BATON_COLD_S3_REGION: 'us-east-1',
  BATON_COLD_S3_ENDPOINT: undefined,
  BATON_COLD_S3_LOCK_DAYS: 0,
})

interface Parts {
  readonly fixture: AuditFixture
  readonly sealing: Sealing
  readonly folder: string
  readonly url: string
}

const archiverEnvironment = ({ fixture, sealing, folder, url }: Parts) => ({
  BATON_AUDIT_ARCHIVER_URL: fixture.urls.archiver,
  BATON_SEAL_PUBLIC_KEY: sealing.publicKey,
  BATON_AUDIT_URL: url,
  BATON_AUDIT_ARCHIVE_TOKEN: ARCHIVE_TOKEN,
  BATON_COLD_FOLDER: folder,
  BATON_ARCHIVE_EVERY_MS: '50',
  BATON_ARCHIVE_RETENTION_EVERY_MS: '100',
  BATON_ARCHIVE_WATCH_EVERY_MS: '100',
  BATON_ARCHIVE_WATCH_BUNDLES_PER_SECOND: '100',
  BATON_AUDIT_HOT_DAYS: '30',
  BATON_AUDIT_DROP_WITNESSED: 'false',
})

/** Days before yesterday have no partition unless somebody made it while it was their day. */
async function ensurePartition({ superuser }: AuditFixture, daysAgo: number): Promise<void> {
  const day = dayName(daysAgo)
  const name = day.replaceAll('-', '')
  for (const parent of ['record', 'payload']) {
    const partition = `audit.${parent}_${name}`
    await superuser.query({
      text: `do $$ begin if to_regclass('${partition}') is null then
        set local role audit_owner;
        create table ${partition} partition of audit.${parent}
          for values from ('${day} 00:00:00+00') to ('${dayName(daysAgo - 1)} 00:00:00+00');
        perform audit.guard('${partition}', '');
      end if; end $$`,
    })
  }
}

// One finished log in both tiers, of which every attack gets a copy of its own: databases, cold store and anchor.
import { randomUUID } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { cp, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import {
  createPool,
  createSubjectVault,
  openColdStore,
  readCoveredSizes,
  readHeads,
  sealerKey,
} from '@baton/audit'
import type { ColdStore, CoveredSizes, Pool, SubjectVault } from '@baton/audit'
import {
  formatVerifierKey,
  parseAuditorPolicy,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type { AuditorPolicy, Receipt } from '@baton/ledger'
import { eventually, uniqueDatabaseName } from '@baton/testkit'
import { entryOf, onDatabase } from './audit-fixture.ts'
import { taskOfShard } from './audit-seals-fixture.ts'
import { createTiers } from './audit-tiers-fixture.ts'

export interface AttackWorld {
  /** Tasks whose answers are known: all hot, all cold, in both tiers, held, never there. */
  readonly tasks: Readonly<Record<'hot' | 'cold' | 'both' | 'held' | 'absent', string>>
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly sealKey: KeyObject
  /** The keys of persons stand in another database, which is not attacked here. */
  readonly vault: SubjectVault
  /** What an auditor outside trusts. */
  readonly policy: AuditorPolicy
  /** What the operational database holds of the hot task. */
  readonly receipts: readonly Receipt[]
  /** How long the chains were before anybody attacked. */
  readonly heads: CoveredSizes['heads']
  copy(): Promise<AttackedLog>
  close(): Promise<void>
}

/** A copy that may be ruined. */
export interface AttackedLog {
  readonly superuser: Pool
  readonly reader: Pool
  readonly folder: string
  readonly anchorFile: string
  readonly coldFolder: string
  readonly cold: ColdStore
  close(): Promise<void>
}

const ROLES = 'audit_writer, audit_reader, audit_sealer, audit_archiver, audit_eraser'
const SHARDS = 2
const HOT_HANDOFFS = 3

export async function createAttackWorld(): Promise<AttackWorld> {
  const tiers = await createTiers(SHARDS)
  const { fixture, sealing, batchKeys, sealKey } = tiers
  const [cold, both, hot, held] = [0, 0, 0, 1].map((shard) => taskOfShard(shard, SHARDS)) as [
    string,
    string,
    string,
    string,
  ]
  await tiers.append(40, 3, { taskId: cold })
  await tiers.append(40, 2, { taskId: both })
  await tiers.append(40, 251)
  await tiers.append(1, 2, { taskId: both })
  const receipts: Receipt[] = []
  const auditor = await fixture.startAuditor({ BATON_SEAL_PUBLIC_KEY: sealing.publicKey })
  for (let count = 0; count < HOT_HANDOFFS; count += 1) {
    const handoffId = randomUUID()
    for (const event of ['HANDOFF_ACCEPTED', 'EXECUTION_COMPLETED'] as const) {
      const entry = entryOf({ taskId: hot, handoffId, event, parentHandoffId: null })
      receipts.push(...(await auditor.client.append([entry])))
    }
    for (const shard of [0, 1]) {
      await auditor.client.append([entryOf({ taskId: taskOfShard(shard, SHARDS) })])
    }
  }
  await auditor.client.append([entryOf({ taskId: held })])
  const act = { id: randomUUID(), actor: 'counsel' }
  const holding = { handoffId: act.id, act, verdicts: null, segments: [] }
  await tiers.append(0, 1, { taskId: held, event: 'LEGAL_HOLD_SET', ...holding })
  await auditor.client.append([entryOf({ taskId: taskOfShard(0, SHARDS) })])
  await sealing.sealed()
  const archiver = await tiers.startArchiver()
  await tiers.archived(({ size, hotFrom }) => size >= 256 && hotFrom > 0)
  await archiver.stop()
  await sealing.sealed()
  await tiers.sealer.stop()
  await eventually(
    async () => {
      const { taskMaps, heads } = await readCoveredSizes(fixture.reader, sealKey)
      return heads.every(({ chain, size }) => taskMaps[0]?.sizes.get(chain) === size)
    },
    { deadlineMs: 10_000, describe: () => 'the map of tasks is not at the end of the chains' },
  )
  const folder = await mkdtemp(join(tmpdir(), 'baton-attacks-'))
  await cp(sealing.folder, folder, { recursive: true })
  const heads = await readHeads(fixture.reader)
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const [template, admin] = [fixture.databases.audit, fixture.adminUrl]
  const readerUrl = fixture.urls.reader
  await tiers.close()
  const keeper = createPool({ url: fixture.urls.vault, applicationName: 'attacks' })
  const server = createPool({
    url: admin,
    applicationName: 'attacks',
    connectionsMax: 4,
    statementMs: 60_000,
  })
  const copies: string[] = []
  return {
    tasks: { hot, cold, both, held, absent: randomUUID() },
    batchKeys,
    sealKey,
    vault: createSubjectVault({ db: keeper, ...fixture.vaultKeys }),
    policy: policyOf(origin, { sealKey, batchKeys }),
    receipts,
    heads,
    async copy() {
      const database = uniqueDatabaseName('attacked')
      copies.push(database)
      const own = await mkdtemp(join(tmpdir(), 'baton-attacked-'))
      await cp(folder, own, { recursive: true })
      for (const text of [
        `create database ${database} template ${template}`,
        // What a database has for itself is not copied with it.
        `revoke all on database ${database} from public`,
        `grant connect on database ${database} to ${ROLES}`,
        `alter database ${database} set search_path = audit`,
      ]) {
        await server.query({ text })
      }
      const open = (url: string) =>
        createPool({ url: onDatabase(url, database), applicationName: 'test', connectionsMax: 2 })
      const [superuser, reader] = [open(admin), open(readerUrl)]
      const coldFolder = join(own, basename(tiers.folder))
      return {
        superuser,
        reader,
        folder: own,
        anchorFile: join(own, basename(sealing.anchorFile)),
        coldFolder,
        cold: openColdStore({
          BATON_COLD_FOLDER: coldFolder,
          BATON_COLD_S3_BUCKET: undefined,
          BATON_COLD_S3_REGION: 'us-east-1',
          BATON_COLD_S3_ENDPOINT: undefined,
          BATON_COLD_S3_LOCK_DAYS: 0,
        }) as ColdStore,
        async close() {
          await Promise.all([superuser.end(), reader.end()])
          await server.query({ text: `drop database if exists ${database} with (force)` })
          await rm(own, { recursive: true, force: true })
        },
      }
    },
    async close() {
      await Promise.all([server.end(), keeper.end()])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

function policyOf(
  origin: string,
  { sealKey, batchKeys }: Pick<AttackWorld, 'sealKey' | 'batchKeys'>,
): AuditorPolicy {
  const batch = [...batchKeys.values()].map((key) => {
    const raw = Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32))
    const name = origin.replace(/seals$/, 'append')
    return `# baton-key batch ${formatVerifierKey(verifierKey(name, SIGNATURE_TYPES.ed25519, raw))}`
  })
  const lines = [
    `log ${formatVerifierKey(sealerKey(origin, sealKey))}`,
    'quorum none',
    ...batch,
    '',
  ]
  const parsed = parseAuditorPolicy(Buffer.from(lines.join('\n')))
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.policy
}

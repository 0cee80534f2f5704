// What every part of the auditor works on: its databases, its keys, and the one way into the log.
import {
  createAuditLog,
  createHoldFinder,
  createPool,
  createSizeWatch,
  createSubjectVault,
  extendPartitions,
  openColdStore,
  openWrappingKeys,
} from '@baton/audit'
import { readHeads } from '@baton/audit'
import type {
  AppendOutcome,
  AuditLog,
  ColdStore,
  CoveredSizes,
  HoldFinder,
  Pool,
  SubjectVault,
} from '@baton/audit'
import { createBatchSigner, parsePeople, readBatchPublicKey } from '@baton/ledger'
import type { AuditEntry, BatchSigner, People } from '@baton/ledger'
import { createBatcher, every, permanent } from '@baton/runtime'
import type { Batcher, Logger, Service, Settings, Tls } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { FastifyInstance } from 'fastify'
import type { KeyObject } from 'node:crypto'
import { createCallers } from './callers.ts'
import type { Callers } from './callers.ts'
import { createClockWatch } from './clock-watch.ts'
import { describeSettings } from './begun-with.ts'
import type { BegunParts } from './begun-with.ts'
import { createKeyKeeper } from './key-keeper.ts'
import { listingPeople } from './list-people.ts'
import { createSchemaWatch } from './schema-watch.ts'
import { createSealWatch } from './seal-watch.ts'
import { createSettingsRecorder } from './settings-recorder.ts'
import type { AUDITOR_SETTINGS } from './settings.ts'
import { batchKeysOf } from './verification.ts'

export type AuditorSettings = Settings<typeof AUDITOR_SETTINGS>

export interface AuditorDependencies {
  readonly settings: AuditorSettings
  readonly logger: Logger
  readonly metrics: Metrics
  readonly tls: Tls
}

export interface Core extends AuditorDependencies {
  /** Connected as audit_writer. */
  readonly writer: Pool
  /** Connected as audit_reader. */
  readonly reader: Pool
  readonly vaultDb: Pool
  readonly vault: SubjectVault
  readonly signer: BatchSigner
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Who may read, export and hold. */
  readonly callers: Callers
  /** Whose decisions count. */
  readonly people: People
  /** The sealer's; undefined where nobody seals. */
  readonly sealKey: KeyObject | undefined
  readonly cold: ColdStore | undefined
  /** What seals cover; undefined where nobody seals. */
  readonly covered: () => CoveredSizes | undefined
  /** The same, looked at for this question. */
  readonly coveredNow: () => Promise<CoveredSizes | undefined>
  /** Which tasks were ever held; one for all who ask, as it remembers what it has read. */
  readonly holdFinder: HoldFinder
  /** Throws while a record waits for its seal for longer than it may. */
  readonly requireSealing: () => void
  /** Throws while a record made now would be dated in the future. */
  readonly requireClock: () => void
  readonly batcher: Batcher<AuditEntry, AppendOutcome>
  /** Throws while a crash could take what is acknowledged. */
  readonly requireDurable: () => void
  /** Whether its databases answer, and keep what they acknowledge. */
  answers(): Promise<boolean>
  /** Throws BATON_AUDIT_NOT_DURABLE or BATON_AUDIT_SCHEMA_ALTERED on databases that are not what they should be. */
  start(): Promise<void>
  /** Ends what runs by itself. */
  stop(): Promise<void>
  /** Waits for what was appended, and disconnects. */
  close(): Promise<void>
}

/** One room of the auditor: its routes, and what it does while the auditor runs. */
export interface Part {
  /** Does what must be done before traffic is taken, and adds its routes. */
  prepare(server: FastifyInstance): Promise<void> | void
  start?(): Promise<void>
  stop?(): Promise<void>
  /** Disconnects, when nobody asks any more. */
  close?(): Promise<void>
}

/** Records in one flush over all chains; one flush is under way at a time. */
const FLUSH_RECORDS_MAX = 256
const PARTITIONS_EVERY_MS = 3_600_000
const VERIFY_STATEMENT_MS = 60_000

const watchSeals = (
  { settings, metrics, logger }: AuditorDependencies,
  writer: Pool,
  publicKey: KeyObject,
) =>
  createSealWatch({
    writer,
    publicKey,
    outside: settings,
    unsealedMaxMs: settings.BATON_AUDIT_UNSEALED_MAX_MS,
    metrics,
    logger,
  })

/** Nothing is connected before `start`. Throws BATON_KEY_INVALID for unreadable keys, and BATON_SEAL_KEY_MISSING. */
export function openCore(dependencies: AuditorDependencies): Core {
  const { settings, logger, metrics } = dependencies
  const { writer, reader, vaultDb } = openPools(settings, metrics)
  const signer = createBatchSigner(settings.BATON_AUDIT_SIGNING_KEY)
  const vault = openVault(settings, vaultDb, dependencies.tls)
  const sealKey = sealKeyOf(settings)
  const watch = sealKey && watchSeals(dependencies, writer, sealKey)
  const allowUnsafe = settings.BATON_ALLOW_UNSAFE_POSTGRES
  const schema = createSchemaWatch({ writer, vaultDb, vault, allowUnsafe, metrics, logger })
  const clock = createClockWatch({
    writer,
    aheadMaxMs: settings.BATON_AUDIT_CLOCK_AHEAD_MAX_MS,
    metrics,
    logger,
  })
  const { BATON_ENVIRONMENT: environment } = settings
  const { nowMicros } = clock
  const log = createAuditLog({ db: writer, vault, signer, environment, nowMicros })
  const people = parsePeople(settings.BATON_PEOPLE ?? '')
  const batcher = batcherOf(dependencies, log, people)
  const callers = createCallers({
    issuersPath: settings.BATON_ISSUERS,
    logger,
    tls: dependencies.tls,
  })
  const batchKeys = batchKeysOf(signer, settings)
  const cold = openColdStore(settings, dependencies.tls)
  const keys = createKeyKeeper({ vaultDb, vault, metrics, logger })
  const held = { settings, people, vault, signer, batchKeys, sealKey }
  const told = recordOwnSettings(logger, { reader, cold, batcher, held })
  const size = createSizeWatch({ db: writer, sizes: metrics.databaseBytes, logger })
  const partitions = partitionsOf(writer, logger)
  /** In the order in which they start. */
  const inside = [schema, callers, partitions, clock, ...(watch ? [watch] : []), keys, told, size]
  return {
    ...dependencies,
    writer,
    reader,
    vaultDb,
    vault,
    signer,
    batchKeys,
    callers,
    people,
    sealKey,
    cold,
    covered: () => watch?.sizes,
    coveredNow: async () => watch?.look(),
    holdFinder: createHoldFinder(),
    requireSealing: () => watch?.requireSealing(),
    requireClock: () => void clock.nowMicros(),
    requireDurable: () => schema.requireDurable(),
    batcher,
    answers: () =>
      Promise.all([readHeads(writer), vaultDb.query({ text: 'select 1' })]).then(
        () => schema.isDurable,
        () => false,
      ),
    async start() {
      for (const part of inside) await part.start()
    },
    async stop() {
      await Promise.all(inside.map((part) => part.stop()))
    },
    async close() {
      await batcher.drain()
      await Promise.all([writer.end(), reader.end(), vaultDb.end()])
    },
  }
}

/** The one way into the log; before the first decision, whose decisions count is recorded. */
function batcherOf(
  { settings, metrics }: AuditorDependencies,
  log: AuditLog,
  people: People,
): Core['batcher'] {
  const append: AuditLog['append'] = async (entries) => {
    const outcomes = await log.append(entries)
    metrics.auditRecordsTotal.inc(outcomes.filter(isNew).length)
    return outcomes
  }
  const list = listingPeople(people, append)
  return createBatcher({
    name: 'audit append',
    async flush(entries) {
      await list(entries)
      return append(entries)
    },
    maxItems: FLUSH_RECORDS_MAX,
    maxQueued: settings.BATON_AUDIT_QUEUED_MAX,
  })
}

/** Undefined where somebody has said that nobody seals. Throws BATON_SEAL_KEY_MISSING where nobody has said either. */
function sealKeyOf({
  BATON_SEAL_PUBLIC_KEY: seal,
  BATON_ALLOW_UNSEALED: mayBeUnsealed,
}: AuditorSettings): KeyObject | undefined {
  if (seal !== undefined) return readBatchPublicKey(seal)
  if (mayBeUnsealed) return undefined
  throw permanent('BATON_SEAL_KEY_MISSING', 'nobody seals this log, as far as the auditor knows', {
    fix: 'Start a sealer and give the auditor its public key as BATON_SEAL_PUBLIC_KEY: infra/README.md, “Start”. Without one, whoever administers Postgres can cut off the end of the log unseen; BATON_ALLOW_UNSEALED=1 accepts that.',
  })
}

function recordOwnSettings(
  logger: Logger,
  {
    reader,
    cold,
    batcher,
    held,
  }: Pick<Core, 'reader' | 'cold' | 'batcher'> & { readonly held: BegunParts },
): Service {
  return createSettingsRecorder({
    reader,
    cold,
    describe: () => describeSettings(held),
    append: (entries) => Promise.all(entries.map((entry) => batcher.add(entry))),
    logger,
  })
}

/** Those of the days to come, made at the start and by the hour. */
function partitionsOf(writer: Pool, logger: Logger): Service {
  const make = async () => {
    const made = await extendPartitions(writer)
    if (made > 0) logger.info({ event: 'audit.partitions_made', made })
  }
  const hourly = every({
    name: 'partitions',
    everyMs: PARTITIONS_EVERY_MS,
    firstAfterMs: PARTITIONS_EVERY_MS,
    run: make,
    failed: (error) => logger.error({ event: 'audit.partitions_failed', error }),
  })
  return {
    ...hourly,
    async start() {
      await make()
      await hourly.start()
    },
  }
}

const isNew = (outcome: AppendOutcome): boolean =>
  outcome.kind === 'receipt' && outcome.receipt.duplicate !== true

const openVault = (settings: AuditorSettings, db: Pool, tls: Tls): SubjectVault =>
  createSubjectVault({
    db,
    ...openWrappingKeys(settings.BATON_AUDIT_WRAPPING_KEY, {
      endpoint: settings.BATON_KMS_ENDPOINT,
      environment: settings.BATON_ENVIRONMENT,
      tls,
    }),
    lookupKey: settings.BATON_AUDIT_LOOKUP_KEY,
  })

function openPools(settings: AuditorSettings, { poolConnections: gauges }: Metrics) {
  const applicationName = 'baton-auditor'
  const { BATON_AUDIT_WRITER_URL, BATON_AUDIT_READER_URL, BATON_VAULT_URL } = settings
  return {
    writer: createPool({ url: BATON_AUDIT_WRITER_URL, applicationName, connectionsMax: 2, gauges }),
    reader: createPool({
      url: BATON_AUDIT_READER_URL,
      applicationName,
      statementMs: VERIFY_STATEMENT_MS,
      gauges,
    }),
    vaultDb: createPool({ url: BATON_VAULT_URL, applicationName, connectionsMax: 2, gauges }),
  }
}

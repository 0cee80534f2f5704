// The audit service as one long-lived thing: starts only on a durable database, drains before it stops.
import {
  createAuditLog,
  createPool,
  createSubjectVault,
  extendPartitions,
  openColdStore,
} from '@baton/audit'
import type { AuditLog } from '@baton/audit'
import { readHeads, readTrace, requireDurability } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { createBatchSigner, readBatchPublicKey } from '@baton/ledger'
import { createBatcher, every, permanent } from '@baton/runtime'
import type { Logger, Service, Settings } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { FastifyInstance } from 'fastify'
import { identifyAppender, requireToken } from './access.ts'
import { appendRecords } from './append-records.ts'
import { checkReceipts } from './check-receipts.ts'
import { createErasurePart } from './erasure-part.ts'
import type { ErasurePart } from './erasure-part.ts'
import { createEvidencePart } from './evidence-part.ts'
import type { EvidencePart } from './evidence-part.ts'
import { addHoldRoutes } from './hold-routes.ts'
import { createScrubber } from './scrubber.ts'
import type { Scrubber } from './scrubber.ts'
import { createSealWatch } from './seal-watch.ts'
import type { SealWatch } from './seal-watch.ts'
import { createServer } from './server.ts'
import type { AUDITOR_SETTINGS } from './settings.ts'
import { addTierRoutes } from './tier-routes.ts'
import { addTileRoutes } from './tile-routes.ts'
import { batchKeysOf, oneAtATime, verify } from './verification.ts'

export type AuditorSettings = Settings<typeof AUDITOR_SETTINGS>

interface AuditorDependencies {
  readonly settings: AuditorSettings
  readonly logger: Logger
  readonly metrics: Metrics
}

export interface Auditor extends Service {
  /** Where it listens once it has started, for example http://127.0.0.1:8421. */
  readonly url: string
  /** Whether its databases answer. */
  ready(): Promise<boolean>
}

/** Records in one flush over all chains; one flush is under way at a time. */
const FLUSH_RECORDS_MAX = 256
const PARTITIONS_EVERY_MS = 3_600_000
const VERIFY_STATEMENT_MS = 60_000

interface Pools {
  readonly writer: Pool
  readonly reader: Pool
  readonly vault: Pool
}

/** Nothing is connected before `start`. Throws BATON_KEY_INVALID for unreadable keys. */
export function createAuditor(dependencies: AuditorDependencies): Auditor {
  const { settings, logger, metrics } = dependencies
  const pools = openPools(settings)
  const { reader, writer } = pools
  const signer = createBatchSigner(settings.BATON_AUDIT_SIGNING_KEY)
  const vault = createSubjectVault({
    db: pools.vault,
    wrappingKey: settings.BATON_AUDIT_WRAPPING_KEY,
    lookupKey: settings.BATON_AUDIT_LOOKUP_KEY,
  })
  const batchKeys = batchKeysOf(signer, settings)
  const sealKey =
    settings.BATON_SEAL_PUBLIC_KEY === undefined
      ? undefined
      : readBatchPublicKey(settings.BATON_SEAL_PUBLIC_KEY)
  const unsealedMaxMs = settings.BATON_AUDIT_UNSEALED_MAX_MS
  const watch =
    sealKey && createSealWatch({ writer, publicKey: sealKey, unsealedMaxMs, metrics, logger })
  const covered = () => watch?.sizes
  const cold = openColdStore(settings)
  const shared = { reader, writer, vault, batchKeys, sealKey, cold, metrics, logger }
  const recordsPerSecond = settings.BATON_AUDIT_SCRUB_PER_SECOND
  const scrubber = createScrubber({ ...shared, recordsPerSecond })
  const environment = settings.BATON_ENVIRONMENT
  const log = createAuditLog({ db: writer, vault, signer, environment })
  const batcher = createBatcher({
    name: 'audit append',
    flush: (entries: Parameters<AuditLog['append']>[0]) => log.append(entries),
    maxItems: FLUSH_RECORDS_MAX,
    maxQueued: settings.BATON_AUDIT_QUEUED_MAX,
  })
  const queuedMax = settings.BATON_AUDIT_QUEUED_MAX
  const server = createServer({
    routes: {
      append: async (body, appender) => {
        watch?.requireSealing()
        return appendRecords({ batcher, queuedMax, logger }, body, appender)
      },
      checkReceipts: (body) => checkReceipts({ reader, covered, unsealedMaxMs }, body),
      trace: (taskId) => readTrace(reader, taskId, { covered: covered(), cold }),
      scrub: () => scrubber.status(),
      verify: oneAtATime(() => verify(shared)),
      ready: () => answers(pools),
    },
    appenderOf: identifyAppender({
      append: settings.BATON_AUDIT_APPEND_TOKEN,
      archive: settings.BATON_AUDIT_ARCHIVE_TOKEN,
    }),
    mayRead: requireToken(settings.BATON_AUDIT_READ_TOKEN, 'read'),
    metrics,
    bodyBytesMax: settings.BATON_AUDIT_BODY_BYTES_MAX,
    connections: {
      max: settings.BATON_AUDITOR_CONNECTIONS_MAX,
      perAddressMax: settings.BATON_AUDITOR_CONNECTIONS_PER_ADDRESS_MAX,
    },
    logger,
  })
  const mayRead = requireToken(settings.BATON_AUDIT_READ_TOKEN, 'read')
  addTileRoutes(server, { reader, cold, mayRead })
  addTierRoutes(server, { reader, cold, sealKey, mayRead })
  const holdToken = settings.BATON_AUDIT_HOLD_TOKEN
  const mayHold = holdToken === undefined ? undefined : requireToken(holdToken, 'hold')
  addHoldRoutes(server, { reader, batcher, mayHold })
  const evidence = createEvidencePart({ ...shared, settings, batcher, covered })
  const erasure = createErasurePart({
    settings,
    vaultDb: pools.vault,
    reader,
    cold,
    vault,
    signer,
    batchKeys,
    batcher,
    logger,
  })
  const drain = () => batcher.drain()
  return asService({ server, pools, watch, scrubber, evidence, erasure, drain, ...dependencies })
}

function openPools(settings: AuditorSettings): Pools {
  const applicationName = 'baton-auditor'
  const reader = { url: settings.BATON_AUDIT_READER_URL, statementMs: VERIFY_STATEMENT_MS }
  return {
    writer: createPool({
      url: settings.BATON_AUDIT_WRITER_URL,
      applicationName,
      connectionsMax: 2,
    }),
    reader: createPool({ ...reader, applicationName }),
    vault: createPool({ url: settings.BATON_VAULT_URL, applicationName, connectionsMax: 2 }),
  }
}

interface ServiceParts extends AuditorDependencies {
  readonly server: FastifyInstance
  readonly pools: Pools
  readonly watch: SealWatch | undefined
  readonly scrubber: Scrubber
  readonly evidence: EvidencePart
  readonly erasure: ErasurePart
  readonly drain: () => Promise<void>
}

function asService(parts: ServiceParts): Auditor {
  const { server, pools, watch, scrubber, evidence, erasure, drain, settings, logger } = parts
  let url = ''
  let stopped: Promise<void> | undefined
  const makePartitions = async () => {
    const made = await extendPartitions(pools.writer)
    if (made > 0) logger.info({ event: 'audit.partitions_made', made })
  }
  const partitions = every({
    name: 'partitions',
    everyMs: PARTITIONS_EVERY_MS,
    firstAfterMs: PARTITIONS_EVERY_MS,
    run: makePartitions,
    failed: (error) => logger.error({ event: 'audit.partitions_failed', error }),
  })
  return {
    name: 'auditor',
    get url() {
      return url
    },
    ready: () => answers(pools),
    async start() {
      await requireSafety(pools.writer, { settings, logger })
      await makePartitions()
      await watch?.start()
      await partitions.start()
      await evidence.prepare(server)
      await erasure.prepare(server)
      url = await listen(server, settings)
      await scrubber.start()
      await evidence.start()
      logger.info({ event: 'audit.listening', url })
    },
    stop() {
      stopped ??= Promise.all([partitions.stop(), watch?.stop(), scrubber.stop(), evidence.stop()])
        .then(() => stopInOrder(server, drain, pools))
        .then(() => erasure.stop())
      return stopped
    },
  }
}

async function requireSafety(
  writer: Pool,
  { settings, logger }: Pick<AuditorDependencies, 'settings' | 'logger'>,
): Promise<void> {
  const allowUnsafe = settings.BATON_ALLOW_UNSAFE_POSTGRES
  const off = await requireDurability(writer, { allowUnsafe })
  if (off.length > 0) logger.warn({ event: 'server.unsafe', server: 'postgres', off })
}

// Requests first, then what they wait for, then what that needs.
async function stopInOrder(
  server: FastifyInstance,
  drain: () => Promise<void>,
  pools: Pools,
): Promise<void> {
  await server.close()
  await drain()
  await Promise.all([pools.writer.end(), pools.reader.end(), pools.vault.end()])
}

async function listen(server: FastifyInstance, settings: AuditorSettings): Promise<string> {
  const host = settings.BATON_AUDITOR_HOST
  const port = settings.BATON_AUDITOR_PORT
  try {
    return await server.listen({ host, port })
  } catch (cause) {
    throw permanent('BATON_AUDITOR_LISTEN_FAILED', `cannot listen on ${host}:${port}`, {
      cause,
      fix: 'Stop the process that has the port, or set BATON_AUDITOR_PORT.',
    })
  }
}

async function answers(pools: Pools): Promise<boolean> {
  try {
    await readHeads(pools.writer)
    await pools.vault.query({ text: 'select 1' })
    return true
  } catch {
    return false
  }
}

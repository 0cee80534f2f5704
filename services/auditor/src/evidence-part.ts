// The part of the auditor that regulators use: evidence, drills, and the tree hashes that make them fast.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { readHeads } from '@baton/audit'
import type { AppendOutcome, ColdStore, CoveredSizes, Pool, SubjectVault } from '@baton/audit'
import { createNoteSigner, sealLogOrigin } from '@baton/ledger'
import type { AuditEntry } from '@baton/ledger'
import type { Batcher, Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { FastifyInstance } from 'fastify'
import type { KeyObject } from 'node:crypto'
import { requireToken } from './access.ts'
import type { AuditorSettings } from './auditor.ts'
import { runDrill } from './drill.ts'
import { createEvidence } from './evidence.ts'
import { readEvidencePolicy } from './evidence-policy.ts'
import { addEvidenceRoutes } from './evidence-routes.ts'
import { createTreeKeeper } from './tree-keeper.ts'

interface EvidencePartOptions {
  readonly settings: AuditorSettings
  readonly reader: Pool
  readonly writer: Pool
  readonly vault: SubjectVault
  readonly batcher: Batcher<AuditEntry, AppendOutcome>
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly sealKey: KeyObject | undefined
  readonly covered: () => CoveredSizes | undefined
  readonly cold: ColdStore | undefined
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal'>
  readonly logger: Logger
}

export interface EvidencePart {
  /** Reads keys, policy and page, and adds the routes where there is a token for them. */
  prepare(server: FastifyInstance): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

export function createEvidencePart(options: EvidencePartOptions): EvidencePart {
  const { settings, reader, writer, vault, batcher, covered, cold, metrics, logger } = options
  const token = settings.BATON_AUDIT_EVIDENCE_TOKEN
  const keeper = createTreeKeeper({ reader, writer, cold, covered, logger })
  return {
    async prepare(server) {
      if (token === undefined) return
      const exporter = await exporterOf(options)
      const file = settings.BATON_EVIDENCE_POLICY_FILE
      const policy = await readEvidencePolicy({ ...options, file, exporter })
      const evidence = createEvidence({
        reader,
        cold,
        vault,
        batcher,
        isSealing: options.sealKey !== undefined,
        waitMs: settings.BATON_EVIDENCE_WAIT_MS,
        exporter,
        policy,
        page: await readFile(fileURLToPath(import.meta.resolve('@baton/ledger/page.html')), 'utf8'),
        metrics,
        logger,
      })
      const payloadToken = settings.BATON_AUDIT_PAYLOAD_TOKEN
      addEvidenceRoutes(server, {
        evidence,
        policyText: policy.text,
        drill: (seed) => runDrill({ reader, covered, cold, evidence, logger }, seed),
        mayExport: requireToken(token, 'evidence'),
        mayReadTexts:
          payloadToken === undefined ? undefined : requireToken(payloadToken, 'payload'),
      })
    },
    start: () => keeper.start(),
    stop: () => keeper.stop(),
  }
}

/** Named after the log, so that a bundle says where it comes from. */
async function exporterOf({ settings, reader }: EvidencePartOptions) {
  const pkcs8 = settings.BATON_EVIDENCE_SIGNING_KEY
  if (pkcs8 === undefined) return undefined
  const origin = sealLogOrigin((await readHeads(reader))[0]?.origin ?? '')
  return createNoteSigner({ name: origin.replace(/seals$/, 'evidence'), pkcs8 })
}

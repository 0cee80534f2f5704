// Exports one task, or several, as an evidence bundle: waits for a seal, verifies what it made, records who got it.
import { randomUUID } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import { isSettled, readEvidence } from '@baton/audit'
import type {
  AppendOutcome,
  ColdStore,
  HeldTaskReceipt,
  Pool,
  SubjectVault,
  TaskEvidence,
} from '@baton/audit'
import { exportedLine, formatInstant, verifyBundle, writeBundle } from '@baton/ledger'
import type {
  AuditEntry,
  AuditEvent,
  AuditorPolicy,
  BundleReport,
  Finding,
  NoteSigner,
} from '@baton/ledger'
import type { Batcher, Logger } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import { countTampering, reportFindings } from './report-findings.ts'

interface EvidenceDependencies {
  readonly reader: Pool
  readonly cold: ColdStore | undefined
  readonly vault: SubjectVault
  readonly batcher: Batcher<AuditEntry, AppendOutcome>
  /** Undefined where nobody seals: then nothing is waited for. */
  readonly isSealing: boolean
  readonly waitMs: number
  readonly exporter: NoteSigner | undefined
  readonly policy: () => Promise<EvidencePolicy>
  /** The HTML page that carries a bundle. */
  readonly page: string
  readonly metrics: Pick<Metrics, 'auditTamperDetectedTotal' | 'auditTampered'>
  readonly logger: Logger
}

/** The policy that goes into bundles, and its reading. */
export interface EvidencePolicy {
  readonly text: string
  readonly trust: AuditorPolicy
}

interface EvidenceRequest {
  /** One task, or several as one bundle. */
  readonly taskIds: readonly string[]
  readonly receipts: readonly HeldTaskReceipt[]
  readonly withTexts: boolean
  /** Who takes it, as the record names them. */
  readonly actor: string
  /** From where it was asked for. */
  readonly address: string
}

export interface EvidenceExport {
  readonly bundle: Uint8Array
  /** What this auditor's own verification of the bundle says. */
  readonly verdict: BundleReport['verdict']
  /** What keeps it from proving the ends of its tasks, beside what is wrong with the bundle itself. */
  readonly findings: readonly Finding[]
}

export interface ReconstructedTask extends EvidenceExport {
  readonly report: BundleReport
  readonly evidence: TaskEvidence
}

export interface EvidenceService {
  /** Undefined when the log knows nothing of the tasks. Throws what appending throws. */
  export(request: EvidenceRequest): Promise<EvidenceExport | undefined>
  /** Answers once the newest records of the tasks are sealed, and witnessed where others are, or after `waitMs`. */
  untilCovered(taskIds: readonly string[]): Promise<void>
  /** The same as an export without a page, a wait or a record of it. */
  reconstruct(taskId: string): Promise<ReconstructedTask | undefined>
  /** Records that something was done with a task's records, in the task's own chain. */
  record(event: AuditEvent, what: OperationRecord): Promise<void>
}

interface OperationRecord {
  readonly taskId: string
  readonly traceparent: string | undefined
  /** Which token was used; never a name that a request gave. */
  readonly actor: string
  readonly reason: string
  /** From where it was asked for; missing where the auditor does it by itself. */
  readonly address?: string
}

const LOOK_EVERY_MS = 100

export function createEvidence(dependencies: EvidenceDependencies): EvidenceService {
  const { reader, cold, vault, batcher, policy, exporter, page, metrics, logger } = dependencies

  function check(
    bundle: Uint8Array,
    { trust }: EvidencePolicy,
    evidence: TaskEvidence,
  ): BundleReport {
    const { unproven } = evidence
    const now = Date.now() / 1_000
    const report = verifyBundle(bundle, { policy: trust, now, thorough: true })
    const findings = report.checks.flatMap((one) => one.findings).slice(0, 10)
    if (report.verdict === 'tampered') {
      countTampering(metrics)
      logger.error({ event: 'audit.evidence_tampered', unproven, findings })
    }
    reportFindings(evidence.findings, { metrics, logger, by: 'evidence' })
    if (report.verdict === 'clock')
      logger.warn({ event: 'audit.clock_wrong', by: 'evidence', findings })
    return report
  }

  const service: EvidenceService = {
    async export({ taskIds, receipts, withTexts, actor, address }) {
      await service.untilCovered(taskIds)
      const texts = withTexts ? vault : undefined
      const own = await policy()
      const dated = exportedLine(formatInstant(Date.now() * 1_000)) + own.text
      const options = { reader, cold, taskIds, receipts, vault: texts, policy: dated }
      const evidence = await readEvidence(options)
      if (evidence === undefined) return undefined
      const signing = exporter === undefined ? {} : { exporter }
      const bundle = writeBundle(evidence.parts, { ...signing, page })
      const { verdict } = check(bundle, own, evidence)
      const reason = withTexts ? WITH_TEXTS : WITHOUT_TEXTS
      const exported = [...evidence.traceparents].map(([taskId, traceparent]) =>
        service.record('EVIDENCE_EXPORTED', { taskId, traceparent, actor, reason, address }),
      )
      await Promise.all(exported)
      const taskId = taskIds.length === 1 ? taskIds[0] : undefined
      const tasks = exported.length
      logger.info({ event: 'audit.evidence_exported', taskId, tasks, verdict, withTexts })
      return { bundle, verdict, findings: evidence.findings }
    },
    untilCovered: (taskIds) => untilCovered(dependencies, taskIds),
    async reconstruct(taskId) {
      const taskIds = [taskId]
      const options = { reader, cold, taskIds, receipts: [], vault: undefined, policy: null }
      const evidence = await readEvidence(options)
      if (evidence === undefined) return undefined
      const bundle = writeBundle(evidence.parts, exporter === undefined ? {} : { exporter })
      const report = check(bundle, await policy(), evidence)
      const { findings } = evidence
      return { bundle, verdict: report.verdict, findings, report, evidence }
    },
    async record(event, what) {
      await batcher.add(operationEntry(event, what))
    },
  }
  return service
}

const WITH_TEXTS = 'PAYLOADS_INCLUDED'
const WITHOUT_TEXTS = 'PAYLOADS_WITHHELD'

// A task's newest records are sealed within a second and witnessed within another; after `waitMs` the
// bundle says itself that it is incomplete.
async function untilCovered(
  { reader, cold, isSealing, waitMs }: EvidenceDependencies,
  taskIds: readonly string[],
): Promise<void> {
  const deadline = performance.now() + waitMs
  while (isSealing && performance.now() < deadline) {
    if (await isSettled({ reader, cold }, taskIds)) return
    await wait(LOOK_EVERY_MS)
  }
}

const NO_TRACE = '00-00000000000000000000000000000001-0000000000000001-00'

/** The record of something that was done with the log; `act` says with which token. */
export function operationEntry(
  event: AuditEvent,
  { taskId, traceparent = NO_TRACE, actor, reason, address }: OperationRecord,
): AuditEntry {
  const id = randomUUID()
  return {
    event,
    taskId,
    handoffId: id,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: 'auditor', agentVersion: '0', executionId: id },
    toAgent: { agentType: 'auditor', agentVersion: null },
    traceparent,
    verdicts: null,
    reason,
    cost: null,
    act: { id, actor },
    ...(address === undefined
      ? {}
      : { operation: { subject: reason, right: actor, address, details: [] } }),
    segments: [],
  }
}

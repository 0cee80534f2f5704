// The promises I1 to I12 on a live system: the same rules that tests and chaos campaigns check.
import {
  auditInvariants,
  findExcessPrivileges,
  findIncompleteErasures,
  findRecordHashes,
  listErasures,
  verifyChains,
} from '@baton/audit'
import type { VerifyReport } from '@baton/audit'
import { receiptInvariant } from '@baton/engine'
import {
  findUnreflected,
  listPriorityClasses,
  outboxDepth,
  outboxQueueDepths,
  storeInvariants,
} from '@baton/store'
import type { QueueDepth } from '@baton/store'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { failed, judged, passed } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'
import { describeFinding } from './verification-checks.ts'

/** What priority 0 may fill at the largest BATON_OUTBOX_MAX: one agent type, and the whole. */
const QUEUE_MAX = 100_000
const OUTBOX_MAX = 400_000

/** One diagnosis per rule. Reads only. */
export async function diagnosePromises(
  opened: OpenedDatabases,
  onProgress: (text: string) => void,
): Promise<readonly Diagnosis[]> {
  const { pool, audit } = opened
  const rules = [
    ...storeInvariants(pool),
    ...auditInvariants(audit.pool),
    receiptInvariant(pool, (recordIds) => findRecordHashes(audit.pool, recordIds)),
  ]
  const diagnoses: Diagnosis[] = []
  for (const { promise, rule, check } of rules) {
    onProgress(rule)
    diagnoses.push(judged(promise, rule, await check()))
  }
  diagnoses.push(
    judged(
      'I10',
      'the appending role can append and nothing else',
      await findExcessPrivileges(audit.pool),
    ),
  )
  return [
    ...diagnoses,
    ...(await diagnoseLog(opened, onProgress)),
    await diagnoseErasures(opened),
    await diagnoseOutbox(opened),
  ]
}

async function diagnoseLog(
  { audit }: OpenedDatabases,
  onProgress: (text: string) => void,
): Promise<readonly Diagnosis[]> {
  const { pool, vault, batchKeys, seals, cold } = audit
  const report = await verifyChains({
    pool,
    vault,
    batchKeys,
    seals,
    cold,
    full: true,
    onProgress: (records) => onProgress(`verifying ${counted(records, 'record')}`),
  })
  return [
    logDiagnosis(
      'keys',
      'the keys of all batches are known',
      report.findings.filter(isUnknownKey),
      report,
    ),
    logDiagnosis(
      'I10',
      'every chain verifies from its stored bytes',
      chainFindings(report),
      report,
    ),
    logDiagnosis(
      'I11',
      'every stored segment opens and is what was recorded',
      payloadFindings(report),
      report,
    ),
  ]
}

type Finding = VerifyReport['findings'][number]

/** Cannot be said, which is not broken: it stands apart from I10. */
const isUnknownKey = ({ rule }: Finding): boolean => rule === 'BATCH_KEY'
const isPayload = ({ rule }: Finding): boolean => rule.startsWith('PAYLOAD_')
const payloadFindings = ({ findings }: VerifyReport) => findings.filter(isPayload)
const chainFindings = ({ findings }: VerifyReport) =>
  findings.filter((finding) => !isPayload(finding) && !isUnknownKey(finding))

const IDS_MAX = 100

function logDiagnosis(
  about: 'I10' | 'I11' | 'keys',
  rule: string,
  findings: readonly Finding[],
  report: VerifyReport,
): Diagnosis {
  if (findings.length === 0) return passed(about, rule, counted(report.records, 'record'))
  return failed(about, rule, {
    text: counted(findings.length, 'finding'),
    ids: findings.slice(0, IDS_MAX).map(describeFinding),
  })
}

const ERASED = 'what was erased is gone from every store'

/** Names erasures, and handoffs whose text is there although their erasure is complete. Reads only. */
async function diagnoseErasures({ pool, audit }: OpenedDatabases): Promise<Diagnosis> {
  const completed = await listErasures(audit.pool, ['COMPLETED'])
  const incomplete = await findIncompleteErasures(audit.pool, audit.vault)
  const texts = await findUnreflected(
    pool,
    completed.flatMap(({ handoffIds }) => handoffIds),
  )
  if (incomplete.length + texts.length === 0) {
    return passed('I11', ERASED, counted(completed.length, 'erasure'))
  }
  return failed('I11', ERASED, {
    text: `${counted(incomplete.length, 'erasure')} and ${counted(texts.length, 'handoff')} came back; run: erase --replay`,
    ids: [...incomplete, ...texts].slice(0, IDS_MAX),
  })
}

async function diagnoseOutbox({ pool }: OpenedDatabases): Promise<Diagnosis> {
  const rule = 'the outbox is within its bounds'
  const { depth, oldestAgeSeconds } = await outboxDepth(pool)
  const types = new Set((await listPriorityClasses(pool)).map(({ queue }) => queue))
  const queues = await outboxQueueDepths(pool, [...types], QUEUE_MAX)
  const deep = namesOf(queues.filter((queue) => queue.depth > QUEUE_MAX))
  const waiting = `${counted(depth, 'row')} waiting, the oldest for ${Math.round(oldestAgeSeconds)} s`
  if (depth > OUTBOX_MAX || deep.length > 0) {
    return failed('I12', rule, { text: `${waiting}: start more relays`, ids: deep })
  }
  if (depth === 0) return passed('I12', rule, 'nothing waiting')
  const unhosted = namesOf(queues.filter(({ hosted }) => !hosted))
  const nobody = unhosted.length === 0 ? '' : `; no live receiver hosts ${unhosted.join(', ')}`
  return passed('I12', rule, `${waiting}${nobody}`)
}

const NAMES_MAX = 5

const namesOf = (queues: readonly QueueDepth[]): readonly string[] =>
  queues.slice(0, NAMES_MAX).map(({ queue }) => JSON.stringify(queue))

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
import { FINDING_RULES, verdictOf } from '@baton/ledger'
import type { People } from '@baton/ledger'
import { endingInvariant, operationInvariant, receiptInvariant } from '@baton/engine'
import {
  findUnreflected,
  listPriorityClasses,
  outboxDepth,
  outboxQueueDepths,
  storeInvariants,
} from '@baton/store'
import type { QueueDepth } from '@baton/store'
import type { CliSettings } from '../context.ts'
import type { OpenedDatabases } from '../instance/databases.ts'
import { counted } from '../terminal/figures.ts'
import { diagnoseCold } from './diagnose-cold.ts'
import { diagnoseSeals } from './diagnose-seals.ts'
import { diagnoseVaultKeys } from './diagnose-vault-keys.ts'
import { failed, judged, passed, unknown } from './diagnosis.ts'
import type { Diagnosis } from './diagnosis.ts'
import { describeFinding, isAlone, markOf } from './verification-checks.ts'

/** What priority 0 may fill at the largest settings: of a tenant’s, one agent type, and all. */
const QUEUE_MAX = 100_000
const TENANT_MAX = 400_000

interface Known {
  readonly settings: CliSettings
  /** Whose decisions count. */
  readonly people: People
}

/** One diagnosis per rule. Reads only. */
export async function diagnosePromises(
  opened: OpenedDatabases,
  { settings, people }: Known,
  onProgress: (text: string) => void,
): Promise<readonly Diagnosis[]> {
  const { pool, audit } = opened
  const hashesOf = (recordIds: readonly string[]) => findRecordHashes(audit.pool, recordIds)
  const rules = [
    ...storeInvariants(pool),
    ...auditInvariants(audit.pool),
    receiptInvariant(pool, hashesOf),
    operationInvariant(pool, hashesOf),
    endingInvariant(pool, hashesOf),
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
    ...(await diagnoseLog(opened, { settings, people }, onProgress)),
    ...(await diagnoseVaultKeys(opened)),
    await diagnoseCold(opened),
    await diagnoseErasures(opened),
    await diagnoseOutbox(opened),
  ]
}

async function diagnoseLog(
  { audit }: OpenedDatabases,
  { settings, people }: Known,
  onProgress: (text: string) => void,
): Promise<readonly Diagnosis[]> {
  const { pool, vault, batchKeys, cold } = audit
  const report = await verifyChains({
    pool,
    vault,
    batchKeys,
    people,
    seals: await audit.seals(),
    cold,
    full: true,
    onProgress: (records) => onProgress(`verifying ${counted(records, 'record')}`),
  })
  return [
    ...LOG_RULES.map((logRule) => logDiagnosis(logRule, report)),
    { ...diagnoseOutside(report), verdict: report.verdict },
    ...(await diagnoseSeals({ audit }, settings, report)),
  ]
}

type Finding = VerifyReport['findings'][number]
type Rule = Finding['rule']

interface LogRule {
  readonly about: 'I10' | 'I11' | 'keys'
  readonly rule: string
  readonly covers: (rule: Rule) => boolean
}

const isKey = (rule: Rule): boolean => rule === 'BATCH_KEY'
const isDefinition = (rule: Rule): boolean => rule.startsWith('DEFINITION')
const isPayload = (rule: Rule): boolean => FINDING_RULES[rule].check === 'payloads'

const LOG_RULES: readonly LogRule[] = [
  { about: 'keys', rule: 'the keys of all batches are known', covers: isKey },
  {
    about: 'I10',
    rule: 'every chain verifies from its stored bytes',
    covers: (rule) => !isKey(rule) && !isPayload(rule) && !isDefinition(rule),
  },
  {
    about: 'I10',
    rule: 'the schema of the log is what its migrations made',
    covers: isDefinition,
  },
  { about: 'I11', rule: 'every stored segment opens and is what was recorded', covers: isPayload },
]

const IDS_MAX = 100

/** Broken as `verify` says it is: the same table judges both. */
function logDiagnosis({ about, rule, covers }: LogRule, report: VerifyReport): Diagnosis {
  const broken = (Object.keys(report.findingsByRule) as Rule[]).filter(covers)
  if (broken.length === 0) return passed(about, rule, counted(report.records, 'record'))
  const findings = broken.reduce((sum, one) => sum + (report.findingsByRule[one] ?? 0), 0)
  const shown = report.findings.filter((finding) => covers(finding.rule))
  return {
    about,
    rule,
    mark: markOf(verdictOf(broken)),
    text: counted(findings, 'finding'),
    ids: shown.slice(0, IDS_MAX).map(describeFinding),
  }
}

function diagnoseOutside(report: VerifyReport): Diagnosis {
  const rule = 'something outside the database agrees with the log'
  if (!isAlone(report)) return passed('I10', rule)
  return unknown('I10', rule, 'nothing outside was there to compare with; see verify')
}

const ERASED = 'what was erased is gone from every store'

/** Names erasures, and handoffs whose text is there although their erasure is complete. Reads only. */
async function diagnoseErasures({ pool, audit }: OpenedDatabases): Promise<Diagnosis> {
  const completed = await listErasures(audit.pool, { states: ['COMPLETED'], limit: 1_000 })
  const incomplete = await findIncompleteErasures(audit.pool, audit.vault)
  const texts = await findUnreflected(
    pool,
    completed.flatMap(({ handoffIds }) => handoffIds),
  )
  if (incomplete.length + texts.length === 0) {
    return passed('I11', ERASED, counted(completed.length, 'erasure'))
  }
  return failed('I11', ERASED, {
    text: `${counted(incomplete.length, 'erasure')} and ${counted(texts.length, 'handoff')} came back; run: erase --replay --as reviewer-1`,
    ids: [...incomplete, ...texts].slice(0, IDS_MAX),
  })
}

async function diagnoseOutbox({ pool }: OpenedDatabases): Promise<Diagnosis> {
  const rule = 'the outbox is within its bounds'
  const { depth, oldestAgeSeconds } = await outboxDepth(pool)
  const classes = await listPriorityClasses(pool)
  const asked = new Map(classes.map((one) => [`${one.tenant} ${one.queue}`, one]))
  const bounds = { queueMax: QUEUE_MAX, criticalMax: QUEUE_MAX, tenantMax: TENANT_MAX }
  const queues = await outboxQueueDepths(pool, [...asked.values()], bounds)
  const deep = namesOf(
    queues.filter((one) => one.depth > QUEUE_MAX || one.tenantDepth > TENANT_MAX),
  )
  const waiting = `${counted(depth, 'row')} waiting, the oldest for ${Math.round(oldestAgeSeconds)} s`
  if (deep.length > 0) {
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

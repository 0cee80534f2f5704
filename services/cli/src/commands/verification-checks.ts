// What a verification proves, check by check, and what each broken rule means in words.
import type { VerifyReport } from '@baton/audit'
import { count, counted } from '../terminal/figures.ts'
import type { Mark } from '../terminal/output.ts'

type Finding = VerifyReport['findings'][number]
type Rule = Finding['rule']

export interface Check {
  readonly name: string
  readonly mark: Mark
  readonly text: string
}

const RULES: Readonly<Record<Rule, { readonly check: string; readonly consequence: string }>> = {
  CHAIN_MISSING: { check: 'chains', consequence: 'all records of a chain are gone' },
  RECORD_UNREADABLE: { check: 'record hashes', consequence: 'what it said cannot be known' },
  RECORD_HASH: {
    check: 'record hashes',
    consequence: 'its bytes were changed after it was recorded',
  },
  RECORD_ORIGIN: { check: 'record hashes', consequence: 'it was moved here from another chain' },
  RECORD_LINK: {
    check: 'links',
    consequence: 'the record before it was replaced, or this one was inserted',
  },
  RECORD_SEQ: { check: 'links', consequence: 'records were deleted or inserted here' },
  RECORD_TIME: { check: 'links', consequence: 'the order of records was changed' },
  TASK_LINK: { check: 'links', consequence: 'a record of the same task was removed or inserted' },
  TASK_END: {
    check: 'links',
    consequence: 'records of a task were cut off its end, added to it, or all removed',
  },
  TASK_MAP: {
    check: 'seals',
    consequence:
      'whether a task lost its end cannot be seen there; the sealer makes the map anew when it starts',
  },
  SEAL_SIZE: { check: 'seals', consequence: 'sealed records were cut off the end' },
  SEAL_ROOT: { check: 'seals', consequence: 'sealed records were rewritten, with valid hashes' },
  SEAL_LOG: { check: 'seals', consequence: 'the copies of the seals were changed' },
  SEAL_SIGNATURE: { check: 'seals', consequence: 'somebody other than the sealer wrote this seal' },
  SEAL_ANCHOR: {
    check: 'anchors',
    consequence: 'an older copy of the database was restored, or the sealer’s key signed a fork',
  },
  HEAD: { check: 'links', consequence: 'records were cut off the end, or added past the appender' },
  RECORD_COLUMNS: {
    check: 'columns',
    consequence: 'queries and views show something else than was recorded',
  },
  RECORD_INDEX: { check: 'columns', consequence: 'a repeated request could be answered wrongly' },
  DEFINITION: {
    check: 'columns',
    consequence: 'queries can show something else than was recorded, or leave something out',
  },
  STATE: {
    check: 'columns',
    consequence: 'what is held, erased or archived is told otherwise than it was recorded',
  },
  DEFINITION_VERSION: {
    check: 'columns',
    consequence:
      'whether queries and views show what was recorded cannot be said by this version of Baton',
  },
  BATCH_SIGNATURE: {
    check: 'signatures',
    consequence: 'somebody other than the auditor wrote these records',
  },
  BATCH_KEY: {
    check: 'signatures',
    consequence:
      'who wrote these records cannot be said; name that key in BATON_AUDIT_TRUSTED_KEYS if it is an earlier one of the auditor',
  },
  BATCH_COVER: { check: 'signatures', consequence: 'records were written past the auditor' },
  TILE_MISSING: {
    check: 'record hashes',
    consequence: 'what was moved to the cold store is gone from it, or the store is not named',
  },
  TILE_UNREADABLE: {
    check: 'record hashes',
    consequence: 'an object of the cold store was cut or changed',
  },
  TILE_HASH: { check: 'record hashes', consequence: 'an object of the cold store was changed' },
  PAYLOAD_MISSING: { check: 'payloads', consequence: 'message text is gone without an erasure' },
  PAYLOAD_MISMATCH: {
    check: 'payloads',
    consequence: 'message text was changed after it was recorded',
  },
  PAYLOAD_UNEXPECTED: { check: 'payloads', consequence: 'text was added that nobody recorded' },
  PAYLOAD_KEY: {
    check: 'payloads',
    consequence: 'a person’s key is gone: whether by erasure cannot be said',
  },
}

/** Rules whose failure means that it cannot be said, not that something was changed. */
const UNKNOWN: ReadonlySet<Rule> = new Set<Rule>(['PAYLOAD_KEY', 'BATCH_KEY', 'DEFINITION_VERSION'])

const isUnknown = (rules: readonly Rule[]): boolean => rules.every((rule) => UNKNOWN.has(rule))
const brokenRules = ({ findingsByRule }: VerifyReport) => Object.keys(findingsByRule) as Rule[]

const NO_RECORDS = 'no record yet'

function sealText(seals: VerifyReport['seals'], chains: VerifyReport['chains']): string {
  if (seals === null || seals.entries === 0) return 'no seal yet'
  const sealed = chains.reduce((sum, chain) => sum + chain.sealed, 0)
  const records = chains.reduce((sum, chain) => sum + chain.records, 0)
  const rest = records === sealed ? '' : `; ${counted(records - sealed, 'record')} not sealed yet`
  return `${counted(seals.entries, 'seal')} over ${count(sealed)} records, every root recomputed${rest}`
}

function anchorText(seals: VerifyReport['seals']): string {
  if (seals === null || seals.entries === 0) return 'nothing to compare yet'
  return `${count(seals.witnessed)} of ${counted(seals.entries, 'seal')} kept outside the database`
}

const PASSED: Readonly<Record<string, (report: VerifyReport) => string>> = {
  chains: ({ chains }) => `${counted(chains.length, 'chain')}, none missing`,
  'record hashes': ({ records }) =>
    records === 0
      ? NO_RECORDS
      : `${count(records)} of ${count(records)} recomputed (RFC 8785, SHA-256)`,
  links: ({ chains }) => {
    const filled = chains.filter(({ records }) => records > 0)
    if (filled.length === 0) return NO_RECORDS
    const runs = filled.map(({ records }) => (records === 1 ? '0' : `0→${records - 1}`))
    const empty = chains.length - filled.length
    return `${runs.join(', ')} unbroken${empty === 0 ? '' : `; ${counted(empty, 'chain')} without records`}`
  },
  columns: () => 'indexed columns, views and rights are what was recorded and made',
  signatures: () => 'every record is in a batch that the auditor signed (Ed25519)',
  seals: ({ seals, chains }) => sealText(seals, chains),
  anchors: ({ seals }) => anchorText(seals),
  payloads: () => 'every segment opens and is what its record committed to',
}

/** One line per check, in order. */
export function checksOf(report: VerifyReport): readonly Check[] {
  const broken = Map.groupBy(brokenRules(report), (rule) => RULES[rule].check)
  return Object.entries(PASSED).map(([name, passed]) => {
    const rules = broken.get(name)
    if (rules === undefined) return { name, mark: markOf(name, report), text: passed(report) }
    const findings = rules.reduce((sum, rule) => sum + (report.findingsByRule[rule] ?? 0), 0)
    return {
      name,
      mark: isUnknown(rules) ? 'unknown' : 'failed',
      text: counted(findings, 'finding'),
    }
  })
}

/** Without a seal, or without an anchor that agreed, the check says nothing. */
function markOf(name: string, report: VerifyReport): Mark {
  const { seals } = report
  if (name === 'seals') return seals === null || seals.entries === 0 ? 'unknown' : 'passed'
  if (name !== 'anchors') return 'passed'
  return wasComparedOutside(report) ? 'passed' : 'unknown'
}

/** A finding as a person needs it: which record, which rule, what it means. */
export function describeFinding({ origin, seq, rule, message }: Finding): string {
  const where = seq === null ? origin : `record ${seq} of ${origin}`
  return `${where}: ${message} (${rule}). It means: ${RULES[rule].consequence}.`
}

/** Whether anything outside the database agreed with it: what it says of itself alone, its superuser can make it say. */
const wasComparedOutside = ({ seals }: VerifyReport): boolean => (seals?.anchorsAgreed ?? 0) > 0

/** Failed means that something was changed; unknown that it cannot be said. */
export function verdictOf(report: VerifyReport): Mark {
  if (!report.ok) return isUnknown(brokenRules(report)) ? 'unknown' : 'failed'
  return report.records === 0 || wasComparedOutside(report) ? 'passed' : 'unknown'
}

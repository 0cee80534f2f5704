// What a verification proves, check by check, and what each broken rule means in words.
import type { Comparison, VerifyReport } from '@baton/audit'
import { FINDING_RULES, LOG_VERDICTS, verdictOf } from '@baton/ledger'
import type { LogVerdict } from '@baton/ledger'
import { count, counted } from '../terminal/figures.ts'
import type { Mark } from '../terminal/output.ts'
import { decisionsMark, decisionsText } from './decision-checks.ts'

type Finding = VerifyReport['findings'][number]
type Rule = Finding['rule']

export interface Check {
  readonly name: string
  readonly mark: Mark
  readonly text: string
}

/** 3 is a failure, 4 is not to know. */
export const markOf = (verdict: LogVerdict): Mark => MARKS[LOG_VERDICTS[verdict].exitCode]
const MARKS = { 0: 'passed', 3: 'failed', 4: 'unknown' } as const

const brokenRules = ({ findingsByRule }: VerifyReport) => Object.keys(findingsByRule) as Rule[]

const NO_RECORDS = 'no record yet'

function sealText(seals: VerifyReport['seals'], chains: VerifyReport['chains']): string {
  if (seals === null) return 'not compared: nobody is named who seals'
  if (seals.entries === 0) return 'no seal yet'
  const sealed = chains.reduce((sum, chain) => sum + chain.sealed, 0)
  const records = chains.reduce((sum, chain) => sum + chain.records, 0)
  const rest = records === sealed ? '' : `; ${counted(records - sealed, 'record')} not sealed yet`
  return `${counted(seals.entries, 'seal')} over ${count(sealed)} records, every root recomputed${rest}${keyText(seals)}`
}

function keyText({ handovers, isKeyInForce }: NonNullable<VerifyReport['seals']>): string {
  const last = handovers.at(-1)
  if (last === undefined) return ''
  const warning = isKeyInForce ? '' : ', and the key that is trusted here is one of before'
  return `; key handed over ${counted(handovers.length, 'time')}, to ${last.to} with seal ${last.seal}${warning}`
}

function anchorText(seals: VerifyReport['seals']): string {
  if (seals === null || seals.entries === 0) return 'nothing to compare yet'
  return `${count(seals.witnessed)} of ${counted(seals.entries, 'seal')} kept outside the database`
}

function copyText(copies: VerifyReport['copies']): string {
  if (copies === null) return 'none is named; what was copied to one was not read'
  if (copies === 0) return 'nothing copied yet that the database has too'
  return `${counted(copies, 'bundle')} that the database has too, read again: the same`
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
  decisions: ({ decisions }) => decisionsText(decisions),
  seals: ({ seals, chains }) => sealText(seals, chains),
  anchors: ({ seals }) => anchorText(seals),
  payloads: () => 'every segment opens and is what its record committed to',
  times: () => 'no record is dated later than now',
  'cold store': ({ copies }) => copyText(copies),
}

/** One line per check, in order, then one for each thing that was compared with. */
export const checksOf = (report: VerifyReport): readonly Check[] => [
  ...rulesChecks(report),
  ...report.compared.map(comparedCheck),
]

const OUTCOMES: Readonly<
  Record<Comparison['outcome'], { readonly mark: Mark; readonly words: string }>
> = {
  agreed: { mark: 'passed', words: 'agreed' },
  nothing: { mark: 'unknown', words: 'knows of no seal yet' },
  differs: { mark: 'failed', words: 'differs' },
  missing: { mark: 'failed', words: 'missing, although it has acknowledged seals' },
  cut: { mark: 'failed', words: 'cut or older than what it has acknowledged' },
  'not reachable': { mark: 'unknown', words: 'not reachable' },
}

function comparedCheck({ name, outside, seals, at, outcome }: Comparison): Check {
  const { mark, words } = OUTCOMES[outcome]
  const where = outside ? '' : ' (in the database itself)'
  const size = seals === null ? [] : [counted(seals, 'seal')]
  const when = at === null ? [] : [at]
  return {
    name: 'compared',
    mark,
    text: `${name}${where}: ${[...size, ...when, words].join(', ')}`,
  }
}

function rulesChecks(report: VerifyReport): readonly Check[] {
  const broken = Map.groupBy<string, Rule>(brokenRules(report), (rule) => FINDING_RULES[rule].check)
  return Object.entries(PASSED).map(([name, passed]) => {
    const rules = broken.get(name)
    if (rules === undefined) return { name, mark: unbroken(name, report), text: passed(report) }
    const findings = rules.reduce((sum, rule) => sum + (report.findingsByRule[rule] ?? 0), 0)
    return {
      name,
      mark: markOf(verdictOf(rules)),
      text: counted(findings, 'finding'),
    }
  })
}

/** Without a seal, or without anything outside that agreed, the check says nothing. */
function unbroken(name: string, { seals, compared, copies, decisions }: VerifyReport): Mark {
  if (name === 'decisions') return decisionsMark(decisions)
  if (name === 'seals') return seals === null || seals.entries === 0 ? 'unknown' : 'passed'
  if (name === 'cold store') return copies === null ? 'unknown' : 'passed'
  if (name !== 'anchors') return 'passed'
  return compared.some(({ outside, outcome }) => outside && outcome === 'agreed')
    ? 'passed'
    : 'unknown'
}

/** A finding as a person needs it: which record, which rule, what it means. */
export function describeFinding({ origin, seq, rule, message }: Finding): string {
  const where = seq === null ? origin : `record ${seq} of ${origin}`
  return `${where}: ${message} (${rule}). It means: ${FINDING_RULES[rule].consequence}.`
}

/** Nothing is wrong, and nothing outside the database agreed either. */
export const isAlone = ({ verdict, findingsTotal }: VerifyReport): boolean =>
  verdict === 'incomplete' && findingsTotal === 0

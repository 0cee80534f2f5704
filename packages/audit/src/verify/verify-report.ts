// What a verification found, added up while it reads, and what that comes to.
import { verdictOf } from '@baton/ledger'
import type { Finding, FindingRule, KeyRotation, LogVerdict } from '@baton/ledger'
import type { ColdStore } from '../cold/cold-store.ts'
import type { Comparison } from './ask-outside.ts'
import type { DecisionReport } from './check-decisions.ts'
import type { SealReport, VerifiedSeals } from './verify-seals.ts'

export interface ChainReport {
  readonly origin: string
  readonly records: number
  /** How many of them the newest seal covers. */
  readonly sealed: number
}

export interface VerifyReport {
  /** Verified: no finding, and something outside the database agreed. */
  readonly ok: boolean
  /** What it comes to; `incomplete` also where nothing outside the database was compared with. */
  readonly verdict: LogVerdict
  readonly records: number
  readonly chains: readonly ChainReport[]
  /** Null where nobody is known who seals. */
  readonly seals: SealReport | null
  /** The decisions of people, and which of them are proven; null where the records could not be read. */
  readonly decisions: DecisionReport | null
  /** Everything that was compared with, or could not be. */
  readonly compared: readonly Comparison[]
  /** Bundles of the cold store that were read again because the database has their records too; null where no store is named. */
  readonly copies: number | null
  /** Each key that followed another, in order of time: the last thousand. */
  readonly rotations: readonly KeyRotation[]
  readonly rotationsTotal: number
  /** The first thousand, in order of chain and record. */
  readonly findings: readonly Finding[]
  readonly findingsTotal: number
  /** How often each rule is broken, also by findings past the first thousand. */
  readonly findingsByRule: Readonly<Partial<Record<FindingRule, number>>>
}

const FINDINGS_MAX = 1_000
const ROTATIONS_MAX = 1_000

interface CollectOptions {
  /** Where records stand that are not in the database any more. */
  readonly cold?: ColdStore | undefined
  /** Called after every page with the number of records verified so far. */
  readonly onProgress?: (records: number) => void
}

/** What the records were compared with, as far as they could be read. */
interface Compared {
  readonly seals?: VerifiedSeals | undefined
  readonly decisions?: DecisionReport
}

/** What a verification found, added up while it reads. */
export interface Findings {
  readonly total: number
  add(findings: readonly Finding[]): void
  page(records: number): void
  chain(report: ChainReport): void
  copies(bundles: number): void
  rotation(rotation: KeyRotation): void
  report(compared: Compared): VerifyReport
}

export function collectFindings({ onProgress, cold }: CollectOptions): Findings {
  const findings: Finding[] = []
  const chains: ChainReport[] = []
  const findingsByRule: Partial<Record<FindingRule, number>> = {}
  let findingsTotal = 0
  let records = 0
  let copies = 0
  let rotations: KeyRotation[] = []
  let rotationsTotal = 0
  return {
    get total() {
      return findingsTotal
    },
    copies: (bundles) => void (copies += bundles),
    rotation(rotation) {
      rotationsTotal += 1
      rotations.push(rotation)
      if (rotations.length >= 2 * ROTATIONS_MAX) rotations = newestOf(rotations)
    },
    add(more) {
      findingsTotal += more.length
      for (const { rule } of more) findingsByRule[rule] = (findingsByRule[rule] ?? 0) + 1
      findings.push(...more.slice(0, FINDINGS_MAX - findings.length))
    },
    page(more) {
      records += more
      onProgress?.(records)
    },
    chain: (report) => void chains.push(report),
    report({ seals, decisions = null }) {
      const compared = seals?.compared ?? []
      const found = verdictOf(Object.keys(findingsByRule) as FindingRule[])
      // What the database says of itself alone, its superuser can make it say.
      const isAlone = records > 0 && !compared.some(isAgreedOutside)
      const verdict = found === 'verified' && isAlone ? 'incomplete' : found
      const totals = { findings, findingsTotal, findingsByRule }
      const report = seals?.report ?? null
      return {
        ok: verdict === 'verified',
        verdict,
        records,
        chains,
        seals: report,
        decisions,
        compared,
        copies: cold === undefined ? null : copies,
        rotations: newestOf(rotations),
        rotationsTotal,
        ...totals,
      }
    },
  }
}

/** Chains are read one after the other, so their rotations are not in order of time yet. */
const newestOf = (rotations: readonly KeyRotation[]): KeyRotation[] =>
  rotations
    .toSorted((left, right) => left.at.localeCompare(right.at) || left.seq - right.seq)
    .slice(-ROTATIONS_MAX)

const isAgreedOutside = ({ outside, outcome }: Comparison): boolean =>
  outside && outcome === 'agreed'

// The decisions that the records tell of, against the people whose decisions count for whoever verifies.
import { createDecisionJudge, isDecision, parseInstant } from '@baton/ledger'
import type { DecisionFinding, DecisionTally, Finding, People, RecordBody } from '@baton/ledger'
import { NO_FINDINGS } from './state-check.ts'
import type { StateCheck } from './state-check.ts'

export interface DecisionReport {
  /** Records of decisions. */
  readonly decisions: number
  /** Null where nobody is named whose decisions count: then none of them is judged. */
  readonly judged: DecisionTally | null
}

export interface DecisionCheck extends StateCheck {
  report(): DecisionReport
}

export const checkDecisions = (people: People): DecisionCheck =>
  people.size === 0 ? countDecisions() : judgeDecisions(people)

function countDecisions(): DecisionCheck {
  let decisions = 0
  return {
    next(_, { reading }) {
      if (isDecision(reading?.event)) decisions += 1
      return NO_FINDINGS
    },
    finish: () => Promise.resolve(NO_FINDINGS),
    report: () => ({ decisions, judged: null }),
  }
}

/** Who signed erasures did so later than who signed everything else: the versions of Baton that brought it were two. */
type Kind = 'erasure' | 'other'

interface Unsigned {
  readonly kind: Kind
  readonly atMicros: number
  readonly finding: DecisionFinding
}

function judgeDecisions(people: People): DecisionCheck {
  const judge = createDecisionJudge({ people })
  /** Those from before anybody signed, as far as is known yet. */
  let unsigned: readonly Unsigned[] = []
  /** When the first signed one was recorded, of each kind. */
  const signedFrom: Record<Kind, number> = { erasure: Infinity, other: Infinity }
  /** When an erasure was first told of. */
  const erasures = new Map<string, number>()

  /** An erasure that was asked for before people signed them is carried out without a signature. */
  function begunAt({ event, handoffId, recordedAt }: RecordBody): number {
    const atMicros = parseInstant(recordedAt) ?? Infinity
    if (kindOf(event) === 'other') return atMicros
    const begun = erasures.get(handoffId) ?? atMicros
    erasures.set(handoffId, begun)
    return begun
  }

  /** What nobody signed before anybody did is told by its number; after that the auditor records no such thing. */
  function takeLate(): readonly DecisionFinding[] {
    const isLate = ({ kind, atMicros }: Unsigned) => atMicros > signedFrom[kind]
    const late = unsigned.filter(isLate).map(({ finding }) => finding)
    if (late.length > 0) unsigned = unsigned.filter((one) => !isLate(one))
    return late
  }

  return {
    next(_, { reading }) {
      if (reading === undefined) return NO_FINDINGS
      const { decision, findings } = judge.next(reading)
      if (decision !== undefined) {
        const kind = kindOf(reading.event)
        const atMicros = begunAt(reading)
        if (decision === 'trusted') signedFrom[kind] = Math.min(signedFrom[kind], atMicros)
        const own = findings.find((one) => one.kind === 'unsigned')
        if (own !== undefined) unsigned = [...unsigned, { kind, atMicros, finding: own }]
      }
      return findings.filter((one) => one.kind !== 'unsigned').map(ruled)
    },
    finish: () => Promise.resolve([...judge.finish(), ...takeLate()].map(ruled)),
    report() {
      const judged = judge.tally()
      const { trusted, untrusted, unsigned: none, wrong } = judged
      return { decisions: trusted + untrusted + none + wrong, judged }
    },
  }
}

const kindOf = (event: string): Kind => (event.startsWith('ERASURE_') ? 'erasure' : 'other')

const ruled = ({ origin, seq, kind, message }: DecisionFinding): Finding => ({
  origin,
  seq,
  rule: kind === 'unproven' ? 'DECISION_UNPROVEN' : 'DECISION',
  message,
})

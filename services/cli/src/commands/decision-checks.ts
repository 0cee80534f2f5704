// What a verification says of the decisions of people: how many are proven, and what it takes to judge those that are not.
import { createDecisionJudge } from '@baton/ledger'
import type { DecisionFinding, People } from '@baton/ledger'
import type { TaskTrace, VerifyReport } from '@baton/audit'
import { counted } from '../terminal/figures.ts'
import type { Mark } from '../terminal/output.ts'
import type { Check } from './verification-checks.ts'

type Decisions = NonNullable<VerifyReport['decisions']>

/** What there is to say where nothing is wrong with them. */
export function decisionsText(decisions: VerifyReport['decisions']): string {
  if (decisions === null) return 'not looked at'
  if (decisions.decisions === 0) return 'no record tells of one'
  const { judged } = decisions
  if (judged === null) return `${notJudged(decisions)}: BATON_PEOPLE says whose decisions count`
  const { trusted, unsigned } = judged
  const signed = `${counted(trusted, 'decision')} signed by people whose keys count here`
  return unsigned === 0 ? signed : `${signed}; ${unsigned} from before people signed, not judged`
}

/** Passed only where every decision is proven. */
export function decisionsMark(decisions: VerifyReport['decisions']): Mark {
  if (decisions === null) return 'unknown'
  const { trusted } = decisions.judged ?? { trusted: 0 }
  return trusted === decisions.decisions ? 'passed' : 'unknown'
}

const notJudged = ({ decisions }: Decisions): string =>
  `${counted(decisions, 'decision')} of people ${decisions === 1 ? 'is' : 'are'} not judged`

/** Put behind a verdict of which it would otherwise be believed that it judges them too. */
export function notJudgedNote(decisions: VerifyReport['decisions']): string {
  const isOpen = decisions !== null && decisions.decisions > 0 && decisions.judged === null
  return isOpen ? `; ${notJudged(decisions)} (give BATON_PEOPLE)` : ''
}

/** Not judged where nobody is named whose decisions count. */
export interface TaskCheck extends Check {
  readonly isJudged: boolean
}

/** The line about the decisions of one task; none where it has none. */
export function taskDecisions(
  { records, expired }: TaskTrace,
  people: People,
): readonly TaskCheck[] {
  const judge = createDecisionJudge({ people, isWhole: () => expired === 0 })
  const seen = records.flatMap(({ body }) => judge.next(body).findings)
  const found = [...seen, ...judge.finish()]
  const { trusted, untrusted, unsigned, wrong } = judge.tally()
  const decisions = trusted + untrusted + unsigned + wrong
  if (decisions === 0) return []
  const judged = people.size === 0 ? null : judge.tally()
  const text = decisionsText({ decisions, judged })
  const line = { name: 'decisions', isJudged: judged !== null }
  if (judged === null) return [{ ...line, mark: 'unknown', text }]
  const [worst] = found.toSorted((a, b) => RANK[a.kind] - RANK[b.kind])
  if (worst === undefined) return [{ ...line, mark: 'passed', text }]
  const mark = worst.kind === 'wrong' ? 'failed' : 'unknown'
  return [{ ...line, mark, text: `record ${worst.seq}: ${worst.message}` }]
}

const RANK: Readonly<Record<DecisionFinding['kind'], number>> = {
  wrong: 0,
  unproven: 1,
  unsigned: 2,
}

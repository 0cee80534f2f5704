// The checker: every invariant on all the evidence. It never stops at the first that breaks.
import { ACCOUNT_INVARIANTS } from './account-invariants.ts'
import { DECISION_INVARIANTS } from './decision-invariants.ts'
import { DELIVERY_INVARIANTS } from './delivery-invariants.ts'
import type { CampaignInvariant, Evidence } from './evidence.ts'
import { PEER_INVARIANTS } from './peer-invariants.ts'

/** Which of the campaign's invariants a rule of the doctor belongs to, by the promise it stands for. */
const OF_PROMISE: Readonly<Record<string, string>> = {
  I1: 'I13',
  I2: 'I2',
  I3: 'I4',
  I4: 'I3',
  I5: 'I3',
  I6: 'I10',
  I7: 'I11',
  I8: 'I9',
  I9: 'I15',
  I10: 'I5',
  I12: 'I12',
}

export const INVARIANTS: readonly CampaignInvariant[] = [
  ...DELIVERY_INVARIANTS,
  ...DECISION_INVARIANTS,
  ...ACCOUNT_INVARIANTS,
  ...PEER_INVARIANTS,
].toSorted((one, other) => Number(one.id.slice(1)) - Number(other.id.slice(1)))

export interface Violation {
  /** For example `I3`. */
  readonly id: string
  readonly promise: string
  readonly rule: string
  /** What breaks it, with the ids. */
  readonly what: string
}

/** Everything that is wrong, each with the invariant it breaks; empty when all hold. */
export function checkAll(evidence: Evidence): readonly Violation[] {
  const own = INVARIANTS.flatMap(({ id, promise, rule, check }) =>
    check(evidence).map((what) => ({ id, promise, rule, what })),
  )
  const doctors = evidence.rules.map(({ promise, rule, ids }) => ({
    id: OF_PROMISE[promise] ?? promise,
    promise,
    rule,
    what: `the doctor finds: ${ids.slice(0, 5).join(', ')}`,
  }))
  return [...own, ...doctors]
}

/** One line for a person: `I3 (promise I4), at most one effect ...: completed in epochs 1, 2: <id>`. */
export const describeViolation = ({ id, promise, rule, what }: Violation): string =>
  `${id} (promise ${promise}), ${rule}: ${what}`

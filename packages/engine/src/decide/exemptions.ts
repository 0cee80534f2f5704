// Which exemptions hold for one handoff, and which findings they take out of the scanner's decision. Pure: the time is the database's.
import { endedFault } from '@baton/ledger'
import type { ExemptionTerms, People } from '@baton/ledger'
import type { ExemptionOf } from '@baton/safety'
import type { ClaimedHandoff } from '@baton/store'
import { hasSent } from './has-sent.ts'

/** One whose signatures were found to be over its terms, by people who were known here when it was read. */
export interface Exemption extends ExemptionTerms {
  readonly id: string
  readonly signed: readonly {
    readonly person: string
    readonly keyId: string
    readonly signedAt: string
  }[]
}

/** What holds now. */
export type HeldExemption = Pick<Exemption, 'id' | 'rule' | 'pointer' | 'below'> & {
  /** How many different people signed it. */
  readonly people: number
}

type Judged = Pick<ClaimedHandoff, 'fromAgent' | 'tenant' | 'sentBy' | 'earlierSenders'>

/** Those that name this sender, this executing agent type and this tenant, whatever the time is. */
export const exemptionsOfPair = (
  exemptions: readonly Exemption[],
  { fromAgent, tenant }: Judged,
  agentType: string,
): readonly Exemption[] =>
  exemptions.filter(
    (one) =>
      one.from === fromAgent &&
      one.to === agentType &&
      (one.tenant === null || one.tenant === tenant),
  )

/** A clock of who signs may be so far ahead; the same as for other decisions. */
const AHEAD_MAX_MS = 300_000

/** Those of them that have not ended, and that somebody signed who counts and has not sent this handoff. */
export function heldExemptions(
  exemptions: readonly Exemption[],
  claimed: Judged,
  { people, now }: { readonly people: People; readonly now: Date },
): readonly HeldExemption[] {
  const nowMs = now.getTime()
  return exemptions
    .filter(({ until }) => nowMs < Date.parse(until))
    .map(({ id, rule, pointer, below, signed }) => {
      const counted = signed.filter(
        (one) =>
          Date.parse(one.signedAt) <= nowMs + AHEAD_MAX_MS &&
          endedFault(one, people, nowMs) === undefined &&
          !hasSent(claimed, one.person),
      )
      return { id, rule, pointer, below, people: new Set(counted.map(({ person }) => person)).size }
    })
    .filter((one) => one.people > 0)
}

/** A rule that rejects alone takes two people, like the release of one message that it stopped. */
const NEEDED_TO_REJECT = 2

/** Undefined where none holds. */
export const exempting = (held: readonly HeldExemption[]): ExemptionOf | undefined =>
  held.length === 0
    ? undefined
    : ({ ruleId, jsonPointer, effect }) =>
        held.find(
          (one) =>
            one.rule === ruleId &&
            (jsonPointer === one.pointer ||
              (one.below && jsonPointer.startsWith(`${one.pointer}/`))) &&
            (effect !== 'reject' || one.people >= NEEDED_TO_REJECT),
        )?.id

// What a claim says, and the rules by which it is checked; pure, so that each can be followed by hand.
import type { JsonObject } from '@baton/sdk'

/** Amounts are whole US dollars. */
export interface Claim {
  readonly policy: {
    readonly number: string
    readonly from: string
    readonly until: string
    readonly covers: readonly string[]
    readonly deductible: number
    readonly limit: number
  }
  readonly loss: {
    readonly on: string
    readonly reportedOn: string
    readonly kind: string
    readonly account: string
  }
  readonly items: readonly { readonly part: string; readonly amount: number }[]
}

export interface Coverage {
  readonly covered: boolean
  readonly why: string
  readonly deductible: number
  readonly limit: number
}

export interface Suspicion {
  readonly score: number
  readonly signs: readonly string[]
}

export interface Damage {
  readonly claimed: number
  readonly accepted: number
  readonly cut: readonly string[]
}

export interface ClaimDecision {
  readonly decision: 'pay' | 'refuse' | 'ask a person'
  readonly amount: number
  readonly why: string
}

const DAY_MS = 86_400_000
const REPORTED_LATE_DAYS = 14
const YOUNG_POLICY_DAYS = 30
const SUSPICIOUS_FROM = 50

const daysBetween = (from: string, until: string): number =>
  (Date.parse(until) - Date.parse(from)) / DAY_MS

/** Whether the policy pays for such a loss on that day. */
export function checkCoverage({ policy, loss }: Claim): Coverage {
  const { deductible, limit } = policy
  const isInForce = loss.on >= policy.from && loss.on <= policy.until
  if (!isInForce) return { covered: false, why: 'the policy was not in force', deductible, limit }
  const covered = policy.covers.includes(loss.kind)
  const why = covered ? `${loss.kind} is covered` : `${loss.kind} is not covered`
  return { covered, why, deductible, limit }
}

/** Signs that somebody should look; each counts, up to 100. */
export function checkFraud({ policy, loss, items }: Claim): Suspicion {
  const found: readonly (readonly [boolean, number, string])[] = [
    [daysBetween(policy.from, loss.on) < YOUNG_POLICY_DAYS, 40, 'the policy was days old'],
    [daysBetween(loss.on, loss.reportedOn) > REPORTED_LATE_DAYS, 30, 'it was reported late'],
    [items.every(({ amount }) => amount % 100 === 0), 20, 'every amount is round'],
    [!/witness|police|photo/i.test(loss.account), 15, 'nobody else saw it'],
  ]
  const signs = found.filter(([holds]) => holds)
  return {
    score: Math.min(
      100,
      signs.reduce((sum, [, weight]) => sum + weight, 0),
    ),
    signs: signs.map(([, , sign]) => sign),
  }
}

/** What the repair of each part costs at most. */
const PRICE_MAX: Readonly<Record<string, number>> = {
  bumper: 900,
  door: 1_400,
  headlight: 650,
  wing: 800,
  paint: 1_200,
}

/** What is accepted of each part: at most its price, and nothing of parts that no price list knows. */
export function assessDamage({ items }: Claim): Damage {
  const accepted = items.map(({ part, amount }) => Math.min(amount, PRICE_MAX[part] ?? 0))
  return {
    claimed: items.reduce((sum, { amount }) => sum + amount, 0),
    accepted: accepted.reduce((sum, amount) => sum + amount, 0),
    cut: items
      .filter(({ amount }, index) => amount > (accepted[index] ?? 0))
      .map(({ part }) => part),
  }
}

export interface Checks {
  readonly coverage: Coverage
  readonly fraud: Suspicion
  readonly damage: Damage
}

export function decide({ coverage, fraud, damage }: Checks): ClaimDecision {
  if (!coverage.covered) return { decision: 'refuse', amount: 0, why: coverage.why }
  if (fraud.score >= SUSPICIOUS_FROM)
    return { decision: 'ask a person', amount: 0, why: fraud.signs.join('; ') }
  const amount = Math.max(0, Math.min(damage.accepted - coverage.deductible, coverage.limit))
  const cut =
    damage.cut.length === 0 ? 'in full' : `less what is too much for ${damage.cut.join(', ')}`
  return { decision: 'pay', amount, why: `${coverage.why}; ${cut}, after the deductible` }
}

/** The claim as it stands in a task's state. */
export const readClaim = (state: JsonObject): Claim => state['claim'] as unknown as Claim

// What people may decide about a dead letter, how many of them it takes, what they agree on, and what such dead letters have in
// common; pure.
import { createHash } from 'node:crypto'
import type { DecisionSignature } from '@baton/ledger'
import { hasTaskEnded } from '@baton/protocol'
import type { Detail } from '@baton/protocol'
import type { HeldDeadLetter, Resolution, SignedVote, Vote, VotedAction } from '@baton/store'
import type { Redaction } from './redact-message.ts'
import type { Unsigned } from './signed-decisions.ts'

interface ReviewRule {
  /** Different people it takes to let it go on as it is; none can. */
  readonly release: number | null
  /** Different people it takes to let it go on with parts taken out; none can. */
  readonly redact: number | null
  /** An approval override is given for it; otherwise everything is judged again. */
  readonly overrides: boolean
}

/** Two people: one alone, also with a stolen key, lets nothing unsafe through. */
const UNSAFE: ReviewRule = { release: 2, redact: 2, overrides: true }
/** Nothing is overridden, so one person is enough. */
const INTERRUPTED: ReviewRule = { release: 1, redact: 1, overrides: false }
/** Bytes that nobody vouches for are never passed on; the sender can send them again. */
const UNTRUSTED: ReviewRule = { release: null, redact: null, overrides: false }

const RULES: ReadonlyMap<string, ReviewRule> = new Map([
  ['SAFETY_VIOLATION', UNSAFE],
  ['SIGNATURE_INVALID', UNTRUSTED],
  ['POISON', INTERRUPTED],
  ['UNRECORDABLE', INTERRUPTED],
])

/** A reason that is not in the table takes two people and overrides nothing. */
export const reviewRuleOf = (reason: string): ReviewRule =>
  RULES.get(reason) ?? { ...UNSAFE, overrides: false }

/** How many different people it takes; null where it cannot be done. */
export const reviewersNeeded = (reason: string, action: VotedAction): number | null =>
  reviewRuleOf(reason)[action === 'RELEASE' ? 'release' : 'redact']

/** Why nothing was decided. */
export type ReviewRefusal =
  | { readonly why: 'unknown' | 'own' | 'task_ended' | 'overdue' | 'no_verdict' | 'no_proposal' }
  | { readonly why: 'resolved'; readonly resolution: Resolution }
  | { readonly why: 'not_allowed'; readonly reason: string }
  | { readonly why: 'redaction'; readonly details: readonly Detail[]; readonly unsafe: boolean }
  | Unsigned

export type ReviewOutcome =
  /** More people are needed; `proposal` names what they must agree to. */
  | {
      readonly kind: 'waiting'
      readonly reviewers: readonly string[]
      readonly needed: number
      readonly proposal: string
    }
  /** `repeated`: it had been decided so before, and nothing happened now. */
  | { readonly kind: 'decided'; readonly resolution: Resolution; readonly repeated: boolean }
  | { readonly kind: 'asked'; readonly repeated: boolean }
  | ({ readonly kind: 'refused' } & ReviewRefusal)

/** Whose decision about which dead letter. */
export interface Decider {
  readonly handoffId: string
  /** The operator of the API key. */
  readonly reviewer: string
  /** What this person signed; only asking the sender takes no signature. */
  readonly signed?: DecisionSignature | undefined
}

/** The first answer again where the same was decided before; a refusal where something else was. */
export function decidedBefore(
  deadLetter: HeldDeadLetter,
  resolution: Resolution,
): ReviewOutcome | undefined {
  if (deadLetter.resolution === null) return undefined
  return deadLetter.resolution === resolution
    ? { kind: 'decided', resolution, repeated: true }
    : { kind: 'refused', why: 'resolved', resolution: deadLetter.resolution }
}

/** Why it cannot go back to the queue, by this vote or at all. */
export function whyNotReopened(
  deadLetter: HeldDeadLetter,
  action: VotedAction | undefined,
): ReviewOutcome | undefined {
  const { reason, resolution } = deadLetter
  if (resolution !== null) return { kind: 'refused', why: 'resolved', resolution }
  if (action !== undefined && reviewersNeeded(reason, action) === null)
    return { kind: 'refused', why: 'not_allowed', reason }
  if (hasTaskEnded(deadLetter.taskStatus) || deadLetter.canceling)
    return { kind: 'refused', why: 'task_ended' }
  return deadLetter.overdue ? { kind: 'refused', why: 'overdue' } : undefined
}

/** What reviewers vote about, as one text: two people agree only where their texts are equal. */
export interface Proposal {
  readonly action: VotedAction
  /** JSON, in one spelling: its names are stored with votes and shown over HTTP, and never change. */
  readonly text: string
  /** Lower-case hex digest of the text. */
  readonly sha256: string
}

type Quarantined = Pick<
  HeldDeadLetter,
  'handoffId' | 'quarantineAttempt' | 'sha256' | 'rulesetVersion'
>

/** To let these bytes pass this scanner; `validHours` is null where no check is overridden. */
export const proposeOverride = (deadLetter: Quarantined, validHours: number | null): Proposal =>
  proposalOf('RELEASE', {
    handoffId: deadLetter.handoffId,
    round: deadLetter.quarantineAttempt,
    sha256: deadLetter.sha256,
    artefactId: deadLetter.rulesetVersion,
    validHours,
  })

/** To let these bytes go on without the texts at these places, in whatever order they were named. */
export function proposeRedaction(
  deadLetter: Omit<Quarantined, 'rulesetVersion'>,
  asked: readonly Redaction[],
) {
  const redactions = asked
    .map(({ pointer, spans }) =>
      spans === undefined ? { pointer } : { pointer, spans: inOrder(spans) },
    )
    .toSorted((a, b) => compare(JSON.stringify(a), JSON.stringify(b)))
  const proposal = proposalOf('REDACT', {
    handoffId: deadLetter.handoffId,
    round: deadLetter.quarantineAttempt,
    sha256: deadLetter.sha256,
    redactions,
  })
  return { ...proposal, redactions }
}

const inOrder = (spans: NonNullable<Redaction['spans']>) =>
  spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])

const compare = (a: string, b: string): number => (a < b ? -1 : Number(a > b))

function proposalOf(action: VotedAction, content: object): Proposal {
  const text = JSON.stringify(content)
  const sha256 = createHash('sha256').update(`baton/proposal/v1\n${action}\n${text}`).digest('hex')
  return { action, text, sha256 }
}

/** One signed vote of each person who voted for exactly this, first one first, and how many people it takes. */
export function agreementOn(
  { action, sha256 }: Proposal,
  votes: readonly Vote[],
  reason: string,
): { readonly agreeing: readonly SignedVote[]; readonly needed: number } {
  const byPerson = new Map<string, SignedVote>()
  for (const { action: voted, proposalSha256, reviewer: person, signed } of votes)
    if (voted === action && proposalSha256 === sha256 && signed !== null && !byPerson.has(person))
      byPerson.set(person, { person, signed })
  const needed = reviewersNeeded(reason, action) ?? Number.POSITIVE_INFINITY
  return { agreeing: [...byPerson.values()], needed }
}

/** What somebody proposed to take out; undefined where nobody proposed it about these bytes. */
export function redactionsOf(
  votes: readonly Vote[],
  proposalSha256: string,
): readonly Redaction[] | undefined {
  const first = votes.find(
    (one) => one.action === 'REDACT' && one.proposalSha256 === proposalSha256,
  )
  return ((first?.proposal ?? {}) as { redactions?: readonly Redaction[] }).redactions
}

const PARTS_MAX = 5
const PART_LENGTH_MAX = 160

interface Place {
  readonly pointer?: unknown
  readonly rule?: unknown
}

/**
 * The cluster of a dead letter, such as `SAFETY_VIOLATION override@/toolCallHistory/*`: each rule and
 * pointer once, array indexes as `*`, in one order, at most five of them. The text of a message
 * never stands in it.
 */
export function clusterOf(reason: string, details: readonly Place[]): string {
  const parts = [...new Set(details.map(partOf))].filter((part) => part !== '').toSorted()
  const rest = parts.length - PARTS_MAX
  const shown = parts.slice(0, PARTS_MAX).join(' ')
  return [reason, shown, rest > 0 ? `+${rest}` : ''].filter((text) => text !== '').join(' ')
}

function partOf({ pointer, rule }: Place): string {
  const name = typeof rule === 'string' ? rule : ''
  const place = typeof pointer === 'string' ? pointer.replaceAll(/\/\d+(?=\/|$)/g, '/*') : ''
  const part = place === '' ? name : `${name}@${place}`
  return part
    .slice(0, PART_LENGTH_MAX)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, '?')
}

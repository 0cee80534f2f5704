// What people decide about a dead letter. The decision, its records and its effect commit together.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '@baton/ledger'
import { signRelease } from '@baton/protocol'
import type { KeyRing } from '@baton/protocol'
import type { HeldDeadLetter, Resolution, StoredMessage, VotedAction } from '@baton/store'
import { crashPoint } from '@baton/runtime'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import type { Redaction } from './decide/redact-message.ts'
import type { RedactedMessage } from './redact-stored.ts'
import type { Decider, ReviewOutcome, ReviewTables } from './decide/review-outcome.ts'
import { proposeRedaction, proposeRelease } from './decide/review-proposal.ts'
import type { Proposal } from './decide/review-proposal.ts'
import { reviewRuleOf, reviewersNeeded } from './decide/review-rules.ts'

export interface ReviewDeps {
  transact<Result>(work: (tables: ReviewTables) => Promise<Result>): Promise<Result>
  /** Called after a handoff went back to the queue. */
  wakeRelays(): void
  readonly keyRing: KeyRing
  redact(stored: StoredMessage, redactions: readonly Redaction[]): RedactedMessage
}

export interface Reviewer {
  /** Votes to let it go on as it is; takes effect with the last vote that is needed. */
  release(decider: Decider, validHours: number): Promise<ReviewOutcome>
  /** Votes to let it go on without some texts; or, given a proposal's digest, for what another proposed. */
  redact(decider: Decider, asked: readonly Redaction[] | string): Promise<ReviewOutcome>
  discard(decider: Decider): Promise<ReviewOutcome>
  askSender(decider: Decider): Promise<ReviewOutcome>
}

export function createReviewer(deps: ReviewDeps): Reviewer {
  async function decide(
    { handoffId, reviewer }: Decider,
    work: (held: Held) => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome> {
    const outcome = await deps.transact(async (tables): Promise<ReviewOutcome> => {
      const letter = (await tables.hold([handoffId])).get(handoffId)
      if (letter === undefined) return { kind: 'refused', why: 'unknown' }
      if (letter.sentBy === reviewer) return { kind: 'refused', why: 'own' }
      const result = await work({ tables, letter, reviewer })
      crashPoint('review.before_commit')
      return result
    })
    crashPoint('review.after_commit')
    if (outcome.kind === 'decided' && outcome.resolution !== 'DISCARDED') deps.wakeRelays()
    return outcome
  }

  return {
    release: (decider, validHours) => decide(decider, (held) => release(held, validHours, deps)),
    redact: (decider, asked) => decide(decider, (held) => redact(held, asked, deps)),
    discard: (decider) => decide(decider, discard),
    askSender: (decider) => decide(decider, ask),
  }
}

/** A letter that nobody else can decide about meanwhile, and who decides. */
interface Held {
  readonly tables: ReviewTables
  readonly letter: HeldDeadLetter
  readonly reviewer: string
}

async function release(
  held: Held,
  validHours: number,
  { keyRing }: ReviewDeps,
): Promise<ReviewOutcome> {
  const { letter } = held
  const settled = settledBefore(letter, 'RELEASED') ?? whyNotReopened(letter, 'RELEASE')
  if (settled !== undefined) return settled
  const { overrides } = reviewRuleOf(letter.reason)
  if (overrides && letter.artefactId === null) return { kind: 'refused', why: 'no_verdict' }
  const voted = await vote(held, proposeRelease(letter, overrides ? validHours : null))
  if (voted.kind === 'waiting') return voted
  const { reviewers } = voted
  const releaseId = overrides ? await giveRelease(held, { validHours, reviewers, keyRing }) : null
  return takeEffect(held, releaseId, 'RELEASED')
}

async function redact(
  held: Held,
  asked: readonly Redaction[] | string,
  deps: ReviewDeps,
): Promise<ReviewOutcome> {
  const { tables, letter } = held
  const settled = settledBefore(letter, 'REDACTED') ?? whyNotReopened(letter, 'REDACT')
  if (settled !== undefined) return settled
  const proposal = await proposedRedaction(held, asked)
  if (proposal === undefined) return { kind: 'refused', why: 'no_proposal' }
  const stored = await tables.findMessage(letter.handoffId)
  if (stored === undefined) return { kind: 'refused', why: 'unknown' }
  const redacted = deps.redact(stored, proposal.redactions)
  if (!redacted.ok) {
    const { details, unsafe } = redacted
    return { kind: 'refused', why: 'redaction', details, unsafe }
  }
  const voted = await vote(held, proposal)
  if (voted.kind === 'waiting') return voted
  await tables.replaceMessage(letter.handoffId, redacted.signed)
  return takeEffect(held, null, 'REDACTED')
}

async function discard(held: Held): Promise<ReviewOutcome> {
  const settled = settledBefore(held.letter, 'DISCARDED')
  if (settled !== undefined) return settled
  await held.tables.discard(held.letter.handoffId)
  await recordAct(held, 'DEAD_LETTER_DISCARDED')
  return { kind: 'decided', resolution: 'DISCARDED', repeated: false }
}

async function ask(held: Held): Promise<ReviewOutcome> {
  const { tables, letter } = held
  const settled = whyNotReopened(letter, undefined)
  if (settled !== undefined) return settled
  if (letter.asked) return { kind: 'asked', repeated: true }
  await tables.askSender(letter.handoffId, randomUUID())
  await recordAct(held, 'SENDER_ASKED')
  return { kind: 'asked', repeated: false }
}

/** The first answer again where the same was decided before; a refusal where something else was. */
function settledBefore(letter: HeldDeadLetter, resolution: Resolution): ReviewOutcome | undefined {
  if (letter.resolution === null) return undefined
  return letter.resolution === resolution
    ? { kind: 'decided', resolution, repeated: true }
    : { kind: 'refused', why: 'resolved', resolution: letter.resolution }
}

function whyNotReopened(
  letter: HeldDeadLetter,
  action: VotedAction | undefined,
): ReviewOutcome | undefined {
  const { reason, resolution } = letter
  if (resolution !== null) return { kind: 'refused', why: 'resolved', resolution }
  if (action !== undefined && reviewersNeeded(reason, action) === null)
    return { kind: 'refused', why: 'not_allowed', reason }
  if (ENDED.has(letter.taskStatus) || letter.canceling)
    return { kind: 'refused', why: 'task_ended' }
  return letter.overdue ? { kind: 'refused', why: 'overdue' } : undefined
}

const ENDED: ReadonlySet<string> = new Set(['COMPLETED', 'FAILED', 'CANCELED'])

type Voted =
  | Extract<ReviewOutcome, { kind: 'waiting' }>
  | { readonly kind: 'agreed'; readonly reviewers: readonly string[] }

async function vote(held: Held, { action, sha256, text }: Proposal): Promise<Voted> {
  const { tables, letter, reviewer } = held
  const { handoffId, round, reason } = letter
  const id = randomUUID()
  const ballot = { handoffId, round, action, proposalSha256: sha256, proposal: text }
  const fresh = await tables.addVote({ ...ballot, id, reviewer })
  if (fresh) await recordAct(held, 'RELEASE_APPROVED', id)
  const votes = await tables.listVotes(handoffId, round)
  const agreeing = votes.filter((one) => one.action === action && one.proposalSha256 === sha256)
  const reviewers = [...new Set(agreeing.map((one) => one.reviewer))]
  const needed = reviewersNeeded(reason, action) ?? Number.POSITIVE_INFINITY
  if (reviewers.length >= needed) return { kind: 'agreed', reviewers }
  return { kind: 'waiting', reviewers, needed, proposal: sha256 }
}

interface Giving {
  readonly validHours: number
  readonly reviewers: readonly string[]
  readonly keyRing: KeyRing
}

async function giveRelease({ tables, letter }: Held, giving: Giving): Promise<string> {
  const { validHours, reviewers, keyRing } = giving
  const { handoffId, sha256, reason, artefactId } = letter
  const expiresAt = await tables.releaseEnd(validHours)
  const terms = { id: randomUUID(), handoffId, sha256, reason, reviewers, expiresAt }
  await tables.addRelease(signRelease({ ...terms, artefactId: artefactId ?? '' }, keyRing))
  return terms.id
}

// The consequence of the votes is nobody's own act; the votes stand in the chain right before it.
async function takeEffect(
  { tables, letter }: Held,
  releaseId: string | null,
  resolution: 'RELEASED' | 'REDACTED',
): Promise<ReviewOutcome> {
  await tables.reopen([{ handoffId: letter.handoffId, releaseId }], resolution)
  const event = resolution === 'RELEASED' ? 'HANDOFF_RELEASED' : 'HANDOFF_REDACTED'
  const entry = lifecycleEntry(letter, event, letter.reason)
  await tables.record([toIntent(releaseId === null ? entry : { ...entry, release: releaseId })])
  return { kind: 'decided', resolution, repeated: false }
}

const recordAct = (
  { tables, letter, reviewer }: Held,
  event: AuditEvent,
  id: string = randomUUID(),
): Promise<void> =>
  tables.record([
    toIntent({ ...lifecycleEntry(letter, event, letter.reason), act: { id, actor: reviewer } }),
  ])

async function proposedRedaction({ tables, letter }: Held, asked: readonly Redaction[] | string) {
  if (typeof asked !== 'string') return proposeRedaction(letter, asked)
  const votes = await tables.listVotes(letter.handoffId, letter.round)
  const first = votes.find((one) => one.action === 'REDACT' && one.proposalSha256 === asked)
  const { redactions } = (first?.proposal ?? {}) as { redactions?: readonly Redaction[] }
  return redactions === undefined ? undefined : proposeRedaction(letter, redactions)
}

// What people decide about a dead letter. The decision, its records and its effect commit together.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '@baton/ledger'
import { signOverride } from '@baton/protocol'
import type { KeyRing } from '@baton/protocol'
import { crashPoint } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import {
  addOutboxEvents,
  addOverride,
  addVote,
  askSender,
  discardDeadLetter,
  findStoredMessage,
  holdDeadLetters,
  inTransaction,
  listVotes,
  overrideEnd,
  reopenHandoffs,
  replaceMessage,
} from '@baton/store'
import type { Database, HeldDeadLetter, Pool } from '@baton/store'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { redactStored } from './decide/redact-message.ts'
import type { Redaction } from './decide/redact-message.ts'
import {
  agreementOn,
  decidedBefore,
  proposeOverride,
  proposeRedaction,
  redactionsOf,
  reviewRuleOf,
  whyNotReopened,
} from './decide/review.ts'
import type { Decider, Proposal, ReviewOutcome } from './decide/review.ts'
import { wakeRelays } from './wake.ts'

interface ReviewParts {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly scanner: Scanner
}

export interface Reviewer {
  /** Votes to let it go on as it is; takes effect with the last vote that is needed. */
  release(decider: Decider, validHours: number): Promise<ReviewOutcome>
  /** Votes to let it go on without some texts; or, given a proposal's digest, for what another proposed. */
  redact(decider: Decider, asked: readonly Redaction[] | string): Promise<ReviewOutcome>
  discard(decider: Decider): Promise<ReviewOutcome>
  askSender(decider: Decider): Promise<ReviewOutcome>
}

/** A dead letter that nobody else can decide about meanwhile, and who decides. */
interface Held {
  readonly transaction: Database
  readonly deadLetter: HeldDeadLetter
  readonly reviewer: string
}

export function createReviewer(parts: ReviewParts): Reviewer {
  async function decide(
    { handoffId, reviewer }: Decider,
    work: (held: Held) => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome> {
    const outcome = await inTransaction(parts.pool, async (transaction): Promise<ReviewOutcome> => {
      const deadLetter = (await holdDeadLetters(transaction, [handoffId])).get(handoffId)
      if (deadLetter === undefined) return { kind: 'refused', why: 'unknown' }
      if (deadLetter.sentBy === reviewer) return { kind: 'refused', why: 'own' }
      const result = await work({ transaction, deadLetter, reviewer })
      crashPoint('review.before_commit')
      return result
    })
    crashPoint('review.after_commit')
    if (outcome.kind === 'decided' && outcome.resolution !== 'DISCARDED') wakeRelays(parts.pool)
    return outcome
  }

  return {
    release: (decider, validHours) => decide(decider, (held) => release(held, validHours, parts)),
    redact: (decider, asked) => decide(decider, (held) => redact(held, asked, parts)),
    discard: (decider) => decide(decider, discard),
    askSender: (decider) => decide(decider, ask),
  }
}

async function release(
  held: Held,
  validHours: number,
  { keyRing }: ReviewParts,
): Promise<ReviewOutcome> {
  const { transaction, deadLetter } = held
  const refused = decidedBefore(deadLetter, 'RELEASED') ?? whyNotReopened(deadLetter, 'RELEASE')
  if (refused !== undefined) return refused
  const { handoffId, sha256, reason, rulesetVersion } = deadLetter
  const { overrides } = reviewRuleOf(reason)
  if (overrides && rulesetVersion === null) return { kind: 'refused', why: 'no_verdict' }
  const voted = await vote(held, proposeOverride(deadLetter, overrides ? validHours : null))
  if (voted.kind === 'waiting') return voted
  if (!overrides) return takeEffect(held, null, 'RELEASED')
  const expiresAt = await overrideEnd(transaction, validHours)
  const terms = { id: randomUUID(), handoffId, sha256, reason, expiresAt }
  const { reviewers } = voted
  const given = signOverride({ ...terms, reviewers, rulesetVersion: rulesetVersion ?? '' }, keyRing)
  await addOverride(transaction, given)
  return takeEffect(held, given.id, 'RELEASED')
}

async function redact(
  held: Held,
  asked: readonly Redaction[] | string,
  { keyRing, scanner }: ReviewParts,
): Promise<ReviewOutcome> {
  const { transaction, deadLetter } = held
  const refused = decidedBefore(deadLetter, 'REDACTED') ?? whyNotReopened(deadLetter, 'REDACT')
  if (refused !== undefined) return refused
  const { handoffId, quarantineAttempt } = deadLetter
  const redactions =
    typeof asked === 'string'
      ? redactionsOf(await listVotes(transaction, handoffId, quarantineAttempt), asked)
      : asked
  if (redactions === undefined) return { kind: 'refused', why: 'no_proposal' }
  const proposal = proposeRedaction(deadLetter, redactions)
  const stored = await findStoredMessage(transaction, handoffId)
  if (stored === undefined) return { kind: 'refused', why: 'unknown' }
  const redacted = redactStored(stored, proposal.redactions, { keyRing, scan: scanner.scan })
  if (!redacted.ok) {
    const { details, unsafe } = redacted
    return { kind: 'refused', why: 'redaction', details, unsafe }
  }
  const voted = await vote(held, proposal)
  if (voted.kind === 'waiting') return voted
  await replaceMessage(transaction, handoffId, redacted.signed)
  return takeEffect(held, null, 'REDACTED')
}

async function discard(held: Held): Promise<ReviewOutcome> {
  const refused = decidedBefore(held.deadLetter, 'DISCARDED')
  if (refused !== undefined) return refused
  await discardDeadLetter(held.transaction, held.deadLetter.handoffId)
  await recordAct(held, 'DEAD_LETTER_DISCARDED')
  return { kind: 'decided', resolution: 'DISCARDED', repeated: false }
}

async function ask(held: Held): Promise<ReviewOutcome> {
  const { transaction, deadLetter } = held
  const refused = whyNotReopened(deadLetter, undefined)
  if (refused !== undefined) return refused
  if (deadLetter.asked) return { kind: 'asked', repeated: true }
  await askSender(transaction, deadLetter.handoffId, randomUUID())
  await recordAct(held, 'SENDER_ASKED')
  return { kind: 'asked', repeated: false }
}

type Voted =
  | Extract<ReviewOutcome, { kind: 'waiting' }>
  | { readonly kind: 'agreed'; readonly reviewers: readonly string[] }

async function vote(held: Held, proposal: Proposal): Promise<Voted> {
  const { transaction, deadLetter, reviewer } = held
  const { handoffId, quarantineAttempt, reason } = deadLetter
  const { action, sha256, text } = proposal
  const id = randomUUID()
  const ballot = {
    id,
    handoffId,
    quarantineAttempt,
    action,
    proposalSha256: sha256,
    proposal: text,
    reviewer,
  }
  if (await addVote(transaction, ballot)) await recordAct(held, 'RELEASE_APPROVED', id)
  const votes = await listVotes(transaction, handoffId, quarantineAttempt)
  const { reviewers, needed } = agreementOn(proposal, votes, reason)
  if (reviewers.length >= needed) return { kind: 'agreed', reviewers }
  return { kind: 'waiting', reviewers, needed, proposal: sha256 }
}

// The consequence of the votes is nobody's own act; the votes stand in the chain right before it.
async function takeEffect(
  { transaction, deadLetter }: Held,
  approvalOverrideId: string | null,
  resolution: 'RELEASED' | 'REDACTED',
): Promise<ReviewOutcome> {
  await reopenHandoffs(
    transaction,
    [{ handoffId: deadLetter.handoffId, approvalOverrideId }],
    resolution,
  )
  const event = resolution === 'RELEASED' ? 'HANDOFF_RELEASED' : 'HANDOFF_REDACTED'
  const entry = lifecycleEntry(deadLetter, event, deadLetter.reason)
  const release = approvalOverrideId === null ? {} : { release: approvalOverrideId }
  await addOutboxEvents(transaction, [toOutboxEvent({ ...entry, ...release })])
  return { kind: 'decided', resolution, repeated: false }
}

function recordAct(
  { transaction, deadLetter, reviewer }: Held,
  event: AuditEvent,
  id: string = randomUUID(),
): Promise<void> {
  const entry = lifecycleEntry(deadLetter, event, deadLetter.reason)
  return addOutboxEvents(transaction, [toOutboxEvent({ ...entry, act: { id, actor: reviewer } })])
}

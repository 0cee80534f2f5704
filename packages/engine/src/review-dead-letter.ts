// What people decide about a dead letter. The decision, its records and its effect commit together.
import { randomUUID } from 'node:crypto'
import type { AuditEntry, AuditEvent, DecisionSignature, People } from '@baton/ledger'
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
  reopenHandoffs,
  replaceMessage,
} from '@baton/store'
import type { Database, HeldDeadLetter, Pool, Reopening, SignedVote } from '@baton/store'
import { hasSent } from './decide/has-sent.ts'
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
import { discardDecision, overrideEnd, readAct, voteDecision } from './decide/signed-decisions.ts'
import { wakeRelays } from './wake.ts'

interface ReviewParts {
  readonly pool: Pool
  /** Whose signatures count. */
  readonly people: People
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
  readonly signed: DecisionSignature | undefined
}

export function createReviewer(parts: ReviewParts): Reviewer {
  async function decide(
    { handoffId, reviewer, signed }: Decider,
    work: (held: Held) => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome> {
    const outcome = await inTransaction(parts.pool, async (transaction): Promise<ReviewOutcome> => {
      const deadLetter = (await holdDeadLetters(transaction, [handoffId])).get(handoffId)
      if (deadLetter === undefined) return { kind: 'refused', why: 'unknown' }
      if (hasSent(deadLetter, reviewer)) return { kind: 'refused', why: 'own' }
      const result = await work({ transaction, deadLetter, reviewer, signed })
      if (result.kind !== 'refused') crashPoint('review.before_commit')
      return result
    })
    if (outcome.kind === 'refused') return outcome
    crashPoint('review.after_commit')
    if (outcome.kind === 'decided' && outcome.resolution !== 'DISCARDED') wakeRelays(parts.pool)
    return outcome
  }

  return {
    release: (decider, validHours) => decide(decider, (held) => release(held, validHours, parts)),
    redact: (decider, asked) => decide(decider, (held) => redact(held, asked, parts)),
    discard: (decider) => decide(decider, (held) => discard(held, parts)),
    askSender: (decider) => decide(decider, ask),
  }
}

async function release(
  held: Held,
  validHours: number,
  { people }: ReviewParts,
): Promise<ReviewOutcome> {
  const { transaction, deadLetter } = held
  const refused = decidedBefore(deadLetter, 'RELEASED') ?? whyNotReopened(deadLetter, 'RELEASE')
  if (refused !== undefined) return refused
  const { handoffId, sha256, reason, rulesetVersion, quarantineAttempt } = deadLetter
  const { overrides } = reviewRuleOf(reason)
  if (overrides && rulesetVersion === null) return { kind: 'refused', why: 'no_verdict' }
  const voted = await vote(held, proposeOverride(deadLetter, overrides ? validHours : null), people)
  if (voted.kind !== 'agreed') return voted
  if (!overrides) return takeEffect(held, RELEASED)
  const override = {
    id: randomUUID(),
    handoffId,
    sha256,
    reason,
    rulesetVersion: rulesetVersion ?? '',
    expiresAt: overrideEnd(voted.votes, validHours),
    quarantineAttempt,
    validHours,
    votes: voted.votes,
  }
  await addOverride(transaction, override)
  return takeEffect(held, { ...RELEASED, approvalOverrideId: override.id })
}

async function redact(
  held: Held,
  asked: readonly Redaction[] | string,
  { keyRing, scanner, people }: ReviewParts,
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
  const voted = await vote(held, proposal, people)
  if (voted.kind !== 'agreed') return voted
  await replaceMessage(transaction, handoffId, redacted.signed)
  return takeEffect(held, { ...REDACTED, approveAnew: redacted.requiresApproval })
}

async function discard(held: Held, { people }: ReviewParts): Promise<ReviewOutcome> {
  const { transaction, deadLetter, reviewer, signed } = held
  const refused = decidedBefore(deadLetter, 'DISCARDED')
  if (refused !== undefined) return refused
  const decision = discardDecision({ ...deadLetter, person: reviewer }, deadLetter)
  const read = readAct(decision, signed, people)
  if ('why' in read) return { kind: 'refused', ...read }
  await discardDeadLetter(transaction, deadLetter.handoffId)
  await recordAct(held, 'DEAD_LETTER_DISCARDED', read.act)
  return { kind: 'decided', resolution: 'DISCARDED', repeated: false }
}

async function ask(held: Held): Promise<ReviewOutcome> {
  const { transaction, deadLetter } = held
  const refused = whyNotReopened(deadLetter, undefined)
  if (refused !== undefined) return refused
  if (deadLetter.asked) return { kind: 'asked', repeated: true }
  await askSender(transaction, deadLetter.handoffId, randomUUID())
  await recordAct(held, 'SENDER_ASKED', { id: randomUUID(), actor: held.reviewer })
  return { kind: 'asked', repeated: false }
}

type Voted =
  | Extract<ReviewOutcome, { kind: 'waiting' | 'refused' }>
  | { readonly kind: 'agreed'; readonly votes: readonly SignedVote[] }

async function vote(held: Held, proposal: Proposal, people: People): Promise<Voted> {
  const { transaction, deadLetter, reviewer, signed } = held
  const { handoffId, quarantineAttempt, reason } = deadLetter
  const { action, sha256, text } = proposal
  const read = readAct(voteDecision({ ...deadLetter, person: reviewer }, sha256), signed, people)
  if ('why' in read) return { kind: 'refused', ...read }
  const ballot = {
    id: read.act.id,
    handoffId,
    quarantineAttempt,
    action,
    proposalSha256: sha256,
    proposal: text,
    reviewer,
    signed: read.signed,
  }
  if (await addVote(transaction, ballot)) await recordAct(held, 'RELEASE_APPROVED', read.act)
  const votes = await listVotes(transaction, handoffId, quarantineAttempt)
  const { agreeing, needed } = agreementOn(proposal, votes, reason)
  if (agreeing.length >= needed) return { kind: 'agreed', votes: agreeing }
  const reviewers = agreeing.map(({ person }) => person)
  return { kind: 'waiting', reviewers, needed, proposal: sha256 }
}

interface Effect extends Omit<Reopening, 'handoffId'> {
  readonly resolution: 'RELEASED' | 'REDACTED'
  readonly event: AuditEvent
}

const RELEASED: Effect = {
  resolution: 'RELEASED',
  event: 'HANDOFF_RELEASED',
  approvalOverrideId: null,
}
const REDACTED: Effect = {
  resolution: 'REDACTED',
  event: 'HANDOFF_REDACTED',
  approvalOverrideId: null,
}

// The consequence of the votes is nobody's own act; the votes stand in the chain right before it.
async function takeEffect(
  { transaction, deadLetter }: Held,
  { resolution, event, ...reopening }: Effect,
): Promise<ReviewOutcome> {
  const { handoffId, reason } = deadLetter
  await reopenHandoffs(transaction, [{ handoffId, ...reopening }], resolution)
  const entry = lifecycleEntry(deadLetter, event, reason)
  const { approvalOverrideId } = reopening
  const release = approvalOverrideId === null ? {} : { release: approvalOverrideId }
  await addOutboxEvents(transaction, [toOutboxEvent({ ...entry, ...release })])
  return { kind: 'decided', resolution, repeated: false }
}

function recordAct(
  { transaction, deadLetter }: Held,
  event: AuditEvent,
  act: NonNullable<AuditEntry['act']>,
): Promise<void> {
  const entry = lifecycleEntry(deadLetter, event, deadLetter.reason)
  return addOutboxEvents(transaction, [toOutboxEvent({ ...entry, act })])
}

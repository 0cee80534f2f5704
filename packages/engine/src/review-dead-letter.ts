// What people decide about a dead letter. The decision, its records and its effect commit together.
import { randomUUID } from 'node:crypto'
import type { AuditEvent } from '@baton/ledger'
import { signRelease } from '@baton/protocol'
import type { KeyRing } from '@baton/protocol'
import { crashPoint } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import {
  addAuditIntents,
  addRelease,
  addVote,
  askSender,
  discardDeadLetter,
  findStoredMessage,
  holdDeadLetters,
  inTransaction,
  listVotes,
  releaseEnd,
  reopenHandoffs,
  replaceMessage,
} from '@baton/store'
import type { Database, HeldDeadLetter, Pool } from '@baton/store'
import { lifecycleEntry, toIntent } from './decide/audit-entries.ts'
import { redactStored } from './decide/redact-message.ts'
import type { Redaction } from './decide/redact-message.ts'
import {
  agreementOn,
  decidedBefore,
  proposeRedaction,
  proposeRelease,
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

/** A letter that nobody else can decide about meanwhile, and who decides. */
interface Held {
  readonly transaction: Database
  readonly letter: HeldDeadLetter
  readonly reviewer: string
}

export function createReviewer(parts: ReviewParts): Reviewer {
  async function decide(
    { handoffId, reviewer }: Decider,
    work: (held: Held) => Promise<ReviewOutcome>,
  ): Promise<ReviewOutcome> {
    const outcome = await inTransaction(parts.pool, async (transaction): Promise<ReviewOutcome> => {
      const letter = (await holdDeadLetters(transaction, [handoffId])).get(handoffId)
      if (letter === undefined) return { kind: 'refused', why: 'unknown' }
      if (letter.sentBy === reviewer) return { kind: 'refused', why: 'own' }
      const result = await work({ transaction, letter, reviewer })
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
  const { transaction, letter } = held
  const refused = decidedBefore(letter, 'RELEASED') ?? whyNotReopened(letter, 'RELEASE')
  if (refused !== undefined) return refused
  const { handoffId, sha256, reason, artefactId } = letter
  const { overrides } = reviewRuleOf(reason)
  if (overrides && artefactId === null) return { kind: 'refused', why: 'no_verdict' }
  const voted = await vote(held, proposeRelease(letter, overrides ? validHours : null))
  if (voted.kind === 'waiting') return voted
  if (!overrides) return takeEffect(held, null, 'RELEASED')
  const expiresAt = await releaseEnd(transaction, validHours)
  const terms = { id: randomUUID(), handoffId, sha256, reason, expiresAt }
  const { reviewers } = voted
  const given = signRelease({ ...terms, reviewers, artefactId: artefactId ?? '' }, keyRing)
  await addRelease(transaction, given)
  return takeEffect(held, given.id, 'RELEASED')
}

async function redact(
  held: Held,
  asked: readonly Redaction[] | string,
  { keyRing, scanner }: ReviewParts,
): Promise<ReviewOutcome> {
  const { transaction, letter } = held
  const refused = decidedBefore(letter, 'REDACTED') ?? whyNotReopened(letter, 'REDACT')
  if (refused !== undefined) return refused
  const { handoffId, round } = letter
  const redactions =
    typeof asked === 'string'
      ? redactionsOf(await listVotes(transaction, handoffId, round), asked)
      : asked
  if (redactions === undefined) return { kind: 'refused', why: 'no_proposal' }
  const proposal = proposeRedaction(letter, redactions)
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
  const refused = decidedBefore(held.letter, 'DISCARDED')
  if (refused !== undefined) return refused
  await discardDeadLetter(held.transaction, held.letter.handoffId)
  await recordAct(held, 'DEAD_LETTER_DISCARDED')
  return { kind: 'decided', resolution: 'DISCARDED', repeated: false }
}

async function ask(held: Held): Promise<ReviewOutcome> {
  const { transaction, letter } = held
  const refused = whyNotReopened(letter, undefined)
  if (refused !== undefined) return refused
  if (letter.asked) return { kind: 'asked', repeated: true }
  await askSender(transaction, letter.handoffId, randomUUID())
  await recordAct(held, 'SENDER_ASKED')
  return { kind: 'asked', repeated: false }
}

type Voted =
  | Extract<ReviewOutcome, { kind: 'waiting' }>
  | { readonly kind: 'agreed'; readonly reviewers: readonly string[] }

async function vote(held: Held, proposal: Proposal): Promise<Voted> {
  const { transaction, letter, reviewer } = held
  const { handoffId, round, reason } = letter
  const { action, sha256, text } = proposal
  const id = randomUUID()
  const ballot = { id, handoffId, round, action, proposalSha256: sha256, proposal: text, reviewer }
  if (await addVote(transaction, ballot)) await recordAct(held, 'RELEASE_APPROVED', id)
  const votes = await listVotes(transaction, handoffId, round)
  const { reviewers, needed } = agreementOn(proposal, votes, reason)
  if (reviewers.length >= needed) return { kind: 'agreed', reviewers }
  return { kind: 'waiting', reviewers, needed, proposal: sha256 }
}

// The consequence of the votes is nobody's own act; the votes stand in the chain right before it.
async function takeEffect(
  { transaction, letter }: Held,
  releaseId: string | null,
  resolution: 'RELEASED' | 'REDACTED',
): Promise<ReviewOutcome> {
  await reopenHandoffs(transaction, [{ handoffId: letter.handoffId, releaseId }], resolution)
  const event = resolution === 'RELEASED' ? 'HANDOFF_RELEASED' : 'HANDOFF_REDACTED'
  const entry = lifecycleEntry(letter, event, letter.reason)
  const release = releaseId === null ? {} : { release: releaseId }
  await addAuditIntents(transaction, [toIntent({ ...entry, ...release })])
  return { kind: 'decided', resolution, repeated: false }
}

function recordAct(
  { transaction, letter, reviewer }: Held,
  event: AuditEvent,
  id: string = randomUUID(),
): Promise<void> {
  const entry = lifecycleEntry(letter, event, letter.reason)
  return addAuditIntents(transaction, [toIntent({ ...entry, act: { id, actor: reviewer } })])
}

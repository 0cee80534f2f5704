// The words in which a review is asked for and answered, and the statements it needs.
import type { Detail, Release } from '@baton/protocol'
import type {
  AuditIntent,
  HeldDeadLetter,
  NewVote,
  Reopening,
  Resolution,
  StoredMessage,
  Vote,
} from '@baton/store'

/** The statements of one transaction that has the letter locked. */
export interface ReviewTables {
  hold(handoffIds: readonly string[]): Promise<ReadonlyMap<string, HeldDeadLetter>>
  /** False where this person had voted for the same before. */
  addVote(vote: NewVote): Promise<boolean>
  listVotes(handoffId: string, round: number): Promise<readonly Vote[]>
  releaseEnd(hours: number): Promise<string>
  addRelease(release: Release): Promise<void>
  reopen(
    reopenings: readonly Reopening[],
    resolution: Exclude<Resolution, 'DISCARDED'>,
  ): Promise<number>
  discard(handoffId: string): Promise<void>
  askSender(handoffId: string, noticeId: string): Promise<void>
  findMessage(handoffId: string): Promise<StoredMessage | undefined>
  replaceMessage(handoffId: string, message: StoredMessage): Promise<void>
  record(intents: readonly AuditIntent[]): Promise<void>
}

/** Why nothing was decided. */
export type ReviewRefusal =
  | { readonly why: 'unknown' | 'own' | 'task_ended' | 'overdue' | 'no_verdict' | 'no_proposal' }
  | { readonly why: 'resolved'; readonly resolution: Resolution }
  | { readonly why: 'not_allowed'; readonly reason: string }
  | { readonly why: 'redaction'; readonly details: readonly Detail[]; readonly unsafe: boolean }

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

/** Whose decision about which letter. */
export interface Decider {
  readonly handoffId: string
  /** The operator of the API key. */
  readonly reviewer: string
}

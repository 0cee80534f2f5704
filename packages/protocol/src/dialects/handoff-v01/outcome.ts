// What became of the Baton handoff, in the words of protocol v0.1: one table over all its states.
import type { HANDOFF_STATES } from '../../states.ts'
import { mayBecome } from './transitions.ts'
import type { Status } from './transitions.ts'
import type { DocumentChange } from './document.ts'

type HandoffState = (typeof HANDOFF_STATES)[number]

interface Outcome {
  readonly status: Status
  /** What the context says besides. */
  readonly note?: DocumentChange['context']
}

/** A handoff as Baton tells of it. */
export interface ToldHandoff {
  readonly state: string
  /** Why it was refused or ended; a code. */
  readonly reason: string | null
  /** Whether an agent had accepted it before it ended. */
  readonly accepted: boolean
}

type Row = Status | { readonly before: Status; readonly after: Status; readonly reason?: string }

const TABLE: Readonly<Record<HandoffState, Row>> = {
  QUEUED: 'offered',
  AWAITING_APPROVAL: 'offered',
  DISPATCHED: 'offered',
  EXECUTING: 'accepted',
  COMPLETED: 'completed',
  PARTIAL: 'completed',
  REJECTED: 'rejected',
  BLOCKED: 'rejected',
  DEAD_LETTERED: 'rejected',
  ROLLED_BACK: 'failed',
  EXPIRED: { before: 'rejected', after: 'failed', reason: 'expired' },
  CANCELED: { before: 'rejected', after: 'failed', reason: 'canceled' },
}

/** The status of the offer, and what its context says of it; undefined for a state of a newer Baton. */
export function outcomeOf({ state, reason, accepted }: ToldHandoff): Outcome | undefined {
  if (!Object.hasOwn(TABLE, state)) return undefined
  const row = TABLE[state as HandoffState]
  const status = typeof row === 'string' ? row : row[accepted ? 'after' : 'before']
  const told = (typeof row === 'string' ? undefined : row.reason) ?? reason ?? undefined
  const partial = state === 'PARTIAL' ? { partial: true } : {}
  const why =
    told === undefined || status === 'offered' || status === 'accepted' ? {} : { reason: told }
  const note = { ...partial, ...why }
  return Object.keys(note).length === 0 ? { status } : { status, note }
}

/** The statuses an offer goes through to get there; undefined where no way leads there. */
export function wayTo(from: Status, to: Status): readonly Status[] | undefined {
  if (from === to) return []
  if (mayBecome(from, to)) return [to]
  if (from === 'offered' && mayBecome('accepted', to)) return ['accepted', to]
  return undefined
}

// What one agent asks of another and what it is answered: fields, defaults and statuses of SW4RM.
import type { JsonObject } from '../../json.ts'
import { Sw4rmError } from './sw4rm-error.ts'

/** A request to hand off execution. */
export interface HandoffRequest {
  /** Names the request; a second one of the same name is refused. */
  readonly requestId: string
  readonly fromAgent: string
  /** Empty lets the required capabilities decide. */
  readonly toAgent: string
  /** Why, for people. */
  readonly reason: string
  /** A serialised context, opaque; gzip is taken too. */
  readonly contextSnapshot: Uint8Array | null
  /** False keeps the conversation back. */
  readonly preserveHistory: boolean
  readonly capabilitiesRequired: readonly string[]
  readonly metadata: JsonObject
  /** How long it waits to be accepted; null waits without end. */
  readonly timeoutMs: number | null
  /** Lower is more urgent; null says nothing. */
  readonly priority: number | null
  readonly budget: BudgetEnvelope | null
}

/** What a delegated piece of work may still use; zero and absent say nothing. */
export interface BudgetEnvelope {
  readonly tokenBudgetRemaining?: number
  readonly wallTimeRemainingMs?: number
  readonly deadlineEpochMs: number
  readonly currentDepth?: number
  readonly maxDelegationDepth?: number
}

type Asked = Pick<HandoffRequest, 'requestId' | 'fromAgent' | 'toAgent' | 'reason'>

/** A whole request: what is left out has the published default. Throws for what names nobody. */
export function handoffRequest(asked: Asked & Partial<HandoffRequest>): HandoffRequest {
  for (const [field, name] of REQUIRED)
    if (asked[field] === '') throw new Sw4rmError(`${name} is required`)
  if (asked.budget && !(asked.budget.deadlineEpochMs > 0))
    throw new Sw4rmError('budget.deadlineEpochMs is required for cross-swarm delegation')
  return {
    contextSnapshot: null,
    preserveHistory: true,
    capabilitiesRequired: [],
    metadata: {},
    timeoutMs: null,
    priority: null,
    budget: null,
    ...asked,
  }
}

const REQUIRED = [
  ['requestId', 'request_id'],
  ['fromAgent', 'from_agent'],
  ['reason', 'reason'],
] as const

/** The statuses of the text; EXPIRED stands on the wire only. */
export type HandoffStatus = 'PENDING' | 'ACCEPTED' | 'REJECTED' | 'COMPLETED' | 'EXPIRED'

/** Each status as the wire numbers it. */
export const STATUS_NUMBERS: Readonly<Record<HandoffStatus, number>> = {
  PENDING: 1,
  ACCEPTED: 2,
  REJECTED: 3,
  COMPLETED: 4,
  EXPIRED: 5,
}

/** What is answered to a request. */
export interface HandoffResponse {
  readonly accepted: boolean
  readonly handoffId: string
  readonly rejectionReason: string | null
  readonly status: HandoffStatus
  readonly metadata: JsonObject
}

/** A whole response: what is left out has the published default. */
export const handoffResponse = (
  answered: Pick<HandoffResponse, 'accepted' | 'handoffId'> & Partial<HandoffResponse>,
): HandoffResponse => ({
  rejectionReason: null,
  status: 'PENDING',
  metadata: {},
  ...answered,
})

// A message of the Handoffs API as a handoff, and a handoff as such a message. No clock, no I/O.
import type { AgentState, HandoffConstraints } from '../../agent-state.ts'
import type { HandoffMessage } from '../../handoff-message.ts'
import type { JsonObject } from '../../json.ts'
import { usdFromMicro } from '../../money.ts'
import { cameInBy } from '../foreign-id.ts'
import type { CreateRequest } from './request.ts'
import { CHAIN_DEPTH_MAX, HANDOFFS_API, statusOf } from './words.ts'
import type { HandoffState, Status } from './words.ts'

/** The message object: every member is always there, null where there is nothing. */
export interface ApiMessage {
  readonly id: string
  readonly fromProfileId: string
  readonly toProfileId: string
  readonly taskId: string
  readonly targetTaskId: string | null
  readonly subject: string
  readonly body: string
  /** JSON text. */
  readonly attachments: string | null
  readonly priority: number
  readonly status: Status
  readonly requiresApproval: boolean
  readonly approvedBy: string | null
  readonly parentMessageId: string | null
  readonly chainDepth: number
  readonly createdAt: string
  readonly respondedAt: string | null
  readonly expiresAt: string | null
}

/** Where a message stands among others: in which task, on what budget, how deep. */
export interface Placement {
  readonly taskId: string
  /** The parent, where it belongs to the same task. */
  readonly parentHandoffId: string | null
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  readonly depth: number
}

/** What the pure mapping is given: ids, times and the trace. */
export interface Making {
  readonly handoffId: string
  readonly agentType: string
  readonly requiresApproval: boolean
  readonly placement: Placement
  readonly now: Date
  readonly expiryMs: number
  readonly trace: { readonly traceparent: string; readonly tracestate?: string | undefined }
}

/** Profiles have no versions. */
const PROFILE_VERSION = '0.0.0'
const PERSONAL = '[personal data]'
const ERASED = '[erased]'

/** What to send for a request that is taken: the first handoff of a task, its text kept in the protocol's own words. */
export function toHandoff(request: CreateRequest, making: Making) {
  const { placement, trace, handoffId } = making
  const { taskId, parentHandoffId, depth } = placement
  const agentState: AgentState = {
    handoffId,
    taskId,
    parentHandoffId,
    agent: { agentId: request.fromProfileId, agentVersion: PROFILE_VERSION },
    timestamp: making.now.toISOString(),
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [],
    ...textsOf(request),
    cost: {
      spentSoFarUSD: usdFromMicro(placement.spentMicroUSD),
      budgetRemainingUSD: usdFromMicro(placement.remainingMicroUSD),
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
    traceparent: trace.traceparent,
    ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }),
    externalRef: { protocol: HANDOFFS_API, id: handoffId },
    delegation: { depth, maxDepth: CHAIN_DEPTH_MAX },
  }
  // One time for both: to wait, and to work.
  const expiresAt = toSecond(making.now.getTime() + making.expiryMs)
  const constraints: HandoffConstraints = {
    priority: request.priority,
    requiresApproval: making.requiresApproval,
    expiresAt,
    deadline: expiresAt,
  }
  return { agentState, targetAgentType: making.agentType, constraints }
}

// Text about people stands apart from the rest, by pointer, as the first of them's.
function textsOf(request: CreateRequest): Pick<AgentState, 'currentState' | 'personalData'> {
  const { subject, body, dataSubjects, fromProfileId, toProfileId } = request
  const { sourceTaskId, parentMessageId } = request
  const known = { fromProfileId, toProfileId, sourceTaskId, parentMessageId }
  const [owner] = dataSubjects
  if (owner === undefined) return { currentState: { subject, body, ...known } }
  return {
    currentState: { subject: PERSONAL, body: PERSONAL, ...known },
    personalData: {
      dataSubjects,
      payload: {
        '/currentState/subject': { subject: owner, value: subject },
        '/currentState/body': { subject: owner, value: body },
      },
    },
  }
}

/** A handoff as the store knows it. */
export interface StoredHandoff {
  readonly id: string
  readonly sender: string
  readonly recipient: string
  readonly depth: number
  readonly taskId: string
  readonly state: string
  readonly reason: string | null
  readonly priority: number
  readonly createdAt: Date
  readonly acceptedAt: Date | null
  readonly endedAt: Date | null
  readonly expiresAt: Date | null
  readonly erasedAt: Date | null
  readonly result: unknown
  /** What a partial result has left to do. */
  readonly remaining?: unknown
  /** The stored bytes of its message. */
  readonly body: Uint8Array
  readonly approval: StoredApproval | null
}

export interface StoredApproval {
  readonly decision: string | null
  readonly decidedBy: string | null
  readonly decidedAs: string | null
  readonly decidedAt: number | null
}

/** A handoff in the words of the API. */
export function fromHandoff(stored: StoredHandoff): ApiMessage {
  const { approval, erasedAt } = stored
  const texts = erasedAt === null ? readTexts(stored) : ERASED_TEXTS
  return {
    id: stored.id,
    fromProfileId: stored.sender,
    toProfileId: stored.recipient,
    taskId: texts.sourceTaskId ?? stored.taskId,
    targetTaskId: stored.acceptedAt === null ? null : stored.taskId,
    subject: texts.subject,
    body: texts.body,
    attachments: attachmentsOf(stored),
    priority: stored.priority,
    status: statusIn(stored),
    requiresApproval: approval !== null,
    approvedBy:
      (approval?.decision ?? null) === null
        ? null
        : (approval?.decidedAs ?? approval?.decidedBy ?? null),
    parentMessageId: texts.parentMessageId,
    chainDepth: stored.depth,
    createdAt: toSecond(stored.createdAt.getTime()),
    respondedAt: respondedAt(stored),
    expiresAt: stored.expiresAt === null ? null : toSecond(stored.expiresAt.getTime()),
  }
}

/** The same as it was when it was created, whatever has happened since. */
export const asCreated = (message: ApiMessage): ApiMessage => ({
  ...message,
  status: 'pending',
  targetTaskId: null,
  attachments: null,
  approvedBy: null,
  respondedAt: null,
})

/** How a stored handoff stands. */
export const statusIn = ({ state, approval }: Pick<StoredHandoff, 'state' | 'approval'>): Status =>
  statusOf(state as HandoffState, approval?.decision === 'approve')

interface Texts {
  readonly subject: string
  readonly body: string
  readonly sourceTaskId: string | null
  readonly parentMessageId: string | null
}

const ERASED_TEXTS: Texts = {
  subject: ERASED,
  body: ERASED,
  sourceTaskId: null,
  parentMessageId: null,
}

// What did not come in by this API has no text that its readers may see: it is named by who hands over to whom.
function readTexts({ body, sender, recipient }: StoredHandoff): Texts {
  const message = JSON.parse(Buffer.from(body).toString('utf8')) as HandoffMessage
  const { currentState, personalDataPayload = {} } = message
  if (!cameInBy(HANDOFFS_API, message))
    return { ...ERASED_TEXTS, subject: `Handoff from ${sender} to ${recipient}`, body: '' }
  const read = (name: string): string | null => {
    const apart = personalDataPayload[`/currentState/${name}`] as JsonObject | undefined
    const value = apart?.['value'] ?? currentState[name]
    return typeof value === 'string' ? value : null
  }
  return {
    subject: read('subject') ?? '',
    body: read('body') ?? '',
    sourceTaskId: read('sourceTaskId'),
    parentMessageId: read('parentMessageId'),
  }
}

/** What came of it: the result, what is left to do, or the class of what went wrong and never its text. */
function attachmentsOf(stored: StoredHandoff): string | null {
  const { state, reason, result, remaining, erasedAt } = stored
  if (erasedAt !== null) return JSON.stringify({ erased: true })
  if (state === 'COMPLETED') return JSON.stringify({ result: result ?? null })
  if (state === 'PARTIAL')
    return JSON.stringify({ result: result ?? null, partial: true, remaining: remaining ?? [] })
  if (statusOf(state as HandoffState, false) !== 'rejected' || reason === REFUSED) return null
  return JSON.stringify({ error: reason ?? state })
}

/** The reason of what an approver rejected. */
const REFUSED = 'APPROVAL_REFUSED'

// When an agent took it, else when a person decided, else when it was refused.
function respondedAt({ acceptedAt, endedAt, approval, state }: StoredHandoff): string | null {
  const ended = state === 'EXPIRED' ? null : (endedAt?.getTime() ?? null)
  const decided = (approval?.decision ?? null) === null ? null : (approval?.decidedAt ?? null)
  const at = acceptedAt?.getTime() ?? decided ?? ended
  return at === null ? null : toSecond(at)
}

/** Times of the API have no parts of a second. */
const toSecond = (ms: number): string => new Date(Math.floor(ms / 1000) * 1000).toISOString()

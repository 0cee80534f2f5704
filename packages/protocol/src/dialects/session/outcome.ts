// What became of a handoff, in the words of the session handshake: one table over all its states.
import type { HANDOFF_STATES } from '../../states.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { isObject } from './read-members.ts'
import { readResult, resultOf } from './result.ts'
import type { TaskResult } from './result.ts'
import type { ResultStatus } from './words.ts'

type HandoffState = (typeof HANDOFF_STATES)[number]
type Row = ResultStatus | null | { readonly before: ResultStatus; readonly after: ResultStatus }

/** Of each lifecycle state the status; null while there is no result yet. */
const STATUS_OF: Readonly<Record<HandoffState, Row>> = {
  QUEUED: null,
  AWAITING_APPROVAL: null,
  DISPATCHED: null,
  EXECUTING: null,
  COMPLETED: 'done',
  PARTIAL: 'partial',
  REJECTED: 'blocked',
  BLOCKED: 'blocked',
  DEAD_LETTERED: 'blocked',
  ROLLED_BACK: 'error',
  EXPIRED: { before: 'blocked', after: 'error' },
  CANCELED: 'error',
}

/** A handoff as the store knows it. */
export interface EndedHandoff {
  readonly state: string
  readonly reason: string | null
  /** The details of a refusal. */
  readonly details: unknown
  readonly acceptedAt: Date | null
  readonly erasedAt: Date | null
  readonly result: unknown
}

export function statusOf({
  state,
  acceptedAt,
}: Pick<EndedHandoff, 'state' | 'acceptedAt'>): ResultStatus | null {
  const row = Object.hasOwn(STATUS_OF, state) ? STATUS_OF[state as HandoffState] : null
  if (row === null || typeof row === 'string') return row
  return acceptedAt === null ? row.before : row.after
}

/** The result of a handoff that has ended; undefined before. `tokensSpent` is what is known of its cost. */
export function toResult(
  taskId: string,
  ended: EndedHandoff,
  tokensSpent: number,
): TaskResult | undefined {
  const status = statusOf(ended)
  if (status === null) return undefined
  if (ended.erasedAt !== null)
    return resultOf(taskId, 'error', { summary: 'erased', artifacts: { erased: true } })
  const result = (ended.result ?? null) as JsonValue
  switch (status) {
    case 'done':
      return resultOf(taskId, status, { tokens_spent: tokensSpent, ...saidIn(result) })
    case 'partial': {
      const remaining = remainingIn(result)
      return resultOf(taskId, status, {
        tokens_spent: tokensSpent,
        ...saidIn(result),
        remaining: remaining.length > 0 ? remaining : ['the rest goes on as a handoff of its own'],
      })
    }
    case 'blocked':
      return resultOf(taskId, status, { blocked_reason: reasonOf(ended) })
    case 'error':
      return resultOf(taskId, status, { tokens_spent: tokensSpent, summary: reasonOf(ended) })
  }
}

type Said = Partial<Pick<TaskResult, 'artifacts' | 'next_steps' | 'tokens_spent'>>

/** What an agent answered. Where that is a result of this protocol, by a worker that it was dispatched to, it is told as it was. */
function saidIn(result: JsonValue): Said {
  const own = isObject(result) && result['type'] === 'TASK_RESULT' ? readResult(result) : undefined
  if (own?.ok === true) {
    const { artifacts, next_steps, tokens_spent } = own.value
    return { artifacts, next_steps, tokens_spent }
  }
  const artifacts: JsonObject = isObject(result) ? result : { result }
  const steps = artifacts['next_steps']
  const isList = Array.isArray(steps) && steps.every((step) => typeof step === 'string')
  return { artifacts, next_steps: isList ? (steps as readonly string[]) : [] }
}

function remainingIn(result: JsonValue): readonly string[] {
  const remaining = isObject(result) ? result['remaining'] : undefined
  if (!Array.isArray(remaining)) return []
  return (remaining as readonly JsonValue[]).flatMap((one) => {
    const text = isObject(one) ? one['description'] : one
    return typeof text === 'string' ? [text] : []
  })
}

/** The class of what went wrong, and what was asked for and is missing; where a worker could not start, what it says. */
function reasonOf({ state, reason, details }: EndedHandoff): string {
  const missing = missingIn(details)
  if (missing.length > 0) return `unmet requirements: ${missing.join(', ')}`
  const said = saidBy(details)
  if (said !== undefined) return said
  if (state === 'EXPIRED' || state === 'CANCELED') return state.toLowerCase()
  return (reason ?? state).toLowerCase()
}

const KIND_OF: Readonly<Record<string, string>> = {
  requiredMcp: 'mcp',
  requiredCapability: 'capability',
  'session.mcp': 'mcp',
  'session.capability': 'capability',
  'session.model_tier': 'model_tier',
  'session.repo_state': 'repo_state',
}

function missingIn(details: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(details) ? details : []
  return list.flatMap((one) => {
    const { rule, expected } = (one ?? {}) as { rule?: unknown; expected?: unknown }
    const kind = KIND_OF[String(rule)]
    return kind === undefined || typeof expected !== 'string' ? [] : [`${kind} ${expected}`]
  })
}

/** What the detail of a worker's own `blocked` is called. */
export const WORKER_BLOCKED = 'sessionBlocked'

function saidBy(details: unknown): string | undefined {
  const list: readonly unknown[] = Array.isArray(details) ? details : []
  const own = list.find((one) => (one as { rule?: unknown } | null)?.rule === WORKER_BLOCKED)
  const { expected } = (own ?? {}) as { expected?: unknown }
  return typeof expected === 'string' && expected.trim() !== '' ? expected : undefined
}

/** A result for who asked for prose: its text, or one line that says how it ended. */
export function toProse({
  status,
  artifacts,
  blocked_reason,
  summary,
  remaining,
}: TaskResult): string {
  const { text, result } = artifacts
  const said = [text, result].find((one) => typeof one === 'string' && one !== '')
  const written = typeof said === 'string' ? said : JSON.stringify(artifacts)
  if (status === 'done') return written
  if (status === 'blocked') return `[blocked] ${blocked_reason ?? ''}`
  if (status === 'error') return `[error] ${summary ?? ''}`
  return `[partial] ${written}\nRemaining: ${remaining.join('; ')}`
}

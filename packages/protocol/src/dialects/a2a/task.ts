// A task of Baton in the words of A2A: how it stands, what came of it, what was said. No clock, no I/O.
import type { JsonObject, JsonValue } from '../../json.ts'
import { usdFromMicro } from '../../money.ts'
import { toMessage } from './handoff.ts'
import type { SentMessage } from './handoff.ts'
import { HANDOFF_EXTENSION, INPUT_REQUIRED, isTerminal } from './words.ts'
import type { TaskState } from './words.ts'

/** A task as the store knows it. */
export interface StoredTask {
  readonly taskId: string
  readonly contextId: string
  readonly state: TaskState
  /** When it last moved. */
  readonly movedAt: Date
  /** Of its last handoff: why it ended, and the details of a refusal, which hold no text of a message. */
  readonly reason: string | null
  readonly details: unknown
  readonly handoffId: string
  readonly traceparent: string
  readonly spentMicroUSD: number
  /** What its last agent answered, as JSON. */
  readonly result: JsonValue | undefined
  readonly erased: boolean
  /** What its callers said, in order. */
  readonly messages: readonly SentMessage[]
}

export interface Shown {
  /** The last so many messages; all where it is undefined. */
  readonly historyLength: number | undefined
  readonly artifacts: boolean
  /** What the extension adds, for who asked for it. */
  readonly extended: boolean
  /** The chunks of its streams, as artifacts. */
  readonly streams?: readonly JsonObject[]
}

/** A task, in A2A's JSON. */
export function toTask(task: StoredTask, shown: Shown): JsonObject {
  const { taskId, contextId } = task
  const { historyLength = Infinity, streams = [] } = shown
  const history = historyLength === 0 ? [] : task.messages.slice(-historyLength)
  const result = shown.artifacts ? resultsOf(task) : []
  return {
    id: taskId,
    contextId,
    status: toStatus(task),
    artifacts: shown.artifacts ? [...streams, ...result] : [],
    history: history.map((one) => toMessage(one, task)),
    ...(shown.extended ? { metadata: { [HANDOFF_EXTENSION]: factsOf(task) } } : {}),
  }
}

const factsOf = ({ handoffId, traceparent, spentMicroUSD }: StoredTask): JsonObject => ({
  handoffId,
  traceparent,
  costUSD: usdFromMicro(spentMicroUSD),
})

/** Its status, and why where it did not end well. */
export function toStatus(task: StoredTask): JsonObject {
  const { state, movedAt } = task
  const message = explain(task)
  return {
    state,
    timestamp: movedAt.toISOString(),
    ...(message === undefined ? {} : { message }),
  }
}

const SAID: Readonly<Partial<Record<TaskState, string>>> = {
  TASK_STATE_AUTH_REQUIRED: 'A person of this installation has to approve it.',
  TASK_STATE_INPUT_REQUIRED: 'It needs more: send what the details name, with this taskId.',
  TASK_STATE_REJECTED: 'It was refused.',
  TASK_STATE_FAILED: 'It failed.',
}

// The class of what went wrong and where, never a text of a message.
function explain({ state, reason, details, taskId, contextId, handoffId }: StoredTask) {
  const said = SAID[state]
  if (said === undefined) return undefined
  const code = reason === null || state === 'TASK_STATE_AUTH_REQUIRED' ? undefined : reason
  const data: JsonObject = {
    code: code ?? state,
    ...(Array.isArray(details) ? { details: details as readonly JsonValue[] } : {}),
  }
  return {
    messageId: `${handoffId}-${state.toLowerCase()}`,
    contextId,
    taskId,
    role: 'ROLE_AGENT',
    parts: [{ text: code === undefined ? said : `${said} (${code})` }, { data }],
  }
}

export const RESULT_ARTIFACT = 'result'

/** What came of a task that was completed. */
export function resultsOf({
  state,
  result,
  erased,
}: Pick<StoredTask, 'state' | 'result' | 'erased'>): readonly JsonObject[] {
  if (!isTerminal(state) || (result ?? null) === null) return []
  if (erased) return [artifact([{ text: '[erased]' }])]
  const given = givenArtifacts(result)
  return given ?? [artifact(partsOf(result ?? null))]
}

const artifact = (parts: readonly JsonObject[]): JsonObject => ({
  artifactId: RESULT_ARTIFACT,
  name: RESULT_ARTIFACT,
  parts,
})

/** As data for who computes with it, and as text for who reads it. */
function partsOf(result: JsonValue): readonly JsonObject[] {
  if (typeof result === 'string') return [{ text: result }]
  const text = isObject(result) && typeof result['text'] === 'string' ? result['text'] : undefined
  return [{ data: result, mediaType: 'application/json' }, { text: text ?? JSON.stringify(result) }]
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An agent that knows A2A says itself what its artifacts are. */
function givenArtifacts(result: JsonValue | undefined): readonly JsonObject[] | undefined {
  const given = isObject(result) ? result['artifacts'] : undefined
  if (!Array.isArray(given) || given.length === 0) return undefined
  const list = given as readonly JsonValue[]
  if (!list.every(isArtifact)) return undefined
  return list.map((one, index) => ({ artifactId: `${RESULT_ARTIFACT}-${index + 1}`, ...one }))
}

const CONTENTS = ['text', 'data', 'url', 'raw']

function isArtifact(value: JsonValue): value is JsonObject {
  const parts = isObject(value) ? value['parts'] : undefined
  return (
    Array.isArray(parts) &&
    parts.length > 0 &&
    (parts as readonly JsonValue[]).every(
      (part) => isObject(part) && CONTENTS.filter((name) => part[name] !== undefined).length === 1,
    )
  )
}

/** What is known of a task, of which its state is made. */
export interface TaskFacts {
  readonly status: string
  readonly open: number
  readonly executing: boolean
  readonly awaiting: boolean
  /** An agent has taken one of its handoffs. */
  readonly accepted: boolean
  /** Of its last handoff. */
  readonly lastState: string
  readonly reason: string | null
}

const MENDABLE: ReadonlySet<string> = new Set(['INCOMPLETE_CONTEXT', 'SCHEMA_INVALID'])
const REFUSED: ReadonlySet<string> = new Set(['REJECTED', 'BLOCKED', 'DEAD_LETTERED'])

/** How a task stands, in the words of A2A. */
export function taskStateOf(facts: TaskFacts): TaskState {
  const { status, open, lastState } = facts
  if (status === 'COMPLETED') return 'TASK_STATE_COMPLETED'
  if (status === 'CANCELED') return 'TASK_STATE_CANCELED'
  if (open > 0) {
    if (facts.executing) return 'TASK_STATE_WORKING'
    if (facts.awaiting) return 'TASK_STATE_AUTH_REQUIRED'
    return facts.accepted ? 'TASK_STATE_WORKING' : 'TASK_STATE_SUBMITTED'
  }
  // Between the last branch and what joins them.
  if (lastState === 'COMPLETED' && status !== 'FAILED') return 'TASK_STATE_WORKING'
  if (REFUSED.has(lastState)) return 'TASK_STATE_REJECTED'
  return lastState === 'ROLLED_BACK' && needsInput(facts)
    ? 'TASK_STATE_INPUT_REQUIRED'
    : 'TASK_STATE_FAILED'
}

const needsInput = ({ status, reason }: TaskFacts): boolean =>
  status === 'PENDING_HANDOFF' && (MENDABLE.has(reason ?? '') || reason === INPUT_REQUIRED)

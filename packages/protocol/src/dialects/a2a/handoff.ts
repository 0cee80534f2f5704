// A message of A2A as a handoff, and what was sent as such a message again. No clock, no I/O.
import type { AgentState, HandoffConstraints } from '../../agent-state.ts'
import type { HandoffMessage } from '../../handoff-message.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { pointerTo } from '../../json.ts'
import { usdFromMicro } from '../../money.ts'
import type { AskedA2a } from './read-message.ts'
import { A2A, HANDOFF_EXTENSION } from './words.ts'

/** What the mapping is given: ids, times, whom it is for, and the trace. */
export interface Making {
  readonly handoffId: string
  readonly taskId: string
  readonly contextId: string
  readonly fromAgent: string
  readonly agentType: string
  /** The keys of its state without which the agent type does not start. */
  readonly requires: readonly string[]
  readonly budgetMicroUSD: number
  readonly now: Date
  readonly expiryMs: number
  readonly trace: { readonly traceparent: string; readonly tracestate?: string | undefined }
}

/** Callers have no version. */
const CALLER_VERSION = '0.0.0'
const PERSONAL = '[personal data]'
const ERASED = '[erased]'
/** Where the text of a message stands, unless the agent type asks for one other thing. */
const TEXT_KEY = 'message'

/** What to send for what is asked: the first handoff of a task. */
export function toHandoff(asked: AskedA2a, making: Making) {
  const { options } = asked
  const { handoffId, taskId, trace } = making
  const budget = options.budgetUSD ?? usdFromMicro(making.budgetMicroUSD)
  const agentState: AgentState = {
    handoffId,
    taskId,
    parentHandoffId: null,
    agent: { agentId: making.fromAgent, agentVersion: CALLER_VERSION },
    timestamp: making.now.toISOString(),
    taskDescription: 'INITIAL',
    completedSubtasks: [],
    remainingSubtasks: [],
    ...stateOf(asked, making),
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: budget,
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
    traceparent: trace.traceparent,
    ...(trace.tracestate === undefined ? {} : { tracestate: trace.tracestate }),
    externalRef: { protocol: A2A, id: asked.messageId },
  }
  return {
    agentState,
    targetAgentType: making.agentType,
    constraints: constraintsOf(asked, making),
  }
}

function constraintsOf({ options }: AskedA2a, { now, expiryMs }: Making): HandoffConstraints {
  const { priority = 2, requiresApproval, deadline, constraints: list } = options
  return {
    priority,
    expiresAt: options.expiresAt ?? new Date(now.getTime() + expiryMs).toISOString(),
    ...(requiresApproval === undefined ? {} : { requiresApproval }),
    ...(deadline === undefined ? {} : { deadline }),
    ...(list === undefined ? {} : { list }),
  }
}

/**
 * The data of the message are the members of the state, and its text stands under `message`. Where an agent type needs one
 * thing that the data do not have, the text is that: whoever knows nothing of it says what is to be done in words.
 */
function stateOf(
  asked: AskedA2a,
  { contextId, requires }: Continuing,
): Pick<AgentState, 'currentState' | 'personalData'> {
  const { text, data, parts, messageId, options } = asked
  const missing = requires.filter((key) => !Object.hasOwn(data, key))
  const [only] = missing
  const textKey = text !== '' && missing.length === 1 && only !== undefined ? only : TEXT_KEY
  const said: JsonObject = {
    ...data,
    ...(text === '' ? {} : { [textKey]: text }),
  }
  const a2a: JsonObject = {
    messageId,
    contextId,
    ...(textKey === TEXT_KEY ? {} : { textKey }),
    ...(parts === undefined ? {} : { parts }),
  }
  const { dataSubjects = [] } = options
  const [owner] = dataSubjects
  if (owner === undefined) return { currentState: { ...said, a2a } }
  // Data about people stand apart from the rest, by pointer, as the first of them's.
  const apart = Object.entries(said).map(
    ([key, value]) => [pointerTo('/currentState', key), value] as const,
  )
  const all = parts === undefined ? apart : [...apart, [PARTS_POINTER, parts] as const]
  const hidden = Object.fromEntries(Object.keys(said).map((key) => [key, PERSONAL]))
  return {
    currentState: {
      ...hidden,
      a2a: parts === undefined ? a2a : { ...a2a, parts: [{ text: PERSONAL }] },
    },
    personalData: {
      dataSubjects,
      payload: Object.fromEntries(
        all.map(([pointer, value]) => [pointer, { subject: owner, value }]),
      ),
    },
  }
}

/** What the caller said before, under the same key as what it says now. */
const EARLIER_KEY = 'earlierMessages'

/**
 * What was asked, with what a further message adds: its members replace those of the same name, and a text that it replaces stays in the
 * list `earlierMessages`. Of data about people it stays apart, as theirs, also where the message does not say so again.
 */
export function withMessage(before: AgentState, asked: AskedA2a, making: Continuing): AgentState {
  const { currentState: standing, personalData } = before
  const dataSubjects = asked.options.dataSubjects ?? personalData?.dataSubjects
  const options = dataSubjects === undefined ? asked.options : { ...asked.options, dataSubjects }
  const requires = making.requires.filter((key) => !Object.hasOwn(standing, key))
  const added = stateOf({ ...asked, options }, { ...making, requires })
  const said = Object.hasOwn(added.currentState, TEXT_KEY) ? textsOf(before) : []
  const state = { ...standing, ...added.currentState }
  const next = { ...before, externalRef: { protocol: A2A, id: asked.messageId } }
  const [subject] = dataSubjects ?? []
  if (subject === undefined)
    return { ...next, currentState: said.length === 0 ? state : { ...state, [EARLIER_KEY]: said } }
  const { [PARTS_POINTER]: _, ...payload } = personalData?.payload ?? {}
  const earlier = { [pointerTo('/currentState', EARLIER_KEY)]: { subject, value: said } }
  const known = personalData?.dataSubjects ?? []
  return {
    ...next,
    currentState: said.length === 0 ? state : { ...state, [EARLIER_KEY]: PERSONAL },
    personalData: {
      dataSubjects: [...new Set([...known, ...(dataSubjects ?? [])])],
      payload: {
        ...payload,
        ...added.personalData?.payload,
        ...(said.length === 0 ? {} : earlier),
      },
    },
  }
}

/** What its caller said so far, in order. */
function textsOf({ currentState, personalData }: AgentState): readonly JsonValue[] {
  const read = (key: string): JsonValue | undefined => {
    const apart = personalData?.payload[pointerTo('/currentState', key)] as JsonObject | undefined
    return apart?.['value'] ?? currentState[key]
  }
  const earlier = read(EARLIER_KEY)
  const last = read(TEXT_KEY)
  const list = Array.isArray(earlier) ? (earlier as readonly JsonValue[]) : []
  return last === undefined ? list : [...list, last]
}

type Continuing = Pick<Making, 'contextId' | 'requires'>

const PARTS_POINTER = '/currentState/a2a/parts'

/** A stored handoff that came in by A2A. */
export interface SentMessage {
  readonly handoffId: string
  readonly messageId: string
  readonly erased: boolean
  /** The signed bytes of its message. */
  readonly body: Uint8Array
}

interface Place {
  readonly taskId: string
  readonly contextId: string
}

/** The message that began it, or went on with it, as its caller sent it. */
export function toMessage(
  { handoffId, messageId, erased, body }: SentMessage,
  { taskId, contextId }: Place,
): JsonObject {
  const parts = erased ? [{ text: ERASED }] : partsOf(body, handoffId)
  return { messageId, contextId, taskId, role: 'ROLE_USER', parts }
}

function partsOf(body: Uint8Array, handoffId: string): readonly JsonValue[] {
  const { currentState, personalDataPayload = {} } = JSON.parse(
    Buffer.from(body).toString('utf8'),
  ) as HandoffMessage
  const state = currentState as JsonObject
  const payload = personalDataPayload as JsonObject
  const a2a = state['a2a'] as JsonObject | undefined
  // A whole handoff is shown to who may read it, at its own place.
  if (a2a?.['messageId'] === undefined)
    return [{ data: { handoffId }, metadata: { [HANDOFF_EXTENSION]: {} } }]
  const read = (pointer: string): JsonValue | undefined =>
    (payload[pointer] as JsonObject | undefined)?.['value']
  const parts = read(PARTS_POINTER) ?? a2a['parts']
  if (Array.isArray(parts)) return parts as readonly JsonValue[]
  const key = typeof a2a['textKey'] === 'string' ? a2a['textKey'] : TEXT_KEY
  return [{ text: read(pointerTo('/currentState', key)) ?? state[key] ?? '' }]
}

// What a v0.1 handoff asks of Baton, always the same for the same offer, so that sending it twice sends it once.
import { hash } from 'node:crypto'
import type { AgentState, HandoffConstraints } from '../../agent-state.ts'
import type { Turn } from '../../generated/handoff.ts'
import { pointerTo } from '../../json.ts'
import type { JsonObject, JsonValue } from '../../json.ts'
import { foreignUuid } from '../foreign-id.ts'
import { timeOf } from './handoff.ts'
import type { OfferedHandoff } from './handoff.ts'

/** As messages and ids name the protocol. */
const HANDOFF_V01 = 'handoff-v01'

/** As `POST /v2/handoffs` takes it. */
export interface OfferSubmission {
  readonly agentState: AgentState
  readonly targetAgentType: string
  readonly constraints: HandoffConstraints
}

interface SubmissionOptions {
  /** What the task may cost. */
  readonly budgetUSD: number
  /** The Baton handoff of the offer that `context.parent_task_id` names, where there is one. */
  readonly parentHandoffId?: string | undefined
}

/** Where the context says which Baton handoff an offer became, and which one it was before it was offered again. */
export const HANDOFF_ID = 'baton_handoff_id'
export const EARLIER_HANDOFF_ID = 'baton_earlier_handoff_id'

const CONVERSATION = 'conversation_history'
const APPROVAL = 'requires_approval'

const OWN_MEMBERS: ReadonlySet<string> = new Set([
  APPROVAL,
  HANDOFF_ID,
  EARLIER_HANDOFF_ID,
  'traceparent',
  'tracestate',
  'data_subjects',
])

/** The submission of an offer: the first handoff of a task of its own, whose text stands in the state. */
export function offerSubmission(
  handoff: OfferedHandoff,
  { budgetUSD, parentHandoffId = earlierHandoffId(handoff) }: SubmissionOptions,
): OfferSubmission {
  const { context } = handoff
  const subjects = dataSubjectsOf(context)
  // A turn has no place of its own that erasure could reach, so what is about people stays in the state.
  const conversation = subjects.length === 0 ? turnsIn(context[CONVERSATION]) : undefined
  const state = stateOf(handoff, conversation === undefined ? [] : [CONVERSATION])
  return {
    agentState: {
      handoffId: offerHandoffId(handoff),
      taskId: offerTaskId(handoff),
      parentHandoffId: parentHandoffId ?? null,
      timestamp: new Date(timeOf(handoff.updated_at) ?? 0).toISOString(),
      agent: {
        agentId: handoff.from_agent,
        agentVersion: '0.1.0',
        executionId: foreignUuid(HANDOFF_V01, 'execution', offerKey(handoff)),
      },
      taskDescription: 'INITIAL',
      completedSubtasks: [],
      remainingSubtasks: [],
      ...(subjects.length === 0 ? { currentState: state } : personal(state, subjects)),
      ...(conversation === undefined ? {} : { conversationHistory: conversation }),
      cost: {
        spentSoFarUSD: 0,
        budgetRemainingUSD: budgetUSD,
        ownCostUSD: 0,
        tokenSpent: { prompt: 0, completion: 0 },
      },
      ...traceOf(handoff),
      externalRef: { protocol: HANDOFF_V01, id: handoff.task_id },
    },
    targetAgentType: handoff.to_agent,
    constraints: constraintsOf(context),
  }
}

// An offer that failed and is offered again is another one; its time of change alone could be too coarse to tell.
const offerKey = (handoff: OfferedHandoff): string =>
  [handoff.task_id, handoff.updated_at, earlierHandoffId(handoff) ?? ''].join('\n')

/** The id of the Baton handoff that an offer becomes. */
export const offerHandoffId = (handoff: OfferedHandoff): string =>
  foreignUuid(HANDOFF_V01, 'handoff', offerKey(handoff))

// A task that failed takes no further handoffs, so an offer made again begins another one.
const offerTaskId = (handoff: OfferedHandoff): string =>
  earlierHandoffId(handoff) === undefined
    ? foreignUuid(HANDOFF_V01, 'task', handoff.task_id)
    : foreignUuid(HANDOFF_V01, 'task', offerKey(handoff))

const textIn = (context: JsonObject, name: string): string | undefined => {
  const value = Object.hasOwn(context, name) ? context[name] : undefined
  return typeof value === 'string' && value !== '' ? value : undefined
}

/** The Baton handoff that an offer has become. */
export const sentHandoffId = ({ context }: OfferedHandoff): string | undefined =>
  textIn(context, HANDOFF_ID)

const earlierHandoffId = ({ context }: OfferedHandoff): string | undefined =>
  textIn(context, EARLIER_HANDOFF_ID)

/** The latest Baton handoff that an offer became, also where that one failed and it is offered again. */
export const importedHandoffId = (handoff: OfferedHandoff): string | undefined =>
  sentHandoffId(handoff) ?? earlierHandoffId(handoff)

// A description in the context makes room for the handoff's own.
const DESCRIPTION = /^(?:context_)*description$/
const inState = (name: string): string => (DESCRIPTION.test(name) ? `context_${name}` : name)

function stateOf(
  { context, description }: OfferedHandoff,
  elsewhere: readonly string[],
): JsonObject {
  const kept = Object.entries(context)
    .filter(([name]) => !OWN_MEMBERS.has(name) && !elsewhere.includes(name))
    .map(([name, value]): [string, JsonValue] => [inState(name), value])
  return Object.fromEntries([...kept, ['description', description]])
}

/** The turns of a conversation: a list, or its JSON as one text; undefined where it is anything else, which stays in the state. */
function turnsIn(value: JsonValue | undefined): readonly Turn[] | undefined {
  const list = typeof value === 'string' ? parsed(value) : value
  if (!Array.isArray(list) || list.length === 0) return undefined
  const turns = (list as readonly JsonValue[]).flatMap(turnOf)
  return turns.length === list.length ? turns : undefined
}

function parsed(text: string): JsonValue | undefined {
  try {
    return JSON.parse(text) as JsonValue
  } catch {
    return undefined
  }
}

function turnOf(value: JsonValue): readonly Turn[] {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  const { role, content, ...others } = value as JsonObject
  const isSaid = typeof role === 'string' && role !== '' && typeof content === 'string'
  return isSaid && Object.keys(others).length === 0 ? [{ role, content }] : []
}

function dataSubjectsOf(context: JsonObject): readonly string[] {
  const given = Object.hasOwn(context, 'data_subjects') ? context['data_subjects'] : undefined
  return Array.isArray(given) ? given.filter((one) => typeof one === 'string') : []
}

// All of the text is theirs, because nothing says which part is not. Its places stay, so that a receiver finds it.
function personal(state: JsonObject, dataSubjects: readonly string[]) {
  const [first = ''] = dataSubjects
  const entry = (value: JsonValue): JsonValue =>
    dataSubjects.length === 1 ? value : { subject: first, value }
  const members = Object.entries(state)
  return {
    currentState: Object.fromEntries(members.map(([name]) => [name, null])),
    personalData: {
      dataSubjects,
      payload: Object.fromEntries(
        members.map(([name, value]) => [pointerTo('/currentState', name), entry(value)]),
      ),
    },
  }
}

const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

function traceOf(handoff: OfferedHandoff): { traceparent: string; tracestate?: string } {
  const traceparent = textIn(handoff.context, 'traceparent')
  if (traceparent === undefined || !TRACEPARENT.test(traceparent))
    return { traceparent: ownTrace(handoff) }
  const tracestate = textIn(handoff.context, 'tracestate')
  return { traceparent, ...(tracestate === undefined ? {} : { tracestate }) }
}

// Made of the offer, because a trace of its own on every try would make each try another request.
function ownTrace(handoff: OfferedHandoff): string {
  const digits = hash('sha256', `baton:${HANDOFF_V01}:trace:${offerKey(handoff)}`)
  return `00-1${digits.slice(1, 32)}-1${digits.slice(33, 48)}-01`
}

const PRIORITY_OF: ReadonlyMap<JsonValue, number> = new Map<JsonValue, number>([
  ...[0, 1, 2, 3].flatMap((level): [JsonValue, number][] => [
    [level, level],
    [String(level), level],
  ]),
  ['critical', 0],
  ['urgent', 0],
  ['high', 1],
  ['normal', 2],
  ['medium', 2],
  ['low', 3],
])

function constraintsOf(context: JsonObject): HandoffConstraints {
  const { priority: asked = null, deadline: by = null } = context
  const priority = PRIORITY_OF.get(asked)
  const deadline = typeof by === 'string' ? timeOf(by) : undefined
  const tags = tagsOf(context)
  return {
    ...(priority === undefined ? {} : { priority }),
    ...(deadline === undefined ? {} : { deadline: new Date(deadline).toISOString() }),
    ...(needsApproval(context) ? { requiresApproval: true } : {}),
    ...(tags.length === 0 ? {} : { list: tags.map((tag) => `tag:${tag}`) }),
  }
}

const APPROVAL_WORDS: readonly JsonValue[] = [true, false, 'true', 'false']
const NO_APPROVAL: readonly (JsonValue | undefined)[] = [undefined, null, false, 'false', '']

// A word that is neither yes nor no holds it back: the other mistake could not be mended.
const needsApproval = (context: JsonObject): boolean => !NO_APPROVAL.includes(context[APPROVAL])

// The command line can only write them as one text.
function tagsOf({ tags = null }: JsonObject): readonly string[] {
  const all = typeof tags === 'string' ? tags.split(',').map((tag) => tag.trim()) : tags
  return Array.isArray(all) ? all.filter((tag) => typeof tag === 'string' && tag !== '') : []
}

const isTags = (value: JsonValue): boolean =>
  typeof value === 'string' ||
  (Array.isArray(value) && value.every((tag) => typeof tag === 'string' && tag !== ''))

/** What is wrong with the extensions in a context, of which each may be left out; undefined where nothing is. */
export function extensionProblem(context: JsonObject): string | undefined {
  const { priority, deadline, tags, parent_task_id: parent, [APPROVAL]: approval } = context
  if (priority !== undefined && !PRIORITY_OF.has(priority))
    return 'priority is 0 to 3, critical, high, normal or low'
  if (deadline !== undefined && (typeof deadline !== 'string' || timeOf(deadline) === undefined))
    return 'deadline is a time in ISO 8601'
  if (tags !== undefined && !isTags(tags)) return 'tags is a list of texts, or one with commas'
  if (parent !== undefined && typeof parent !== 'string') return 'parent_task_id is a task_id'
  if (approval !== undefined && !APPROVAL_WORDS.includes(approval))
    return 'requires_approval is true or false'
  return undefined
}

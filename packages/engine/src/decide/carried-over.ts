// What the messages of a task keep from hop to hop: whose data it is, how sensitive, where it may be, how deep the chain is,
// and what it is called outside. An agent may add to it and be stricter; nothing is ever lowered, nor lost on the way.
import { keepsResidency, strictestOf } from '@baton/protocol'
import type { AgentState, HandoffMessage, JsonObject, JsonValue } from '@baton/protocol'
import type { JoinHandoff, NextHandoff } from '@baton/protocol/settlement'
import { permanent } from '@baton/runtime'
import type { AgentResult } from '../agent.ts'

type Handed = NextHandoff | JoinHandoff

type Carried = Pick<
  AgentState,
  | 'personalData'
  | 'dataClassification'
  | 'residency'
  | 'delegation'
  | 'externalRef'
  | 'extensions'
  | 'conversationHistory'
  | 'toolCallHistory'
>

/** What an execution adds to it. */
type Added = Pick<AgentResult, 'personalData' | 'conversation' | 'toolCalls'>

/** Throws BATON_LABEL_LOWERED where the agent asks for less than what it was given. */
export function carriedOver(message: HandoffMessage, result: Added, next: Handed): Carried {
  const { delegation } = message
  const externalRef = next.externalRef ?? message.externalRef
  return {
    ...personalDataOf(message, result),
    ...classificationOf(message, next),
    ...residencyOf(message, next),
    ...(delegation === undefined
      ? {}
      : { delegation: { ...delegation, depth: delegation.depth + 1 } }),
    ...(externalRef === undefined ? {} : { externalRef }),
    extensions: { ...extensionsOf(message), ...next.extensions },
    conversationHistory: [...message.conversationHistoryVerbatim, ...(result.conversation ?? [])],
    toolCallHistory: [...message.toolCallHistory, ...(result.toolCalls ?? [])],
  }
}

const isExtension = ([name]: readonly [string, unknown]): boolean => name.startsWith('x-')

const extensionsOf = (message: HandoffMessage) =>
  Object.fromEntries(Object.entries(message).filter(isExtension)) as Record<
    `x-${string}`,
    JsonValue
  >

function personalDataOf(
  message: HandoffMessage,
  { personalData }: Added,
): Pick<AgentState, 'personalData'> {
  const { dataSubjects: before = [], personalDataPayload } = message
  if (message.dataSubjects === undefined && personalDataPayload === undefined && !personalData)
    return {}
  const dataSubjects = [...new Set([...before, ...(personalData?.dataSubjects ?? [])])]
  const [only] = before
  const known =
    before.length === 1 && only !== undefined && dataSubjects.length > 1
      ? named(personalDataPayload ?? {}, only)
      : personalDataPayload
  return { personalData: { dataSubjects, payload: { ...known, ...personalData?.payload } } }
}

// With one subject nothing had to say whose it was; beside others it has to.
const named = (payload: JsonObject, subject: string): JsonObject =>
  Object.fromEntries(
    Object.entries(payload).map(([pointer, entry]) => [
      pointer,
      isObject(entry) ? { subject, ...entry } : { subject, value: entry },
    ]),
  )

const isObject = (entry: JsonValue): entry is JsonObject =>
  typeof entry === 'object' && entry !== null && !Array.isArray(entry)

function classificationOf(
  { dataClassification: before }: HandoffMessage,
  { dataClassification: asked }: Handed,
): Pick<AgentState, 'dataClassification'> {
  const dataClassification = strictestOf(before, asked)
  if (asked !== undefined && asked !== dataClassification)
    throw lowered(`dataClassification is ${before}, and ${asked} is lower`)
  return dataClassification === undefined ? {} : { dataClassification }
}

function residencyOf(
  { residency: before }: HandoffMessage,
  { residency: asked }: Handed,
): Pick<AgentState, 'residency'> {
  if (asked !== undefined && before !== undefined && !keepsResidency(before, asked)) {
    const [was, wanted] = [before, asked].map(
      (one) => `${one.jurisdiction} ${one.transferMechanism}`,
    )
    throw lowered(`residency is ${was}, and ${wanted} would let the data go elsewhere`)
  }
  const residency = asked ?? before
  return residency === undefined ? {} : { residency }
}

const lowered = (message: string) =>
  permanent('BATON_LABEL_LOWERED', message, {
    fix: 'Keep what the message was given, be stricter, or leave it out of the next handoff: then it carries over.',
  })

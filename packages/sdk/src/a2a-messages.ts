// A handoff as a message of A2A, and what came of it as a result.
import type { Message, Part, SendMessageRequest, Task } from '@a2a-js/sdk'
import type { AgentContext } from '@baton/engine'
import type { JsonObject, JsonValue } from '@baton/protocol'

/** What an agent of A2A answered. */
export interface A2aAnswer {
  /** All its text. */
  readonly text: string
  /** The data of its artifacts. */
  readonly data: readonly JsonValue[]
  /** What is neither: where it can be had. */
  readonly files: readonly { readonly name: string; readonly url: string }[]
  /** Null where it answered with a message at once. */
  readonly taskId: string | null
}

const ROLE_USER = 1

/**
 * Its text is what was asked in words where the state has such, else the handoff as a prompt is given it; its data are the state. The id
 * is the handoff's in every attempt, and all of a task is one context.
 */
export function toRequest(context: AgentContext): SendMessageRequest {
  const { handoffId, taskId, state } = context
  const { message, a2a: _, ...others } = state
  const text = typeof message === 'string' && message !== '' ? message : context.renderContext()
  const parts: Part[] = [partOf({ $case: 'text', value: text })]
  if (Object.keys(others).length > 0) parts.push(partOf({ $case: 'data', value: others }))
  return {
    tenant: '',
    message: {
      messageId: handoffId,
      contextId: taskId,
      taskId: '',
      role: ROLE_USER,
      parts,
      metadata: undefined,
      extensions: [],
      referenceTaskIds: [],
    },
    configuration: {
      acceptedOutputModes: [],
      taskPushNotificationConfig: undefined,
      historyLength: 0,
      returnImmediately: true,
    },
    metadata: undefined,
  }
}

const partOf = (content: NonNullable<Part['content']>): Part => ({
  content,
  metadata: undefined,
  filename: '',
  mediaType: content.$case === 'data' ? 'application/json' : 'text/plain',
})

/** Of a task its artifacts, and where it has none what its status says. */
export function readAnswer(answered: Message | Task): A2aAnswer {
  if ('messageId' in answered) return answerIn(answered.parts, null)
  const { artifacts, status, id } = answered
  const parts = artifacts.flatMap((artifact) => artifact.parts)
  return answerIn(parts.length > 0 ? parts : (status?.message?.parts ?? []), id)
}

function answerIn(parts: readonly Part[], taskId: string | null): A2aAnswer {
  const texts: string[] = []
  const data: JsonValue[] = []
  const files: { name: string; url: string }[] = []
  for (const { content, filename } of parts) {
    if (content?.$case === 'text') texts.push(content.value)
    if (content?.$case === 'data') data.push(content.value as JsonObject)
    if (content?.$case === 'url') files.push({ name: filename, url: content.value })
  }
  return { text: texts.join('\n'), data, files, taskId }
}

// Which refusals are of messages that somebody wanted to send: those are on record (E07), in whatever dialect they came.
import type { FastifyRequest } from 'fastify'
import type { RefusalRecorder } from '@baton/engine'
import type { ProblemError } from '@baton/http/server'
import { isSentId } from '@baton/protocol'
import type { RejectionReason } from '@baton/protocol'

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What is posted there are messages: a refusal of one is recorded. */
    readonly takesHandoffs?: boolean
  }
}

/** Resolves once the refusal may be answered. Of callers whom nobody knows, and of other routes, nothing is recorded. */
export type NoteRefused = (request: FastifyRequest, problem: ProblemError) => Promise<void>

export const noteRefusedBy =
  (recorder: RefusalRecorder): NoteRefused =>
  async ({ routeOptions, identified, body, span }, problem) => {
    const reason = reasonOf(problem)
    if (reason === undefined || routeOptions.config.takesHandoffs !== true || !identified.ok) return
    const { operator, tenant } = identified.key
    const { traceparent } = span
    await recorder.refused({ reason, operator, tenant, traceparent, ...idsOf(body) })
  }

/**
 * In the words of the receiver's verdict, to which size is a matter of form, and so is to be JSON at all; undefined where the
 * message was not the reason.
 */
export function reasonOf({ status, code }: ProblemError): RejectionReason | undefined {
  if (code === 'BATON_SIGNATURE_INVALID') return 'SIGNATURE_INVALID'
  if (code === 'BATON_JSON_INVALID') return 'SCHEMA_INVALID'
  const isOfMessage = status === 413 || (status === 422 && code !== 'BATON_IDEMPOTENCY_KEY_REUSED')
  return isOfMessage ? 'SCHEMA_INVALID' : undefined
}

/** What the message says that it is, in either form in which one is posted. */
function idsOf(body: unknown) {
  const { message, agentState } = membersOf(body)
  const { taskId, handoffId } = membersOf(message ?? agentState)
  return { taskId: idOf(taskId), handoffId: idOf(handoffId) }
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}

const idOf = (value: unknown): string | undefined =>
  typeof value === 'string' && isSentId(value) ? value : undefined

// A handoff by the id that a caller knows it by: the request id of SW4RM, or Baton's own.
import { responseOf, statusOf, SW4RM } from '@baton/protocol/dialects/sw4rm'
import type { HandoffFacts, HandoffResponse, HandoffStatus } from '@baton/protocol/dialects/sw4rm'
import { isUuid } from '@baton/protocol'
import type { HandoffMessage } from '@baton/protocol'
import { findForeignHandoff, findHandoff, findStoredMessage } from '@baton/store'
import type { HandoffView, Pool } from '@baton/store'
import { notFound } from './refusal.ts'
import { isName } from './wire.ts'

/** Throws NOT_FOUND in the peers' words. */
export async function findByName(pool: Pool, id: string): Promise<HandoffView> {
  if (!isName(id)) throw notFound(id)
  const foreign = await findForeignHandoff(pool, { protocol: SW4RM, id })
  const handoffId = foreign?.handoffId ?? (isUuid(id) ? id : undefined)
  const known = handoffId === undefined ? undefined : await findHandoff(pool, handoffId)
  if (known === undefined) throw notFound(id)
  return known
}

/** The agent type that it waits for, or that has it. */
export const addressedTo = ({ routedTo, toAgent }: HandoffView): string => routedTo ?? toAgent

export const currentStatus = (handoff: HandoffView): HandoffStatus => statusOf(factsOf(handoff))

/** Its response, by the name it was asked for. */
export async function responseFor(
  pool: Pool,
  id: string,
  handoff: HandoffView,
): Promise<HandoffResponse> {
  const declinedWith = handoff.reason === 'DECLINED' ? codeIn(handoff.details) : undefined
  const facts = { ...factsOf(handoff), handoffId: id }
  if (declinedWith === undefined) return responseOf(facts)
  const stored = await findStoredMessage(pool, handoff.handoffId)
  const { capabilities = [] } = stored === undefined ? {} : requirementsIn(stored.body)
  return responseOf({ ...facts, declinedWith, capabilitiesRequired: capabilities })
}

/** What signed bytes require of an agent; nothing where they were erased. */
export const requirementsIn = (body: Uint8Array): NonNullable<HandoffMessage['requirements']> =>
  (JSON.parse(Buffer.from(body).toString('utf8')) as Partial<HandoffMessage>).requirements ?? {}

const WAITS: ReadonlySet<string> = new Set(['QUEUED', 'DISPATCHED', 'AWAITING_APPROVAL'])

// A sweeper writes down a little later what ran out of time.
function factsOf(handoff: HandoffView): HandoffFacts {
  const { handoffId, state, reason, createdAt, acceptedAt, endedAt, expiresAt } = handoff
  const isLate = WAITS.has(state) && expiresAt !== null && expiresAt.getTime() <= Date.now()
  const end = endedAt ?? (isLate ? expiresAt : null)
  return {
    handoffId,
    state: isLate ? 'EXPIRED' : state,
    reason,
    createdAt: createdAt.toISOString(),
    acceptedAt: acceptedAt?.toISOString() ?? null,
    endedAt: end?.toISOString() ?? null,
  }
}

const codeIn = (details: unknown): string | undefined =>
  Array.isArray(details) ? (details as { message?: string }[])[0]?.message : undefined

// The UUID by which Baton knows an id of another protocol: always the same one, and no two protocols share one.
import { hash } from 'node:crypto'
import type { HandoffMessage } from '../handoff-message.ts'
import { isSentId } from '../uuid.ts'

/**
 * An id that is a UUID of version 4 keeps it, in lower case. Any other text becomes one, shaped of the digest of
 * protocol, kind of thing and text; the original stands in the message's `externalRef`, or in its state.
 */
export function foreignUuid(protocol: string, kind: string, id: string): string {
  const known = id.toLowerCase()
  if (isSentId(known)) return known
  const digits = hash('sha256', `baton:${protocol}:${kind}:${id}`).slice(0, 32)
  const variant = '89ab'[Number.parseInt(digits[16] ?? '0', 16) % 4]
  const shaped = `${digits.slice(0, 12)}4${digits.slice(13, 16)}${variant}${digits.slice(17)}`
  return shaped.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
}

/** A kind of thing whose ids each owner has for itself: two owners' same text is two things. */
export const kindOf = (kind: string, owner: string | undefined): string =>
  owner === undefined ? kind : `${kind} of ${owner}`

/**
 * Whether the message itself came in by the protocol. What agents hand on afterwards keeps the reference of what began their
 * task, and is told from it by the subtask that each of them has completed.
 */
export const cameInBy = (
  protocol: string,
  { externalRef, completedSubtasks }: HandoffMessage,
): boolean => externalRef?.protocol === protocol && completedSubtasks.length === 0

// A stored message with texts taken out, signed anew; refused where it still could not be delivered.
import { parseMessage, signHandoff, validateHandoffMessage, verifySignature } from '@baton/protocol'
import type { Detail, HandoffMessage, KeyRing } from '@baton/protocol'
import type { StoredMessage } from '@baton/store'
import type { Scanner } from '@baton/safety'
import { redactMessage } from './decide/redact-message.ts'
import type { Redaction } from './decide/redact-message.ts'

export type RedactedMessage =
  | { readonly ok: true; readonly signed: StoredMessage }
  /** `unsafe`: the places were right, and what is left is still rejected there. */
  | { readonly ok: false; readonly details: readonly Detail[]; readonly unsafe: boolean }

/**
 * Redacts and signs with the active key, where the bytes are still the ones that were signed before:
 * nobody's signature is put under what somebody changed in the database. What is left must pass schema and safety without anybody's
 * help, so that a redaction is never a way around the scanner.
 */
export function redactStored(
  stored: StoredMessage,
  redactions: readonly Redaction[],
  { keyRing, scan }: { readonly keyRing: KeyRing; readonly scan: Scanner['scan'] },
): RedactedMessage {
  if (!verifySignature(stored.body, stored, keyRing).ok)
    return { ok: false, details: [UNTRUSTED], unsafe: false }
  const parsed = parseMessage(stored.body)
  if (!parsed.ok) return { ok: false, details: parsed.details, unsafe: false }
  const redacted = redactMessage(parsed.value as unknown as HandoffMessage, redactions)
  if (!redacted.ok) return { ...redacted, unsafe: false }
  const verdict = validateHandoffMessage(redacted.message, { scan })
  if (!verdict.valid && BLOCKING.has(verdict.reason))
    return { ok: false, details: verdict.details, unsafe: verdict.reason === 'SAFETY_VIOLATION' }
  const { bytes, keyId, signature } = signHandoff(redacted.message, keyRing)
  return { ok: true, signed: { body: bytes, keyId, signature } }
}

const BLOCKING: ReadonlySet<string> = new Set(['SCHEMA_INVALID', 'SAFETY_VIOLATION'])

const UNTRUSTED: Detail = {
  pointer: '/signature',
  rule: 'signature',
  message:
    'The quarantined bytes are not the ones that were signed, or their key is not believed any more',
  fix: 'Discard it, or ask its sender to send it again.',
}

// The check that a receiver makes before anything else, as one call (E04): everything is looked at unless it cannot be.
import { describeDetails, judgeMessage } from '@baton/protocol'
import type {
  AgentRegistration,
  Detail,
  HandoffMessage,
  KeyRing,
  RejectionReason,
} from '@baton/protocol'
import { createScanner } from '@baton/safety'

export interface ValidateOptions {
  /** The receiving agent: its state, version and address are checked too. */
  readonly agent?: AgentRegistration
  /** Then the message must carry a signature of one of these keys. Without it no signature is looked at, and `signature` says so. */
  readonly keyRing?: KeyRing
}

/** What was said of the message's own signature: `skipped` where no keys were given. */
type SignatureChecked = 'passed' | 'failed' | 'skipped'

export type HandoffValidation =
  | {
      readonly valid: true
      /** A plain copy, which nobody else can change. */
      readonly message: HandoffMessage
      /** Deprecated members that it has: each will be gone in the next major version. */
      readonly warnings: readonly Detail[]
      readonly signature: SignatureChecked
    }
  | {
      readonly valid: false
      /** That of the first check that failed; SIGNATURE_INVALID only where keys were given. */
      readonly reason: RejectionReason
      /** Everything that check found, as one line to read: places and what is wrong there, never a value of the message. */
      readonly details: string
      /** The same one by one: pointer, rule, and how to mend it. */
      readonly errors: readonly Detail[]
      readonly signature: SignatureChecked
    }

const { scan } = createScanner()

/**
 * Says whether a message may be accepted: signature, schema, completeness, budget, safety, in this order; the first that fails
 * is the reason. The text is always scanned, and what the scanner cannot judge is SAFETY_VIOLATION. Any value gets an answer; nothing is
 * thrown.
 */
export function validateHandoffMessage(
  message: unknown,
  { agent, keyRing }: ValidateOptions = {},
): HandoffValidation {
  const verdict = judgeMessage(message, { agent, keyRing, scan })
  const { signature } = verdict.checks
  if (verdict.valid)
    return { valid: true, message: verdict.message, warnings: verdict.warnings, signature }
  const { reason, details: errors } = verdict
  return {
    valid: false,
    reason,
    details: describeDetails(errors, errors.length),
    errors,
    signature,
  }
}

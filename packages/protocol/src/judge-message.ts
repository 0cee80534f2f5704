// Judges a message that is in memory already, in the order of I6.
import type { AgentRegistration } from './agent-registration.ts'
import type { Scan, ScanVerdict } from './checks/safety.ts'
import type { HandoffMessage } from './handoff-message.ts'
import type { JsonValue } from './json.ts'
import { judgeContent, reject } from './judge-content.ts'
import { checkSignature } from './judge-handoff.ts'
import type { KeyRing } from './key-ring.ts'
import { deliveryOf } from './signature.ts'
import { copyStrict } from './strict-value.ts'
import { NOT_CHECKED } from './verdict.ts'
import type { Rejection, Verdict } from './verdict.ts'

export interface MessageOptions<V extends ScanVerdict = ScanVerdict> {
  /** The receiving agent; without it required state and version range are not checked. */
  readonly agent?: AgentRegistration | undefined
  /** Undefined only where safety is judged elsewhere: it has to be said, so that nobody leaves it out unknowingly. */
  readonly scan: Scan<V> | undefined
  /** By which the message's own signature is verified; without it the signature is not looked at. */
  readonly keyRing?: KeyRing | undefined
}

/**
 * Signature, schema, completeness, budget, safety. Any value gets a verdict, and nothing is thrown; the accepted message is a
 * plain copy.
 */
export function judgeMessage<V extends ScanVerdict = ScanVerdict>(
  message: unknown,
  options: MessageOptions<V>,
): Verdict<V> {
  const copy = copyStrict(message)
  if (!copy.ok)
    return reject<V>('SCHEMA_INVALID', [copy.detail], { ...NOT_CHECKED, schema: 'failed' })
  const { agent, scan, keyRing } = options
  const signature = keyRing === undefined ? 'skipped' : 'passed'
  const refused = keyRing === undefined ? undefined : checkOwnSignature(copy.value, keyRing)
  return (
    refused ??
    judgeContent(copy.value, { agent, scan }, { ...NOT_CHECKED, size: 'passed', signature })
  )
}

// What is no object has no signature either; the schema says so better.
function checkOwnSignature(value: JsonValue, keyRing: KeyRing): Rejection<never> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  return checkSignature(deliveryOf(value as unknown as HandoffMessage), keyRing)
}

// The receiver's check as a library function (E04), for a message that is in memory already.
import type { AgentRegistration } from './agent-registration.ts'
import type { Scan, ScanVerdict } from './checks/safety.ts'
import { judgeContent, reject } from './judge-content.ts'
import { copyStrict } from './strict-value.ts'
import { NOT_CHECKED } from './verdict.ts'
import type { Verdict } from './verdict.ts'

export interface ValidateOptions<V extends ScanVerdict = ScanVerdict> {
  /** The receiving agent; without it required state and version range are not checked. */
  readonly agent?: AgentRegistration
  /** The safety scanner; without it the safety check is skipped. */
  readonly scan?: Scan<V>
}

/**
 * Says whether a message may be accepted: schema, completeness, budget, safety, in this order.
 * Any value gets a verdict, and nothing is thrown; the accepted message is a plain copy. A
 * signature belongs to bytes: use judgeHandoff where one has to be verified.
 */
export function validateHandoffMessage<V extends ScanVerdict = ScanVerdict>(
  message: unknown,
  options: ValidateOptions<V> = {},
): Verdict<V> {
  const copy = copyStrict(message)
  if (copy.ok) return judgeContent(copy.value, options, { ...NOT_CHECKED, size: 'passed' })
  return reject<V>('SCHEMA_INVALID', [copy.detail], { ...NOT_CHECKED, schema: 'failed' })
}

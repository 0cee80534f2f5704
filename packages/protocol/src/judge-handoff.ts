// Judges a delivery in the order of I6: size, signature, schema, completeness, budget, safety.
import type { AgentRegistration } from './agent-registration.ts'
import type { TaskBudget } from './checks/consistency.ts'
import { checkOverride } from './checks/approval-override.ts'
import type { OfferedOverride, OverriddenDelivery } from './checks/approval-override.ts'
import { refusalOf } from './checks/safety.ts'
import type { Scan, ScanVerdict } from './checks/safety.ts'
import type { Detail } from './detail.ts'
import type { JsonObject, JsonValue } from './json.ts'
import { judgeContent, judgeUnsafe, reject } from './judge-content.ts'
import type { LostFactsPolicy } from './judge-content.ts'
import type { KeyRing } from './key-ring.ts'
import { DEFAULT_LIMITS } from './limits.ts'
import type { Limits } from './limits.ts'
import { checkSize, parseMessage } from './parse-message.ts'
import { verifySignature } from './signature.ts'
import type { Delivery, SignatureProblem } from './signature.ts'
import { NOT_CHECKED } from './verdict.ts'
import type { Acceptance, Checks, Rejection, Verdict } from './verdict.ts'

export interface JudgeOptions<V extends ScanVerdict = ScanVerdict> {
  /** The receiving agent; where none is known, what depends on it is not checked. */
  readonly agent: AgentRegistration | undefined
  readonly keyRing: KeyRing
  readonly scan: Scan<V>
  /** What the store knows of the task's budget; without it conservation is not checked. */
  readonly task?: TaskBudget | undefined
  readonly limits?: Limits | undefined
  /** The agent executes instead of the one that the message addresses and that could not. */
  readonly routed?: boolean | undefined
  /** What becomes of a message that lost pinned facts: refused as incomplete by default. */
  readonly lostFacts?: LostFactsPolicy | undefined
  /** Under which a message may pass that the scanner rejects; nothing else is overridden. */
  readonly override?: OverrideOption | undefined
}

export interface OverrideOption extends Pick<OverriddenDelivery, 'handoffId' | 'isSigned'> {
  readonly offered: OfferedOverride
}

/** Judges the bytes as they came. Any input gets a verdict; nothing is thrown. */
export function judgeHandoff<V extends ScanVerdict>(
  delivery: Delivery,
  options: JudgeOptions<V>,
): Verdict<V> {
  const limits = options.limits ?? DEFAULT_LIMITS
  const tooLong = checkSize(delivery.bytes, limits)
  if (tooLong !== undefined)
    return reject<V>('SCHEMA_INVALID', [tooLong], { ...NOT_CHECKED, size: 'failed' })
  const unsigned = checkSignature(delivery, options.keyRing)
  if (unsigned !== undefined) return unsigned
  const signed: Checks<V> = { ...NOT_CHECKED, size: 'passed', signature: 'passed' }
  const parsed = parseMessage(delivery.bytes, limits)
  if (!parsed.ok) return reject('SCHEMA_INVALID', parsed.details, { ...signed, schema: 'failed' })
  if (!parsed.canonical)
    return reject('SCHEMA_INVALID', [NOT_CANONICAL], { ...signed, schema: 'failed' })
  const envelope = checkEnvelope(parsed.value, delivery.keyId)
  return envelope ?? judgeContent(parsed.value, contentOptions(delivery, options), signed)
}

/**
 * What a message comes to that could not be judged to its end, because it took too much: where its size and signature hold,
 * it is as unsafe as one that the scanner fails on. Never throws.
 */
export function judgeEnded(
  delivery: Delivery,
  { keyRing, limits = DEFAULT_LIMITS }: Pick<JudgeOptions, 'keyRing' | 'limits'>,
): Rejection<never> {
  const tooLong = checkSize(delivery.bytes, limits)
  if (tooLong !== undefined)
    return reject<never>('SCHEMA_INVALID', [tooLong], { ...NOT_CHECKED, size: 'failed' })
  const checks = { ...NOT_CHECKED, size: 'passed', signature: 'passed', safety: 'failed' } as const
  return (
    checkSignature(delivery, keyRing) ?? reject<never>('SAFETY_VIOLATION', [JUDGING_ENDED], checks)
  )
}

/**
 * What an accepted delivery comes to once somebody beside the scanner has judged its text: `scan` is the verdict of both, at
 * least as bad as the scanner's own. Never throws.
 */
export function judgeRaised<V extends ScanVerdict>(
  delivery: Delivery,
  accepted: Acceptance<V>,
  { scan, override }: { readonly scan: V; readonly override?: OverrideOption | undefined },
): Verdict<V> {
  const raised = { ...accepted, checks: { ...accepted.checks, scan } }
  const details = refusalOf(scan)
  return details.length === 0
    ? raised
    : judgeUnsafe(raised, details, overrideFor(delivery, override))
}

/** Undefined where the bytes were signed with a key that is believed. */
export function checkSignature(delivery: Delivery, keyRing: KeyRing): Rejection<never> | undefined {
  const signature = verifySignature(delivery.bytes, delivery, keyRing)
  return signature.ok ? undefined : refuseSignature(SIGNATURE_PROBLEMS[signature.why])
}

function contentOptions<V extends ScanVerdict>(delivery: Delivery, options: JudgeOptions<V>) {
  const { agent, scan, task, routed, lostFacts, override } = options
  const judged = { agent, scan, task, routed, lostFacts }
  const judge = overrideFor(delivery, override)
  return judge === undefined ? judged : { ...judged, override: judge }
}

function overrideFor({ bytes }: Delivery, override: OverrideOption | undefined) {
  if (override === undefined) return undefined
  const { offered, ...given } = override
  return (verdict: ScanVerdict | null) => checkOverride(offered, { ...given, bytes }, verdict)
}

/** The signature stands beside the bytes, and the key named inside them is the one that signed. */
function checkEnvelope(value: JsonValue, keyId: string): Rejection<never> | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
  const { signature, signatureKeyId } = value as JsonObject
  if (signature !== undefined) return refuseSignature('the signed bytes contain a signature')
  if (signatureKeyId !== undefined && signatureKeyId !== keyId)
    return refuseSignature('the message names another key than the one that signed it')
  return undefined
}

function refuseSignature(message: string): Rejection<never> {
  const detail: Detail = {
    pointer: '/signature',
    rule: 'signature',
    message,
    fix: 'Sign the RFC 8785 form of the message without its signature, with an active key.',
  }
  return reject<never>('SIGNATURE_INVALID', [detail], {
    ...NOT_CHECKED,
    size: 'passed',
    signature: 'failed',
  })
}

const SIGNATURE_PROBLEMS: Readonly<Record<SignatureProblem, string>> = {
  malformed: 'the signature is missing or not of the form hmac-sha256:<64 hex digits>',
  'unknown-key': 'the key that signed the message is not known here',
  'revoked-key': 'the key that signed the message has been revoked',
  mismatch: 'the signature does not belong to these bytes: the message was changed after signing',
}

const JUDGING_ENDED: Detail = {
  pointer: '',
  rule: 'safety.ended',
  message: 'judging the message took more time or memory than a message may take, and was ended',
  fix: 'It waits in the dead letter queue for a person. Send less, or a reference to the data.',
}

const NOT_CANONICAL: Detail = {
  pointer: '',
  rule: 'canonical',
  message: 'the bytes are not the RFC 8785 form of the message',
  fix: 'Sign and send the canonical form: sorted keys, no white space, shortest numbers.',
}

// Takes text out of a message at places that a reviewer names, and signs what is left; the envelope is never touched.
import {
  judgeMessage,
  parseMessage,
  signHandoff,
  verifySignature,
  withoutLostFacts,
} from '@baton/protocol'
import type { Detail, HandoffMessage, JsonValue, KeyRing } from '@baton/protocol'
import type { Scanner } from '@baton/safety'
import type { StoredMessage } from '@baton/store'

/** UTF-16 offsets [start, end) in the string at the pointer, as evidence gives them. */
export type Span = readonly [start: number, end: number]

export interface Redaction {
  /** RFC 6901 pointer to a string, or to an object or array whose strings all go. */
  readonly pointer: string
  /** Without spans the whole text goes. */
  readonly spans?: readonly Span[]
}

const REDACTED = '[REDACTED]'

/** What people and agents wrote. Everything else says who, where to and how much, and stays. */
const TEXT_FIELDS: ReadonlySet<string> = new Set([
  'taskDescription',
  'completedSubtasks',
  'remainingSubtasks',
  'currentState',
  'relevantContext',
  'constraints',
  'conversationHistoryVerbatim',
  'conversationHistorySummary',
  'toolCallHistory',
  'personalDataPayload',
])

export type Redacted =
  | { readonly ok: true; readonly message: HandoffMessage }
  | { readonly ok: false; readonly details: readonly Detail[] }

/**
 * A copy with `[REDACTED]` in the named places, which pins nothing that was taken out; details name each place that is not
 * there.
 */
export function redactMessage(message: HandoffMessage, redactions: readonly Redaction[]): Redacted {
  const copy = structuredClone(message)
  const details = redactions.flatMap((redaction) => redactAt(copy, redaction))
  return details.length > 0 ? { ok: false, details } : { ok: true, message: withoutLostFacts(copy) }
}

type Holder = Record<string, JsonValue> | JsonValue[]

function redactAt(message: HandoffMessage, { pointer, spans }: Redaction): readonly Detail[] {
  const keys = stepsOf(pointer)
  const last = keys.at(-1)
  const field = keys[0] ?? ''
  if (last === undefined || !(TEXT_FIELDS.has(field) || field.startsWith('x-')))
    return [wrong(pointer, 'this part of a message holds no text that can be taken out')]
  const holder = holderOf(message as unknown as JsonValue, keys.slice(0, -1))
  const value = holder === undefined ? undefined : memberOf(holder, last)
  if (holder === undefined || value === undefined)
    return [wrong(pointer, 'there is nothing at this place of the message')]
  if (typeof value !== 'string' && spans !== undefined)
    return [wrong(pointer, 'spans can be given for a text only')]
  if (typeof value === 'string' && spans?.some((span) => !fits(span, value.length)) === true)
    return [wrong(pointer, 'a span lies outside of the text')]
  Reflect.set(holder, last, redacted(value, spans))
  return []
}

const stepsOf = (pointer: string): readonly string[] =>
  pointer.startsWith('/')
    ? pointer
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : []

function holderOf(root: JsonValue, steps: readonly string[]): Holder | undefined {
  let value: JsonValue | undefined = root
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined
    value = memberOf(value as Holder, step)
  }
  return typeof value === 'object' && value !== null ? (value as Holder) : undefined
}

const memberOf = (holder: Holder, key: string): JsonValue | undefined =>
  Object.hasOwn(holder, key) && (!Array.isArray(holder) || /^\d+$/.test(key))
    ? (Reflect.get(holder, key) as JsonValue)
    : undefined

const fits = ([start, end]: Span, length: number): boolean =>
  start >= 0 && start < end && end <= length

function redacted(value: JsonValue, spans: readonly Span[] | undefined): JsonValue {
  if (typeof value === 'string') return spans === undefined ? REDACTED : cutOut(value, spans)
  if (Array.isArray(value)) return value.map((item) => redacted(item as JsonValue, undefined))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value as Record<string, JsonValue>)
  return Object.fromEntries(entries.map(([key, item]) => [key, redacted(item, undefined)]))
}

// From the last to the first, so that offsets stay right; spans that touch become one.
function cutOut(text: string, spans: readonly Span[]): string {
  const joined: [number, number][] = []
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    const previous = joined.at(-1)
    if (previous !== undefined && start <= previous[1]) previous[1] = Math.max(previous[1], end)
    else joined.push([start, end])
  }
  return joined
    .toReversed()
    .reduce((rest, [start, end]) => rest.slice(0, start) + REDACTED + rest.slice(end), text)
    .toWellFormed()
}

const wrong = (pointer: string, message: string): Detail => ({
  pointer,
  rule: 'redaction',
  message,
  fix: 'Name places as the evidence of the dead letter does, such as /currentState/text.',
})

export type RedactedMessage =
  /** `requiresApproval`: what is left needs an approval of its own. */
  | { readonly ok: true; readonly signed: StoredMessage; readonly requiresApproval: boolean }
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
  const verdict = judgeMessage(redacted.message, { scan })
  if (!verdict.valid && BLOCKING.has(verdict.reason))
    return { ok: false, details: verdict.details, unsafe: verdict.reason === 'SAFETY_VIOLATION' }
  const { bytes, keyId, signature } = signHandoff(redacted.message, keyRing)
  const requiresApproval = redacted.message.requiresApproval === true
  return { ok: true, signed: { body: bytes, keyId, signature }, requiresApproval }
}

const BLOCKING: ReadonlySet<string> = new Set(['SCHEMA_INVALID', 'SAFETY_VIOLATION'])

const UNTRUSTED: Detail = {
  pointer: '/signature',
  rule: 'signature',
  message:
    'The quarantined bytes are not the ones that were signed, or their key is not believed any more',
  fix: 'Discard it, or ask its sender to send it again.',
}

// Nothing reaches a record that is not on this list: names, types, lengths and value ranges.
import type { AuditEntry } from './audit-entry.ts'
import { isAuditEvent } from './audit-event.ts'

/** One thing that is wrong with an entry: where, what, and what would be right. */
export interface EntryProblem {
  readonly pointer: string
  readonly message: string
  readonly fix: string
}

export type CheckedEntry =
  | { readonly ok: true; readonly entry: AuditEntry }
  | { readonly ok: false; readonly problems: readonly EntryProblem[] }

/** Answers a sentence that says what was expected, or undefined when the value fits. */
type Rule = (value: unknown, pointer: string, problems: EntryProblem[]) => void

const SEGMENTS_MAX = 256
const SEGMENT_CHARACTERS_MAX = 4 * 1024 * 1024

const must =
  (expected: string, fits: (value: unknown) => boolean): Rule =>
  (value, pointer, problems) => {
    if (fits(value)) return
    const message = value === undefined ? 'is missing' : 'has a value that is not allowed'
    problems.push({ pointer, message, fix: `Give ${expected}.` })
  }

const matching = (expected: string, pattern: RegExp): Rule =>
  must(expected, (value) => typeof value === 'string' && pattern.test(value))

const integer = (min: number, max: number): Rule =>
  must(
    `a whole number from ${min} to ${max}`,
    (value) => Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max,
  )

const oneOf = (...choices: readonly string[]): Rule =>
  must(`one of ${choices.join(', ')}`, (value) => choices.includes(value as string))

const orNull =
  (rule: Rule): Rule =>
  (value, pointer, problems) => {
    if (value !== null) rule(value, pointer, problems)
  }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Exactly the given members: a missing one and an unknown one are both problems. */
const object =
  (members: Readonly<Record<string, Rule>>): Rule =>
  (value, pointer, problems) => {
    if (!isObject(value)) {
      problems.push({ pointer, message: 'is not an object', fix: 'Give a JSON object.' })
      return
    }
    for (const key of Object.keys(value)) {
      if (Object.hasOwn(members, key)) continue
      problems.push({ pointer, message: 'has a member that is not allowed', fix: allowed(members) })
    }
    for (const [key, rule] of Object.entries(members)) {
      const member = Object.hasOwn(value, key) ? value[key] : undefined
      rule(member, `${pointer}/${key}`, problems)
    }
  }

const allowed = (members: object): string => `Give only ${Object.keys(members).join(', ')}.`

const list =
  (rule: Rule, itemsMax: number): Rule =>
  (value, pointer, problems) => {
    if (!Array.isArray(value) || value.length > itemsMax) {
      const fix = `Give an array of at most ${itemsMax} items.`
      problems.push({ pointer, message: 'is not such an array', fix })
      return
    }
    value.forEach((item, index) => rule(item, `${pointer}/${index}`, problems))
  }

// Names are for machines: printable ASCII without spaces at either end, so prose does not fit well.
const name = matching('a name of 1 to 256 printable characters', /^[!-~](?:[ -~]{0,254}[!-~])?$/)
const uuid = matching(
  'a lower-case UUID',
  /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
)
const outcome = oneOf('passed', 'failed', 'skipped')
const count = integer(0, Number.MAX_SAFE_INTEGER)
const wellFormed = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= SEGMENT_CHARACTERS_MAX && value.isWellFormed()

const entryRule = object({
  event: must('an event the log knows', isAuditEvent),
  taskId: uuid,
  handoffId: uuid,
  parentHandoffId: orNull(uuid),
  attempt: integer(0, 1_000_000),
  epoch: count,
  fromAgent: object({ agentId: name, agentVersion: name, executionId: name }),
  toAgent: object({ agentType: name, agentVersion: orNull(name) }),
  traceparent: matching('a W3C traceparent', /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/),
  verdicts: orNull(
    object({
      size: outcome,
      signature: outcome,
      schema: outcome,
      completeness: outcome,
      budget: outcome,
      safety: object({
        decision: oneOf('allow', 'flag', 'reject', 'skipped'),
        artefactId: orNull(name),
        findings: integer(0, 1_000_000),
      }),
    }),
  ),
  reason: orNull(matching('an upper-case code', /^[A-Z][A-Z0-9_]{0,63}$/)),
  cost: orNull(
    object({
      spentMicroUSD: count,
      remainingMicroUSD: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      promptTokens: count,
      completionTokens: count,
    }),
  ),
  segments: list(
    object({
      kind: oneOf('message', 'personal'),
      subject: orNull(matching('an opaque id of 1 to 256 characters', /^[^\n]{1,256}$/u)),
      text: must('text without lone surrogates, at most 4 Mi characters', wellFormed),
    }),
    SEGMENTS_MAX,
  ),
})

/**
 * Checks one entry that came from outside. `pointer` prefixes the JSON pointers of the problems.
 * Never throws, and never quotes a value: problems are safe to log.
 */
export function checkEntry(value: unknown, pointer = ''): CheckedEntry {
  const problems: EntryProblem[] = []
  entryRule(value, pointer, problems)
  return problems.length === 0 ? { ok: true, entry: value as AuditEntry } : { ok: false, problems }
}

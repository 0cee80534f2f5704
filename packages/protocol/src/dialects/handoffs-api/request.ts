// What may be posted to /api/handoffs, and patched: read member by member, in the order in which the API checks them.
import type { JsonObject, JsonValue } from '../../json.ts'
import { accepted, refused, refusedMember } from './refusal.ts'
import type { Answer } from './refusal.ts'
import { PRIORITY_DEFAULT } from './words.ts'

/** A body of POST, trimmed, with its defaults. */
export interface CreateRequest {
  readonly fromProfileId: string
  readonly toProfileId: string
  readonly subject: string
  readonly body: string
  /** Any text that names the task that the sender works on. */
  readonly sourceTaskId: string | null
  readonly priority: number
  readonly requiresApproval: boolean
  readonly parentMessageId: string | null
  /** Whom the text is about, by opaque ids; erasing one of them erases the text. */
  readonly dataSubjects: readonly string[]
}

export interface DecisionRequest {
  readonly action: 'approve' | 'reject'
  /** A name for the record; who decided is known by the key that was used. */
  readonly approvedBy: string
}

const ID_MAX = 256
const SUBJECT_MAX = 200
const BODY_MAX = 4_000
const SUBJECTS_MAX = 100
const APPROVER_MAX = 200
const APPROVER_DEFAULT = 'user'

/** In the order in which they are missed. */
const REQUIRED = {
  fromProfileId: ID_MAX,
  toProfileId: ID_MAX,
  subject: SUBJECT_MAX,
  body: BODY_MAX,
} as const

const CREATE_MEMBERS = new Set([
  ...Object.keys(REQUIRED),
  'sourceTaskId',
  'priority',
  'requiresApproval',
  'parentMessageId',
  'dataSubjects',
])

/** Reads a body of POST: what is missing is said before what is wrong, and null is the same as missing. */
export function readCreate(body: JsonValue): Answer<CreateRequest> {
  if (!isObject(body)) return NOT_AN_OBJECT
  const missing = Object.keys(REQUIRED).find((name) => isMissing(body[name]))
  if (missing !== undefined)
    return refusedMember(missing, `${missing} is required`, `Add ${missing}, a text.`)
  const wrong = findWrong(body)
  if (wrong !== undefined) return wrong
  return accepted({
    fromProfileId: textOf(body, 'fromProfileId') ?? '',
    toProfileId: textOf(body, 'toProfileId') ?? '',
    subject: textOf(body, 'subject') ?? '',
    body: textOf(body, 'body') ?? '',
    sourceTaskId: textOf(body, 'sourceTaskId'),
    priority: (body['priority'] ?? PRIORITY_DEFAULT) as number,
    requiresApproval: (body['requiresApproval'] ?? false) as boolean,
    parentMessageId: textOf(body, 'parentMessageId'),
    dataSubjects: (body['dataSubjects'] ?? []) as readonly string[],
  })
}

/** Reads a body of PATCH. */
export function readDecision(body: JsonValue): Answer<DecisionRequest> {
  if (!isObject(body)) return NOT_AN_OBJECT
  const { action } = body
  if (action !== 'approve' && action !== 'reject')
    return refusedMember('action', 'action must be approve or reject', 'Send one of these two.')
  const wrong = unknownMember(body, DECISION_MEMBERS) ?? wrongText(body, 'approvedBy', APPROVER_MAX)
  if (wrong !== undefined) return wrong
  return accepted({ action, approvedBy: textOf(body, 'approvedBy') ?? APPROVER_DEFAULT })
}

const DECISION_MEMBERS = new Set(['action', 'approvedBy'])

function findWrong(body: JsonObject) {
  const texts = { ...REQUIRED, sourceTaskId: ID_MAX, parentMessageId: ID_MAX }
  for (const [name, lengthMax] of Object.entries(texts)) {
    const wrong = wrongText(body, name, lengthMax)
    if (wrong !== undefined) return wrong
  }
  return (
    wrongPriority(body['priority'] ?? PRIORITY_DEFAULT) ??
    wrongFlag(body['requiresApproval'] ?? false) ??
    wrongSubjects(body['dataSubjects'] ?? []) ??
    unknownMember(body, CREATE_MEMBERS)
  )
}

const isObject = (value: JsonValue): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isMissing = (value: JsonValue | undefined): boolean =>
  value === undefined || value === null || (typeof value === 'string' && value.trim() === '')

/** The trimmed text; null where there is none. */
function textOf(body: JsonObject, name: string): string | null {
  const value = body[name]
  return typeof value === 'string' && value.trim() !== '' ? value.trim() : null
}

const CONTROL = /\p{Cc}/u
/** Line breaks and tabs are text; NUL and its like are not. */
const CONTROL_IN_TEXT = /[\0-\x08\x0b\x0c\x0e-\x1f]/

function wrongText(body: JsonObject, name: string, lengthMax: number) {
  const value = body[name] ?? null
  if (value === null) return undefined
  if (typeof value !== 'string')
    return refusedMember(name, `${name} must be a string`, 'Send a text.')
  const isProse = name === 'subject' || name === 'body'
  if ((isProse ? CONTROL_IN_TEXT : CONTROL).test(value.trim()))
    return refusedMember(
      name,
      `${name} must not contain control characters`,
      'Send printable characters.',
    )
  if (lengthOf(value.trim()) <= lengthMax) return undefined
  return refusedMember(
    name,
    `${name} must be at most ${lengthMax} characters`,
    'Send a shorter one.',
  )
}

// In characters as people count them: a pair of surrogates is one.
const lengthOf = (text: string): number => Array.from(text).length

const wrongPriority = (value: JsonValue) =>
  Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 3
    ? undefined
    : refusedMember(
        'priority',
        'priority must be an integer from 0 to 3',
        'Send 0 (critical), 1 (high), 2 (medium) or 3 (low).',
      )

const wrongFlag = (value: JsonValue) =>
  typeof value === 'boolean'
    ? undefined
    : refusedMember('requiresApproval', 'requiresApproval must be a boolean', 'Send true or false.')

/** As the message's schema has it. */
const OPAQUE = /^[^\s@\0-\x1f\x7f]+$/

function wrongSubjects(value: JsonValue) {
  const isId = (one: JsonValue) =>
    typeof one === 'string' && one.length <= ID_MAX && OPAQUE.test(one)
  const isList = Array.isArray(value) && value.length <= SUBJECTS_MAX && value.every(isId)
  if (isList && new Set(value).size === value.length) return undefined
  return refusedMember(
    'dataSubjects',
    'dataSubjects must be a list of different ids',
    `Send at most ${SUBJECTS_MAX} opaque ids of 1 to ${ID_MAX} characters, never names or addresses.`,
  )
}

// A member with a wrong name would otherwise do nothing: an approval that nobody asks for, for example.
function unknownMember(body: JsonObject, known: ReadonlySet<string>) {
  const unknown = Object.keys(body).find((name) => body[name] !== null && !known.has(name))
  if (unknown === undefined) return undefined
  return refused({
    error: 'the body has a field that is not known here',
    code: 'BATON_REQUEST_INVALID',
    fix: `Leave it out, or correct its name; these are known: ${[...known].join(', ')}.`,
  })
}

const NOT_AN_OBJECT = refusedMember('', 'the body must be a JSON object', 'Send { ... }.')

// Nothing reaches a record that is not on this list: names, types, lengths and value ranges. And a
// body that differs from it is not read as a record.
import { SEGMENT_KINDS } from './audit-entry.ts'
import type { AuditEntry } from './audit-entry.ts'
import { isAuditEvent } from './audit-event.ts'
import { parseInstant } from './instant.ts'
import {
  count,
  integer,
  list,
  matching,
  must,
  name,
  object,
  oneOf,
  optional,
  orNull,
  uuid,
} from './rules.ts'
import type { EntryProblem } from './rules.ts'
import { isTenantName } from './tenant-names.ts'

export type CheckedEntry =
  | { readonly ok: true; readonly entry: AuditEntry }
  | { readonly ok: false; readonly problems: readonly EntryProblem[] }

const SEGMENTS_MAX = 256
const SUBJECTS_MAX = 256
const JOINS_MAX = 256
const EXEMPTIONS_MAX = 32
/** How many facts one operation may state. */
const OPERATION_DETAILS_MAX = 64
/** The longest text of a segment, in UTF-16 units. */
export const SEGMENT_CHARACTERS_MAX = 4 * 1024 * 1024

const outcome = oneOf('passed', 'failed', 'skipped')
const wellFormed = (value: unknown): boolean =>
  typeof value === 'string' && value.length <= SEGMENT_CHARACTERS_MAX && value.isWellFormed()

const isTenant = (value: unknown): boolean => typeof value === 'string' && isTenantName(value)

const code = matching('an upper-case code', /^[A-Z][A-Z0-9_]{0,63}$/)
const sha256 = matching('64 lower-case hex digits', /^[0-9a-f]{64}$/)
export const IDENTIFIER = /^[!-~]{1,256}$/
const identifier = matching('1 to 256 printable characters without spaces', IDENTIFIER)

/** The members that an entry and its record share. */
const STRUCTURAL_MEMBERS = {
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
  reason: orNull(code),
  cost: orNull(
    object({
      spentMicroUSD: count,
      remainingMicroUSD: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
      promptTokens: count,
      completionTokens: count,
    }),
  ),
  tenant: optional(must('the name of a tenant', isTenant)),
  sentBy: optional(name),
  act: optional(
    object({
      id: uuid,
      actor: name,
      signed: optional(
        object({
          keyId: matching('16 lower-case hex digits', /^[0-9a-f]{16}$/),
          signedAt: matching(
            'a time with milliseconds',
            /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/,
          ),
          content: matching('64 lower-case hex digits', /^[0-9a-f]{64}$/),
          signature: matching('64 bytes in base64', /^[A-Za-z0-9+/]{86}==$/),
        }),
      ),
    }),
  ),
  classifier: optional(
    object({
      name: identifier,
      version: orNull(identifier),
      decision: orNull(oneOf('allow', 'flag', 'reject')),
      scanner: oneOf('allow', 'flag'),
      failure: orNull(code),
    }),
  ),
  exemptions: optional(list(uuid, EXEMPTIONS_MAX)),
  policy: optional(code),
  release: optional(uuid),
  model: optional(name),
  times: optional(integer(1, Number.MAX_SAFE_INTEGER)),
  joins: optional(list(uuid, JOINS_MAX)),
  fanOut: optional(
    object({
      onFailure: oneOf('wait', 'skip', 'fail'),
      waitFor: orNull(integer(1, JOINS_MAX)),
      branches: list(
        object({ handoffId: orNull(uuid), outcome: code, reason: orNull(code) }),
        JOINS_MAX,
      ),
    }),
  ),
  stream: optional(
    object({ chunks: count, sha256: matching('64 lower-case hex digits', /^[0-9a-f]{64}$/) }),
  ),
  operation: optional(
    object({
      subject: name,
      right: identifier,
      address: orNull(identifier),
      details: list(
        object({ code, value: orNull(identifier), sha256: orNull(sha256) }),
        OPERATION_DETAILS_MAX,
      ),
    }),
  ),
  erasure: optional(
    object({
      subjectRef: uuid,
      segments: count,
      listSha256: matching('64 lower-case hex digits', /^[0-9a-f]{64}$/),
    }),
  ),
}

const subjectId = matching('an opaque id of 1 to 256 characters', /^[^\n]{1,256}$/u)

const entryRule = object({
  ...STRUCTURAL_MEMBERS,
  segments: list(
    object({
      kind: oneOf(...SEGMENT_KINDS),
      subject: orNull(subjectId),
      subjects: optional(list(subjectId, SUBJECTS_MAX)),
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
  entryRule(value, problems)
  if (problems.length === 0) return { ok: true, entry: value as AuditEntry }
  const placed = problems.map((problem) => ({ ...problem, pointer: pointer + problem.pointer }))
  return { ok: false, problems: placed }
}

const recordRule = object({
  ...STRUCTURAL_MEMBERS,
  v: must('1', (value) => value === 1),
  origin: name,
  seq: count,
  previousRecordHash: sha256,
  recordId: uuid,
  recordedAt: must(
    'a time with six fraction digits',
    (value) => typeof value === 'string' && parseInstant(value) !== undefined,
  ),
  taskSeq: count,
  previousTaskRecordHash: sha256,
  payload: list(
    object({
      segment: count,
      kind: oneOf(...SEGMENT_KINDS),
      subjectRef: uuid,
      commitment: sha256,
      bytes: count,
      zstdBytes: optional(count),
    }),
    256,
  ),
  keyIds: object({ batch: name, wrap: name }),
})

/** Whether a parsed body has exactly the members of version 1, each of its type and form. */
export function isRecordBody(value: unknown): boolean {
  const problems: EntryProblem[] = []
  recordRule(value, problems)
  return problems.length === 0
}

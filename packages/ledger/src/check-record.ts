// What a version 1 record is made of: a body that differs is not read as one.
import { STRUCTURAL_MEMBERS } from './check-entry.ts'
import { parseInstant } from './instant.ts'
import { count, list, matching, must, name, object, oneOf, uuid } from './rules.ts'
import type { EntryProblem } from './rules.ts'

const sha256 = matching('64 lower-case hex digits', /^[0-9a-f]{64}$/)

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
      kind: oneOf('message', 'personal'),
      subjectRef: uuid,
      commitment: sha256,
      bytes: count,
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

// The form that nearly every record has, checked member by member: a long log is read in half the time.
import { isAuditEvent } from './audit-event.ts'
import { parseInstant } from './instant.ts'
import type { RecordBody } from './record.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/
const SHA256 = /^[0-9a-f]{64}$/
const NAME = /^[!-~](?:[ -~]{0,254}[!-~])?$/
const TRACEPARENT = /^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$/
const REASON = /^[A-Z][A-Z0-9_]{0,63}$/
/** Members of a record without the ones that may be left out. */
const MEMBERS = 22
const SMALL_MAX = 1_000_000
const SEGMENTS_MAX = 256

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0
const isSmall = (value: unknown): boolean => isCount(value) && (value as number) <= SMALL_MAX
const fits = (value: unknown, pattern: RegExp): boolean =>
  typeof value === 'string' && pattern.test(value)
const isOutcome = (value: unknown): boolean =>
  value === 'passed' || value === 'failed' || value === 'skipped'

function hasMembers(value: unknown, members: number): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  return Object.keys(value).length === members
}

/**
 * True only for what `isRecordBody` accepts; false says nothing. With the number of members right and
 * each required one there, no other can be there.
 */
export function isPlainRecord(value: unknown): boolean {
  if (!hasMembers(value, MEMBERS)) return false
  const record = value as RecordBody
  return isPlaced(record) && isIdentified(record) && isJudged(record) && isPaid(record)
}

const isPlaced = (record: RecordBody): boolean =>
  record.v === 1 &&
  fits(record.origin, NAME) &&
  isCount(record.seq) &&
  fits(record.previousRecordHash, SHA256) &&
  typeof record.recordedAt === 'string' &&
  parseInstant(record.recordedAt) !== undefined &&
  isCount(record.taskSeq) &&
  fits(record.previousTaskRecordHash, SHA256) &&
  hasMembers(record.keyIds, 2) &&
  fits(record.keyIds.batch, NAME) &&
  fits(record.keyIds.wrap, NAME)

const isIdentified = (record: RecordBody): boolean =>
  isAuditEvent(record.event) &&
  fits(record.recordId, UUID) &&
  fits(record.taskId, UUID) &&
  fits(record.handoffId, UUID) &&
  (record.parentHandoffId === null || fits(record.parentHandoffId, UUID)) &&
  isSmall(record.attempt) &&
  isCount(record.epoch) &&
  hasMembers(record.fromAgent, 3) &&
  fits(record.fromAgent.agentId, NAME) &&
  fits(record.fromAgent.agentVersion, NAME) &&
  fits(record.fromAgent.executionId, NAME) &&
  hasMembers(record.toAgent, 2) &&
  fits(record.toAgent.agentType, NAME) &&
  (record.toAgent.agentVersion === null || fits(record.toAgent.agentVersion, NAME)) &&
  fits(record.traceparent, TRACEPARENT)

function isJudged({ verdicts, reason }: RecordBody): boolean {
  if (reason !== null && !fits(reason, REASON)) return false
  if (verdicts === null) return true
  if (!hasMembers(verdicts, 6) || !hasMembers(verdicts.safety, 3)) return false
  const { decision, artefactId, findings } = verdicts.safety
  return (
    isOutcome(verdicts.size) &&
    isOutcome(verdicts.signature) &&
    isOutcome(verdicts.schema) &&
    isOutcome(verdicts.completeness) &&
    isOutcome(verdicts.budget) &&
    ['allow', 'flag', 'reject', 'skipped'].includes(decision) &&
    (artefactId === null || fits(artefactId, NAME)) &&
    isSmall(findings)
  )
}

function isPaid({ cost, payload }: RecordBody): boolean {
  if (!Array.isArray(payload) || payload.length > SEGMENTS_MAX) return false
  if (!payload.every(isReference)) return false
  if (cost === null) return true
  return (
    hasMembers(cost, 4) &&
    isCount(cost.spentMicroUSD) &&
    Number.isSafeInteger(cost.remainingMicroUSD) &&
    isCount(cost.promptTokens) &&
    isCount(cost.completionTokens)
  )
}

function isReference(value: unknown): boolean {
  if (!hasMembers(value, 5)) return false
  const { segment, kind, subjectRef, commitment, bytes } = value as RecordBody['payload'][number]
  return (
    isCount(segment) &&
    (kind === 'message' || kind === 'personal') &&
    fits(subjectRef, UUID) &&
    fits(commitment, SHA256) &&
    isCount(bytes)
  )
}

// Words for people: events, reasons, checks, times and money as a reader without Baton says them.
import type { EntryVerdicts } from '../../src/audit-entry.ts'
import type { AuditEvent } from '../../src/audit-event.ts'

export const EVENT_WORDS: Readonly<Record<AuditEvent, string>> = {
  HANDOFF_ACCEPTED: 'Handoff accepted',
  HANDOFF_REJECTED: 'Handoff refused',
  EXECUTION_STARTED: 'Work begun',
  EXECUTION_COMPLETED: 'Work finished',
  EXECUTION_FAILED: 'Work failed',
  ROLLED_BACK: 'Rolled back',
  DEAD_LETTERED: 'Put aside for a person',
  HUMAN_ESCALATED: 'Escalated to a person',
  HANDOFF_EXPIRED: 'Handoff expired',
  HANDOFF_CANCELED: 'Handoff canceled',
  HANDOFF_APPROVED: 'Approved by a person',
  APPROVAL_REFUSED: 'Refused by a person',
  RELEASE_APPROVED: 'Vote of a reviewer',
  HANDOFF_RELEASED: 'Released',
  DEAD_LETTER_DISCARDED: 'Discarded by a person',
  SENDER_ASKED: 'Sender asked',
  HANDOFF_REDACTED: 'Message redacted',
  HANDOFF_REVISED: 'Message revised',
  TASK_RESUMED: 'Task resumed',
  ERASURE_REQUESTED: 'Erasure begun',
  ERASURE_COMPLETED: 'Erasure completed',
  ERASURE_DEFERRED: 'Erasure deferred',
  HANDOFF_RETURNED: 'Returned to its sender',
  HANDOFF_BLOCKED: 'Receiver cannot take it',
  CANCEL_REQUESTED: 'Cancellation asked for',
  HANDOFF_REROUTED: 'Sent to another agent',
  REDRIVE_STARTED: 'Bulk release begun',
  REDRIVE_STOPPED: 'Bulk release stopped',
  EVIDENCE_EXPORTED: 'Evidence exported',
  VERIFY_RUN: 'Verification run',
  PARTITION_DROPPED: 'Day moved to the cold store',
  LEGAL_HOLD_SET: 'Legal hold set',
  SEND_REFUSED: 'Refused at the door',
  LEGAL_HOLD_LIFTED: 'Legal hold lifted',
  FAN_OUT_FAILED: 'Branches failed',
  API_KEY_MADE: 'API key made',
  API_KEY_REVOKED: 'API key revoked',
  TENANT_ADDED: 'Tenant added',
  GRANT_MADE: 'Grant made',
  GRANT_REVOKED: 'Grant revoked',
  SETTINGS_CHANGED: 'Settings changed',
  MIGRATIONS_APPLIED: 'Migrations applied',
  KEY_ROTATED: 'Key rotated',
  TEXT_READ: 'Protected text read',
  RULESET_ACTIVATED: 'Scanner changed',
  BACKUP_TAKEN: 'Backup taken',
  RESTORED: 'Restored from a backup',
  RESTORE_DRILLED: 'Restore drilled',
}

const REASON_WORDS: Readonly<Record<string, string>> = {
  SIGNATURE_INVALID: 'the signature of the message is not right',
  SCHEMA_INVALID: 'the message does not have the form it must have',
  INCOMPLETE_CONTEXT: 'something that the receiver needs is missing',
  BUDGET_EXHAUSTED: 'the budget of the task is used up',
  SAFETY_VIOLATION: 'the safety check found something that must not get through',
  EXPIRED: 'its deadline passed',
  CANCELED: 'it was canceled',
  BLOCKED: 'the receiver cannot take it',
  BRANCH_FAILED: 'a branch ended without a result, and none was to',
  NO_BRANCH_COMPLETED: 'no branch came to a result',
  NOT_WAITED_FOR: 'nothing waited for it any more',
  POISON: 'its execution was interrupted too often',
  LEGAL_HOLD: 'a legal hold forbids it',
  PAYLOADS_INCLUDED: 'the texts were included',
  PAYLOADS_WITHHELD: 'the texts were left out',
}

/** The words for a code, and the code: whoever looks for it finds it. */
export function reasonWords(code: string): string {
  const words = REASON_WORDS[code]
  return words === undefined ? `code ${code}` : `${words} (${code})`
}

type SixChecks = readonly (readonly [name: string, outcome: string])[]

/** The six checks of a message in their order, each with its outcome. */
export const sixChecks = ({ safety, ...checks }: EntryVerdicts): SixChecks => [
  ['size', checks.size],
  ['signature', checks.signature],
  ['form', checks.schema],
  ['completeness', checks.completeness],
  ['budget', checks.budget],
  ['safety', SAFETY_OUTCOMES[safety.decision]],
]

const SAFETY_OUTCOMES = { allow: 'passed', flag: 'flagged', reject: 'failed', skipped: 'skipped' }

const MONTHS = [
  ['January', 'February', 'March', 'April', 'May', 'June'],
  ['July', 'August', 'September', 'October', 'November', 'December'],
].flat()

/** `22 November 2026, 11:46:29.145000 UTC`: as recorded, to the microsecond. */
export function instantWords(instant: string): string {
  const parts = /^(\d{4})-(\d\d)-(\d\d)T([\d:]+)(\.\d+)?Z$/.exec(instant)
  if (parts === null) return instant
  const [, year, month, day, clock, fraction = ''] = parts
  return `${Number(day)} ${MONTHS[Number(month) - 1]} ${year}, ${clock}${fraction} UTC`
}

export const secondsWords = (posix: number): string =>
  instantWords(new Date(posix * 1_000).toISOString().replace(/\.\d+Z$/, 'Z'))

const UNITS = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const

/** `154 ms`, `3.2 seconds`, `2 hours 5 minutes`: the two largest units. */
export function durationWords(micros: number): string {
  const seconds = micros / 1e6
  if (seconds < 1) return `${Math.round(micros / 1_000)} ms`
  if (seconds < 60) return `${Number(seconds.toFixed(1))} seconds`
  let rest = Math.round(seconds)
  const parts: string[] = []
  for (const [unit, size] of UNITS) {
    const many = Math.floor(rest / size)
    rest -= many * size
    if (many > 0) parts.push(counted(many, unit))
  }
  return parts.slice(0, 2).join(' ')
}

const grouped = (count: number): string => String(count).replaceAll(/\B(?=(\d{3})+(?!\d))/g, ',')

export const counted = (count: number, what: string): string =>
  `${grouped(count)} ${what}${count === 1 ? '' : 's'}`

/** Micro-USD exactly: never rounded, at least two digits after the point. */
export function dollars(micro: number): string {
  const size = Math.abs(micro)
  const fraction = String(size % 1_000_000)
    .padStart(6, '0')
    .replace(/0{1,4}$/, '')
  return `${micro < 0 ? '-' : ''}$${grouped(Math.floor(size / 1_000_000))}.${fraction}`
}

/** `a`, `a and b`, `a, b and c`. */
export const listed = (items: readonly string[]): string =>
  items.length < 2
    ? items.join('')
    : `${items.slice(0, -1).join(', ')} and ${items[items.length - 1]}`

export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

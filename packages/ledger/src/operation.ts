// The record of what was done to the installation, or with what is protected: who, by what right, to what; never any text.
import { hash } from 'node:crypto'
import type { AuditEntry, OperationDetail } from './audit-entry.ts'
import type { AuditEvent } from './audit-event.ts'
import { checkEntry, IDENTIFIER } from './check-entry.ts'
import { LedgerError } from './ledger-error.ts'
import { DEFAULT_TENANT } from './tenant-names.ts'
import { uuidOfDigest } from './uuid.ts'

/** Of what operators do. */
export const OPERATION_EVENTS = [
  'API_KEY_MADE',
  'API_KEY_REVOKED',
  'TENANT_ADDED',
  'GRANT_MADE',
  'GRANT_REVOKED',
  'SETTINGS_CHANGED',
  'MIGRATIONS_APPLIED',
  'KEY_ROTATED',
  'TEXT_READ',
  'RULESET_ACTIVATED',
  'BACKUP_TAKEN',
  'RESTORED',
  'RESTORE_DRILLED',
] as const satisfies readonly AuditEvent[]

export type OperationEvent = (typeof OPERATION_EVENTS)[number]

export interface Operation {
  readonly event: OperationEvent
  /** A fresh UUID, or one made of the operation, so that it is recorded once. */
  readonly id: string
  /** ISO 8601; its day is part of the task under which it stands. */
  readonly at: string
  readonly actor: string
  /** Which process says so, for example `gateway`. */
  readonly by: string
  /** The default one where it is missing. */
  readonly tenant?: string | undefined
  readonly subject: string
  readonly right: string
  readonly address?: string | undefined
  readonly reason?: string | undefined
  readonly details?: readonly (Pick<OperationDetail, 'code'> & Partial<OperationDetail>)[]
  /** Where it is about one task: it stands in the trace of that. */
  readonly about?: {
    readonly taskId: string
    readonly handoffId?: string | undefined
    readonly traceparent?: string | undefined
  }
}

/**
 * Its entry in the log, which is sealed like any other. What is about no task stands under one for each tenant and day, so that
 * none grows without end. Throws BATON_OPERATION_UNRECORDABLE where a name is none that the log takes: nothing may be done then.
 */
export function operationEntry(operation: Operation): AuditEntry {
  const { event, id, at, actor, by, tenant = DEFAULT_TENANT, about } = operation
  const taskId = about?.taskId ?? taskOfOperations(tenant, at)
  const entry: AuditEntry = {
    event,
    taskId,
    handoffId: about?.handoffId ?? id,
    parentHandoffId: null,
    attempt: 0,
    epoch: 0,
    fromAgent: { agentId: by, agentVersion: '1.0.0', executionId: id },
    toAgent: { agentType: by, agentVersion: null },
    traceparent: about?.traceparent ?? traceOf(taskId, id),
    ...(tenant === DEFAULT_TENANT ? {} : { tenant }),
    verdicts: null,
    reason: operation.reason ?? null,
    cost: null,
    act: { id, actor },
    operation: {
      subject: operation.subject,
      right: operation.right,
      address: operation.address ?? null,
      details: (operation.details ?? []).map(({ code, value = null, sha256 = null }) => ({
        code,
        value,
        sha256,
      })),
    },
    segments: [],
  }
  const checked = checkEntry(entry)
  if (!checked.ok) throw unrecordable(checked.problems[0])
  return entry
}

/** A fact that a name states; by its digest where it is longer than a record takes it, or holds more than printable ASCII without spaces. */
export const fact = (code: string, text: string): OperationDetail =>
  IDENTIFIER.test(text)
    ? { code, value: text, sha256: null }
    : { code, value: null, sha256: hash('sha256', text) }

/** One fact for each of a few names; of many, their number and the digest of all of them, a line each. */
export const facts = (
  code: string,
  texts: readonly string[],
  singlyMax = FACTS_SINGLY_MAX,
): readonly OperationDetail[] =>
  texts.length <= singlyMax
    ? texts.map((text) => fact(code, text))
    : [{ code, value: String(texts.length), sha256: hash('sha256', texts.join('\n')) }]

const FACTS_SINGLY_MAX = 16

/** The task under which a tenant's operations of a day stand. */
export const taskOfOperations = (tenant: string, at: string): string =>
  ownTask(`baton/operations/v1|${tenant}|${dayOf(at)}`)

/** The task under which a day's refusals stand that name none. */
export const taskOfRefusals = (at: string): string => ownTask(`baton/door/v1|${dayOf(at)}`)

/** The task under which stands what processes of a kind began with. */
export const taskOfSettings = (process: string): string => ownTask(settingsOf(process))

/** Where it stood until ids of such tasks became ones that nobody can send under. */
export const earlierTaskOfSettings = (process: string): string => sameUuid(settingsOf(process))

const settingsOf = (process: string): string => `baton/settings/v1|${process}`

/** Of version 8: a message names tasks of version 4, so that nobody can begin one under which Baton's own records stand. */
const ownTask = (text: string): string => uuidOfDigest(hash('sha256', text))

/** A UUID of version 4, the same for the same text. */
export function sameUuid(text: string): string {
  const id = uuidOfDigest(hash('sha256', text))
  return `${id.slice(0, VERSION_AT)}4${id.slice(VERSION_AT + 1)}`
}

const dayOf = (at: string): string => at.slice(0, DAY_CHARACTERS)

const DAY_CHARACTERS = 10
const VERSION_AT = 14
const SPAN_CHARACTERS = 16

function traceOf(taskId: string, id: string): string {
  const [trace = '', span = ''] = [taskId, id].map((one) => one.replaceAll('-', ''))
  return `00-${trace}-${span.slice(0, SPAN_CHARACTERS)}-00`
}

function unrecordable(problem: { readonly pointer: string; readonly fix: string } | undefined) {
  const message = `what was to be done cannot be recorded, so it was not done: ${problem?.pointer} ${problem?.fix}`
  return new LedgerError('BATON_OPERATION_UNRECORDABLE', message)
}

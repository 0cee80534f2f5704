// What is told of a record of the log, or of a change of an alert: a CloudEvent 1.0.2 with ids, states, codes, agent types and cost, and
// never a text of a message, the name of a person or why they did what they did. The same record is the same event, bytes and all.
import { DEFAULT_TENANT } from '@baton/ledger'
import type { AuditEvent, RecordBody } from '@baton/ledger'
import type { NewEvent, ToldChange } from '@baton/store'

interface Kind {
  readonly type: string
  /** How the handoff stands after it; null where its state stays as it was. */
  readonly state: string | null
}

const handoff = (name: string, state: string | null): Kind => ({
  type: `baton.handoff.${name}`,
  state,
})

/** Records that are told; what is done to the installation is its operator's to read, in the log. */
const KINDS: Partial<Readonly<Record<AuditEvent, Kind>>> = {
  HANDOFF_ACCEPTED: handoff('accepted', 'ACCEPTED'),
  HANDOFF_REJECTED: handoff('rejected', 'REJECTED'),
  HANDOFF_RETURNED: handoff('returned', 'REJECTED'),
  EXECUTION_STARTED: handoff('executing', 'EXECUTING'),
  EXECUTION_COMPLETED: handoff('completed', 'COMPLETED'),
  EXECUTION_FAILED: handoff('failed', null),
  ROLLED_BACK: handoff('rolled-back', 'ROLLED_BACK'),
  DEAD_LETTERED: handoff('dead-lettered', 'DEAD_LETTERED'),
  HANDOFF_EXPIRED: handoff('expired', 'EXPIRED'),
  HANDOFF_BLOCKED: handoff('blocked', 'BLOCKED'),
  HANDOFF_CANCELED: handoff('canceled', 'CANCELED'),
  CANCEL_REQUESTED: handoff('cancel-requested', null),
  HANDOFF_APPROVED: handoff('approved', null),
  APPROVAL_REFUSED: handoff('approval-refused', null),
  RELEASE_APPROVED: handoff('release-approved', null),
  HANDOFF_RELEASED: handoff('released', null),
  DEAD_LETTER_DISCARDED: handoff('discarded', null),
  SENDER_ASKED: handoff('sender-asked', null),
  HANDOFF_REDACTED: handoff('redacted', null),
  HANDOFF_REVISED: handoff('revised', null),
  HANDOFF_REROUTED: handoff('rerouted', null),
  FAN_OUT_FAILED: handoff('fan-out-failed', null),
  SEND_REFUSED: handoff('send-refused', null),
  TASK_RESUMED: { type: 'baton.task.resumed', state: null },
  HUMAN_ESCALATED: { type: 'baton.escalation.raised', state: null },
}

const ALERT_CHANGES = ['opened', 'escalated', 'repeated', 'acknowledged', 'closed'] as const

/** What a subscription is sent to show that it is told. */
export const TEST_TYPE = 'baton.subscription.test'

/** Every type that there is. */
export const EVENT_TYPES: readonly string[] = [
  ...Object.values(KINDS).map(({ type }) => type),
  ...ALERT_CHANGES.map((change) => `baton.alert.${change}`),
  TEST_TYPE,
].toSorted()

/** The schema of the data of a type, by its `$id`. */
export const schemaOf = (type: string): string => {
  if (type.startsWith('baton.alert.')) return 'urn:baton:schema:event-alert:1'
  return type === TEST_TYPE ? 'urn:baton:schema:event-test:1' : 'urn:baton:schema:event-handoff:1'
}

/** What the operational database knows of a handoff beside its record. */
export interface HandoffFacts {
  readonly tracestate: string | null
  readonly expiresAt: Date | null
}

/** The event that a record is; undefined where it is none. */
export function eventOfRecord(record: RecordBody, facts?: HandoffFacts): NewEvent | undefined {
  const kind = KINDS[record.event]
  if (kind === undefined) return undefined
  const { recordId, recordedAt, taskId, handoffId, parentHandoffId, attempt, reason, cost } = record
  const { fromAgent, toAgent, origin, seq, taskSeq, traceparent, tenant = DEFAULT_TENANT } = record
  return eventOf(tenant, {
    id: recordId,
    source: sourceOf(tenant),
    type: kind.type,
    time: recordedAt,
    subject: taskId,
    handoffid: handoffId,
    fromagent: fromAgent.agentId,
    toagent: toAgent.agentType,
    ...optional('reason', reason),
    partitionkey: taskId,
    sequence: String(taskSeq).padStart(10, '0'),
    traceparent,
    ...optional('tracestate', facts?.tracestate),
    ...optional('expirytime', facts?.expiresAt?.toISOString()),
    data: {
      taskId,
      handoffId,
      parentHandoffId,
      state: kind.state,
      reason,
      attempt,
      fromAgent: { agentId: fromAgent.agentId, agentVersion: fromAgent.agentVersion },
      toAgent: { agentType: toAgent.agentType, agentVersion: toAgent.agentVersion },
      cost,
      record: { recordId, event: record.event, origin, seq, taskSeq },
    },
  })
}

/** Alerts are of the installation: they are told to whose it is. */
export function eventOfAlert(change: ToldChange): NewEvent {
  const { id, alertId, kind, severity, reason, subject, occurrences, escalations, handoffIds } =
    change
  return eventOf(DEFAULT_TENANT, {
    id,
    source: sourceOf(DEFAULT_TENANT),
    type: `baton.alert.${change.change}`,
    time: change.at.toISOString(),
    subject: alertId,
    reason,
    severity,
    data: {
      alertId,
      change: change.change,
      kind,
      severity,
      reason,
      subject,
      occurrences,
      escalations,
      handoffIds,
    },
  })
}

interface Asked {
  readonly id: string
  readonly tenant: string
  readonly subscriptionId: string
  readonly at: Date
}

export function testEvent({ id, tenant, subscriptionId, at }: Asked): NewEvent {
  const event = eventOf(tenant, {
    id,
    source: sourceOf(tenant),
    type: TEST_TYPE,
    time: at.toISOString(),
    subject: subscriptionId,
    data: { subscriptionId },
  })
  return { ...event, subscriptionId }
}

interface Attributes {
  readonly id: string
  readonly type: string
  readonly data: object
  readonly [attribute: string]: unknown
}

const sourceOf = (tenant: string): string => `/tenants/${tenant}`

const optional = (name: string, value: string | null | undefined) =>
  value === null || value === undefined ? {} : { [name]: value }

function eventOf(tenant: string, { data, ...attributes }: Attributes): NewEvent {
  const event = {
    specversion: '1.0',
    ...attributes,
    datacontenttype: 'application/json',
    dataschema: schemaOf(attributes.type),
    data,
  }
  return { id: attributes.id, tenant, body: JSON.stringify(event), subscriptionId: null }
}

// Who writes each value that a column or a record may have: the file, and the words in it that do.

/** A place in a file: its path, and what stands there. */
export type Place = readonly [path: string, words: string]

const STORE = 'packages/store/src'
const DECIDE = 'packages/engine/src/decide'
const ERASER = 'packages/audit/src/erasure'

const ENDED_IN_BRANCH: Place = [
  `${STORE}/settlements.ts`,
  'END_BRANCHES(`select branch_id, id as handoff_id, state as outcome',
]

const DECIDED_BY_SCANNER: Place = [
  'packages/safety/src/decision.ts',
  "rejects ? 'reject' : score >= THRESHOLDS.flag ? 'flag' : 'allow'",
]
const SCANNER_DECISIONS = {
  allow: DECIDED_BY_SCANNER,
  flag: DECIDED_BY_SCANNER,
  reject: DECIDED_BY_SCANNER,
}

export const COLUMN_VALUES: Readonly<Record<string, Readonly<Record<string, Place>>>> = {
  'shadow_difference.active_decision': SCANNER_DECISIONS,
  'shadow_difference.candidate_decision': SCANNER_DECISIONS,
  'event_subscription.mode': {
    structured: ['services/gateway/src/events/subscription-routes.ts', "mode = 'structured'"],
    binary: [
      'services/gateway/src/events/subscription-schema.ts',
      "enum: ['structured', 'binary']",
    ],
  },
  'event_subscription.state': {
    active: [`${STORE}/event-subscriptions.ts`, "update event_subscription set state = 'active'"],
    paused: [`${STORE}/event-subscriptions.ts`, "update event_subscription set state = 'paused'"],
    disabled: [`${STORE}/event-deliveries.ts`, "then 'disabled' else state end"],
  },
  'event_delivery.state': {
    waiting: [`${STORE}/event-subscriptions.ts`, "update event_delivery set state = 'waiting'"],
    delivered: [`${STORE}/event-deliveries.ts`, "update event_delivery d set state = 'delivered'"],
    dead: [`${STORE}/event-deliveries.ts`, "then 'dead' else 'waiting' end"],
  },
  'task.status': {
    PENDING_HANDOFF: [`${STORE}/send.ts`, "'PENDING_HANDOFF', (array_agg(checkpoint_id"],
    RUNNING: [`${STORE}/executions.ts`, "update task set status = 'RUNNING'"],
    AWAITING_HUMAN: [`${DECIDE}/outcome.ts`, "taskStatus: 'AWAITING_HUMAN'"],
    COMPLETED: [`${STORE}/settlements.ts`, "else 'COMPLETED' end from totals"],
    FAILED: [`${STORE}/reviews.ts`, "update task t set status = 'FAILED'"],
    CANCELED: [`${STORE}/cancellations.ts`, "update task t set status = 'CANCELED'"],
  },
  'handoff.state': {
    QUEUED: [`${STORE}/send.ts`, "requiresApproval ? 'AWAITING_APPROVAL' : 'QUEUED'"],
    AWAITING_APPROVAL: [`${STORE}/send.ts`, "requiresApproval ? 'AWAITING_APPROVAL' : 'QUEUED'"],
    DISPATCHED: [`${STORE}/outbox.ts`, "update handoff set state = 'DISPATCHED'"],
    EXECUTING: [`${STORE}/executions.ts`, "update handoff set state = 'EXECUTING'"],
    COMPLETED: [`${DECIDE}/outcome.ts`, "state: isPartial ? 'PARTIAL' : 'COMPLETED'"],
    PARTIAL: [`${DECIDE}/outcome.ts`, "state: isPartial ? 'PARTIAL' : 'COMPLETED'"],
    REJECTED: [`${DECIDE}/outcome.ts`, "route.deadLetter ? 'DEAD_LETTERED' : 'REJECTED'"],
    BLOCKED: [`${DECIDE}/outcome.ts`, "state: 'BLOCKED'"],
    EXPIRED: [`${STORE}/ended-outside.ts`, "update handoff h set state = 'EXPIRED'"],
    CANCELED: [`${STORE}/cancellations.ts`, "update handoff h set state = 'CANCELED'"],
    DEAD_LETTERED: [`${DECIDE}/outcome.ts`, "route.deadLetter ? 'DEAD_LETTERED' : 'REJECTED'"],
    ROLLED_BACK: [`${DECIDE}/outcome.ts`, "state: 'ROLLED_BACK'"],
  },
  'execution.status': {
    CLAIMED: [`${STORE}/executions.ts`, "fencing_token + 1, status = 'CLAIMED'"],
    EXECUTING: [`${STORE}/executions.ts`, "update execution e set status = 'EXECUTING'"],
    DONE: [`${STORE}/settlements.ts`, "update execution e set status = 'DONE'"],
    ABANDONED: [`${STORE}/executions.ts`, "update execution e set status = 'ABANDONED'"],
  },
  'review_vote.action': {
    RELEASE: [`${DECIDE}/review.ts`, "proposalOf('RELEASE'"],
    REDACT: [`${DECIDE}/review.ts`, "proposalOf('REDACT'"],
  },
  'redrive.state': {
    CANARY: [`${STORE}/redrives.ts`, "values ($1, 'CANARY'"],
    RUNNING: [`${DECIDE}/redrive.ts`, "step('RUNNING', { drive: rest })"],
    DONE: ['packages/engine/src/redrive.ts', "isDone ? 'DONE'"],
    STOPPED: [`${DECIDE}/redrive.ts`, "step('STOPPED'"],
    CANCELED: [`${STORE}/redrives.ts`, "update redrive set state = 'CANCELED'"],
  },
  'redrive_dead_letter.state': {
    WAITING: ['packages/store/migrations/0003_review.sql', "default 'WAITING'"],
    DRIVEN: [`${STORE}/redrives.ts`, "then 'DRIVEN' else 'SKIPPED' end"],
    SKIPPED: [`${STORE}/redrives.ts`, "then 'DRIVEN' else 'SKIPPED' end"],
  },
  'approval.decision': {
    approve: ['services/gateway/src/control-routes.ts', "enum: ['approve', 'reject']"],
    reject: ['services/gateway/src/control-routes.ts', "enum: ['approve', 'reject']"],
  },
  'sender_notification.kind': {
    return: [`${STORE}/settlements.ts`, "NOTIFY_SENDER('return')"],
    rollback: [`${STORE}/settlements.ts`, "NOTIFY_SENDER('rollback')"],
  },
  'alert.severity': {
    page: [`${STORE}/alerts.ts`, "then 'page' else 'ticket' end"],
    ticket: [`${STORE}/alerts.ts`, "then 'page' else 'ticket' end"],
  },
  'alert_change.change': {
    opened: [`${STORE}/alerts.ts`, "then 'opened'"],
    escalated: [`${STORE}/alerts.ts`, "then 'escalated'"],
    repeated: [`${STORE}/alerts.ts`, "then 'repeated' end as change"],
    acknowledged: [`${STORE}/handled-alerts.ts`, "select id, 'acknowledged', occurrences"],
    closed: [`${STORE}/handled-alerts.ts`, "select id, 'closed', occurrences"],
    test: [`${STORE}/alert-deliveries.ts`, "values({ change: 'test'"],
  },
  'fan_out.on_failure': {
    wait: [`${DECIDE}/next-handoffs.ts`, "onFailure: join?.onFailure ?? 'wait'"],
    skip: ['packages/protocol/src/settlement-schema.ts', "enum: ['wait', 'skip', 'fail']"],
    fail: ['packages/protocol/src/settlement-schema.ts', "enum: ['wait', 'skip', 'fail']"],
  },
  'fan_out.state': {
    OPEN: ['packages/store/migrations/0021_fan_outs.sql', "default 'OPEN'"],
    READY: [`${STORE}/fan-outs.ts`, "then 'READY' else f.state end"],
    JOINED: ['packages/engine/src/fan-in.ts', "state: 'JOINED'"],
    ENDED: ['packages/engine/src/fan-in.ts', "state: 'ENDED'"],
    FAILED: ['packages/engine/src/fan-in.ts', "state: 'FAILED'"],
    CANCELED: ['packages/engine/src/fan-in.ts', "state: 'CANCELED'"],
  },
  'branch.outcome': {
    COMPLETED: [`${STORE}/settlements.ts`, "then 'CANCELED' else 'COMPLETED' end as outcome"],
    REJECTED: ENDED_IN_BRANCH,
    BLOCKED: ENDED_IN_BRANCH,
    EXPIRED: [`${STORE}/ended-outside.ts`, 'id as handoff_id, state as outcome'],
    CANCELED: [`${STORE}/fan-outs.ts`, "update branch set outcome = 'CANCELED'"],
    DEAD_LETTERED: ENDED_IN_BRANCH,
    ROLLED_BACK: ENDED_IN_BRANCH,
    FAILED: [
      `${STORE}/fan-outs.ts`,
      "case $2 when 'ENDED' then 'COMPLETED' else $2 end as outcome",
    ],
  },
  'audit.erasure.state': {
    PLANNED: [`${ERASER}/eraser.ts`, "heldTaskIds.length === 0 ? 'PLANNED' : 'DEFERRED'"],
    DEFERRED: [`${ERASER}/eraser.ts`, "heldTaskIds.length === 0 ? 'PLANNED' : 'DEFERRED'"],
    CONFIRMED: [`${ERASER}/erasures.ts`, "state: 'CONFIRMED'"],
    ERASED: [`${ERASER}/erasures.ts`, "state: 'ERASED'"],
    COMPLETED: [`${ERASER}/erasures.ts`, "state: 'COMPLETED'"],
  },
}

const ENTRIES = `${DECIDE}/audit-entries.ts`
const REVIEW = 'packages/engine/src/review-dead-letter.ts'
const ADMINISTER = 'packages/engine/src/administer.ts'
const REDRIVE = 'packages/engine/src/redrive.ts'

/** Events of the log, by the file that has them recorded. */
export const EVENT_WRITERS: Readonly<Record<string, string>> = {
  HANDOFF_ACCEPTED: ENTRIES,
  HANDOFF_REJECTED: ENTRIES,
  HANDOFF_BLOCKED: ENTRIES,
  EXECUTION_STARTED: ENTRIES,
  EXECUTION_COMPLETED: ENTRIES,
  EXECUTION_FAILED: `${DECIDE}/outcome.ts`,
  ROLLED_BACK: `${DECIDE}/outcome.ts`,
  DEAD_LETTERED: `${DECIDE}/outcome.ts`,
  HUMAN_ESCALATED: `${DECIDE}/outcome.ts`,
  FAN_OUT_FAILED: ENTRIES,
  HANDOFF_RETURNED: `${DECIDE}/outcome.ts`,
  HANDOFF_EXPIRED: 'packages/engine/src/sweep.ts',
  HANDOFF_CANCELED: 'packages/engine/src/cancel.ts',
  CANCEL_REQUESTED: 'packages/engine/src/cancel.ts',
  HANDOFF_APPROVED: 'packages/engine/src/approve.ts',
  APPROVAL_REFUSED: 'packages/engine/src/approve.ts',
  RELEASE_APPROVED: REVIEW,
  HANDOFF_RELEASED: REVIEW,
  DEAD_LETTER_DISCARDED: REVIEW,
  SENDER_ASKED: REVIEW,
  HANDOFF_REDACTED: REVIEW,
  HANDOFF_REVISED: 'packages/engine/src/revise-handoff.ts',
  TASK_RESUMED: 'packages/engine/src/resume-task.ts',
  HANDOFF_REROUTED: 'packages/engine/src/reroute.ts',
  REDRIVE_STARTED: REDRIVE,
  REDRIVE_STOPPED: REDRIVE,
  ERASURE_REQUESTED: `${ERASER}/eraser.ts`,
  ERASURE_COMPLETED: `${ERASER}/eraser.ts`,
  ERASURE_DEFERRED: `${ERASER}/eraser.ts`,
  EVIDENCE_EXPORTED: 'services/auditor/src/evidence.ts',
  VERIFY_RUN: 'services/auditor/src/drill.ts',
  PARTITION_DROPPED: 'packages/audit/src/cold/retention-records.ts',
  LEGAL_HOLD_SET: 'services/auditor/src/hold-part.ts',
  LEGAL_HOLD_LIFTED: 'services/auditor/src/hold-part.ts',
  SEND_REFUSED: 'packages/engine/src/record-refusals.ts',
  API_KEY_MADE: ADMINISTER,
  API_KEY_REVOKED: ADMINISTER,
  TENANT_ADDED: ADMINISTER,
  GRANT_MADE: ADMINISTER,
  GRANT_REVOKED: ADMINISTER,
  SETTINGS_CHANGED: 'packages/engine/src/record-settings.ts',
  MIGRATIONS_APPLIED: ADMINISTER,
  KEY_ROTATED: 'packages/ledger/src/operation.ts',
  TEXT_READ: 'packages/engine/src/record-readings.ts',
  RULESET_ACTIVATED: 'packages/engine/src/record-ruleset.ts',
  BACKUP_TAKEN: 'packages/engine/src/administer.ts',
  RESTORED: 'packages/engine/src/administer.ts',
  RESTORE_DRILLED: 'packages/engine/src/administer.ts',
}

/** Values within records. */
export const RECORD_VALUES: Readonly<Record<string, Readonly<Record<string, Place>>>> = {
  Check: {
    passed: ['packages/protocol/src/judge-content.ts', "? 'passed' : 'failed'"],
    failed: ['packages/protocol/src/judge-content.ts', "? 'passed' : 'failed'"],
    skipped: ['packages/protocol/src/verdict.ts', "safety: 'skipped'"],
  },
  'Safety.decision': {
    ...SCANNER_DECISIONS,
    skipped: [ENTRIES, "scan?.decision ?? 'skipped'"],
  },
  'Segment.kind': {
    message: [ENTRIES, "kind: 'message'"],
    personal: [ENTRIES, "kind: 'personal'"],
    result: [ENTRIES, "? 'task-result' : 'result'"],
    'task-result': [ENTRIES, "? 'task-result' : 'result'"],
  },
}

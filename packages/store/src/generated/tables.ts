// Generated from the migrations by infra/generate-tables.ts; do not edit.
import type { Generated } from '@baton/postgres/statements'

export interface Tables {
  'task': {
    id: string
    status: 'PENDING_HANDOFF' | 'RUNNING' | 'AWAITING_HUMAN' | 'COMPLETED' | 'FAILED' | 'CANCELED'
    checkpoint_id: string | null
    next_seq: Generated<number>
    failed_handoffs: Generated<number>
    budget_micro_usd: number
    spent_micro_usd: Generated<number>
    result: string | null
    created_at: Generated<Date>
    updated_at: Generated<Date>
    cancel_requested: Generated<boolean>
    fan_outs_open: Generated<number>
    tenant: Generated<string>
  }
  'checkpoint': {
    id: string
    task_id: string
    body: Buffer
    sha256: Buffer
    created_at: Generated<Date>
    erased_at: Date | null
  }
  'handoff': {
    id: string
    task_id: string
    task_seq: number
    parent_id: string | null
    from_agent: string
    from_version: string
    from_execution: string
    to_agent: string
    to_version: string | null
    priority: number
    state: 'QUEUED' | 'AWAITING_APPROVAL' | 'DISPATCHED' | 'EXECUTING' | 'COMPLETED' | 'PARTIAL' | 'REJECTED' | 'BLOCKED' | 'EXPIRED' | 'CANCELED' | 'DEAD_LETTERED' | 'ROLLED_BACK'
    reason: string | null
    publish_attempt: Generated<number>
    attempt: Generated<number>
    attempts_max: number
    checkpoint_id: string
    body_sha256: Buffer
    request_sha256: Buffer
    body_bytes: number
    key_id: string
    signature: string
    traceparent: string
    tracestate: string | null
    expires_at: Date | null
    spent_micro_usd: number
    remaining_micro_usd: number
    cancel_requested: Generated<boolean>
    last_error: unknown
    created_at: Generated<Date>
    queued_at: Generated<Date>
    dispatched_at: Date | null
    accepted_at: Date | null
    ended_at: Date | null
    revision: Generated<number>
    revision_sha256: Buffer | null
    resumes_id: string | null
    sent_by: string | null
    approval_override_id: string | null
    routed_to: string | null
    blocked_at_types: Generated<readonly string[]>
    cancel_grace_until: Date | null
    erased_at: Date | null
    branch_id: string | null
    joins_id: string | null
    tenant: Generated<string>
    earlier_senders: Generated<readonly string[]>
  }
  'handoff_body': {
    handoff_id: string
    body: Buffer
  }
  'outbox': {
    seq: Generated<number>
    handoff_id: string
    task_id: string
    publish_attempt: number
    queue: string
    priority: number
    sha256: Buffer
    bytes: number
    traceparent: string
    tracestate: string | null
    created_at: Generated<Date>
    tenant: Generated<string>
  }
  'retry': {
    handoff_id: string
    due: Date
  }
  'execution': {
    handoff_id: string
    fencing_token: number
    status: 'CLAIMED' | 'EXECUTING' | 'DONE' | 'ABANDONED'
    owner: string
    lease_until: Date
    lease_expiries: Generated<number>
    audit_origin: string | null
    audit_seq: number | null
    audit_hash: Buffer | null
    result: string | null
    cost_micro_usd: Generated<number>
    publish_attempt: Generated<number>
    chunks: Generated<number>
    chunk_bytes: Generated<number>
    named: string | null
  }
  'handoff_return': {
    handoff_id: string
    attempt: number
    reason: string
    details: unknown
    retry_at: Date | null
    created_at: Generated<Date>
  }
  'dead_letter': {
    handoff_id: string
    task_id: string
    reason: string
    details: unknown
    created_at: Generated<Date>
    resolved_at: Date | null
    resolution: string | null
    quarantine_attempt: Generated<number>
    fencing_token: number | null
    attempt: number | null
    message_sha256: Buffer | null
    ruleset_version: string | null
    cluster: string | null
    asked_at: Date | null
    tenant: Generated<string>
  }
  'escalation': {
    handoff_id: string
    task_id: string
    attempts: number
    reason: string
    created_at: Generated<Date>
    resolved_at: Date | null
    acknowledged_at: Date | null
    acknowledged_by: string | null
    resolved_by: string | null
    resolved_why: string | null
    tenant: Generated<string>
  }
  'audit_outbox': {
    id: string
    handoff_id: string
    entry: string
    created_at: Generated<Date>
  }
  'idempotency_key': {
    api_key_id: string
    key: string
    request_sha256: Buffer
    handoff_id: string
    created_at: Generated<Date>
  }
  'handoff_revision': {
    handoff_id: string
    revision: number
    body: Buffer
    body_sha256: Buffer
    asked_sha256: Buffer
    key_id: string
    signature: string
    checkpoint_id: string
    replaced_at: Generated<Date>
  }
  'review_vote': {
    id: string
    handoff_id: string
    quarantine_attempt: number
    action: 'RELEASE' | 'REDACT'
    proposal_sha256: Buffer
    proposal: unknown
    reviewer: string
    created_at: Generated<Date>
    signed: unknown
  }
  'redrive': {
    id: string
    state: 'CANARY' | 'RUNNING' | 'DONE' | 'STOPPED' | 'CANCELED'
    cluster: string | null
    created_by: string
    rate_per_second: number
    next_at: Generated<Date>
    canary_until: Date
    stopped_by: string | null
    why: unknown
    created_at: Generated<Date>
    ended_at: Date | null
    tenant: Generated<string>
  }
  'approval': {
    handoff_id: string
    task_id: string
    requested_at: Generated<Date>
    closed_at: Date | null
    decision: 'approve' | 'reject' | null
    decided_by: string | null
    reason_code: string | null
    decided_as: string | null
    signed: unknown
    tenant: Generated<string>
  }
  'agent_registration': {
    type: string
    worker: string
    version: string
    requires: readonly string[]
    capabilities: readonly string[]
    mcp: readonly string[]
    context_window: number | null
    seen_at: Generated<Date>
    jurisdiction: string | null
  }
  'receipt_check': {
    id: Generated<boolean>
    after_handoff: string
    checked_at: Date
  }
  'subject_pepper': {
    id: Generated<boolean>
    pepper: Buffer
  }
  'handoff_subject': {
    subject_lookup: Buffer
    handoff_id: string
  }
  'approval_override': {
    id: string
    handoff_id: string
    body_sha256: Buffer
    ruleset_version: string
    reason: string
    reviewers: readonly string[]
    expires_at: Date
    key_id: string | null
    signature: string | null
    created_at: Generated<Date>
    quarantine_attempt: number | null
    valid_hours: number | null
    votes: unknown
  }
  'redrive_dead_letter': {
    redrive_id: string
    position: number
    handoff_id: string
    quarantine_attempt: number
    canary: boolean
    state: Generated<'WAITING' | 'DRIVEN' | 'SKIPPED'>
    act_id: string
  }
  'sender_notification': {
    id: string
    kind: 'return' | 'rollback'
    handoff_id: string
    task_id: string
    from_agent: string
    attempt: number
    revision: number
    reason: string
    details: unknown
    created_at: Generated<Date>
    lease_until: Date | null
    taker: string | null
    takes: Generated<number>
    acknowledged_at: Date | null
    tenant: Generated<string>
  }
  'queue_watermark': {
    queue: string
    relay: string
    watermark: number
    written_at: Generated<Date>
  }
  'external_ref': {
    protocol: string
    id: string
    handoff_id: string
    sender: string
    recipient: string
    depth: Generated<number>
    request_sha256: Buffer | null
    created_at: Generated<Date>
    tenant: Generated<string>
  }
  'remote_execution': {
    handoff_id: string
    fencing_token: number
    taken_by: string
    agent_type: string
    agent_version: string
    lease_ms: number
    traceparent: string
    taken_at: Generated<Date>
  }
  'offer': {
    task_id: Buffer
    status: string
    body: Buffer
    updated_at: Generated<Date>
    handoff_id: string | null
  }
  'session_reply': {
    handoff_id: string
    message_id: string
    peer: string
    context_id: string
    task_id: string
    reply_schema: string
    created_at: Generated<Date>
    due_at: Date | null
    attempts: Generated<number>
    lease_until: Date | null
    dead_at: Date | null
    last_error: string | null
    told_at: Date | null
  }
  'alert_occurrence': {
    id: Generated<number>
    kind: string
    handoff_id: string
    task_id: string
    reason: string
    created_at: Generated<Date>
    escalated: Generated<boolean>
  }
  'alert': {
    id: Generated<string>
    key: string
    kind: string
    severity: 'page' | 'ticket'
    reason: string
    subject: unknown
    occurrences: number
    escalations: number
    handoff_ids: readonly string[]
    first_at: Date
    last_at: Date
    created_at: Generated<Date>
    acknowledged_at: Date | null
    acknowledged_by: string | null
    closed_at: Date | null
    closed_by: string | null
    closed_why: string | null
    sender: string | null
  }
  'alert_change': {
    id: Generated<string>
    alert_id: string | null
    change: 'opened' | 'escalated' | 'repeated' | 'acknowledged' | 'closed' | 'test'
    occurrences: number
    actor: string | null
    why: string | null
    at: Generated<Date>
    planned_at: Date | null
    told_at: Date | null
  }
  'alert_webhook': {
    name: string
    since: Generated<Date>
    seen_at: Generated<Date>
  }
  'alert_delivery': {
    change_id: string
    webhook: string
    alert_id: string | null
    changed_at: Date
    attempts: Generated<number>
    due_at: Generated<Date>
    lease_until: Date | null
    delivered_at: Date | null
    dead_at: Date | null
    last_error: string | null
    created_at: Generated<Date>
  }
  'metric_minute': {
    minute: Date
    process: string
    metric: string
    labels: string
    counts: readonly number[]
  }
  'metric_hour': {
    hour: Date
    metric: string
    labels: string
    counts: readonly number[]
  }
  'metric_day': {
    day: Date
    metric: string
    labels: string
    counts: readonly number[]
  }
  'fan_out': {
    id: string
    task_id: string
    handoff_id: string
    branch_id: string | null
    branches: number
    join_after: number | null
    on_failure: 'wait' | 'skip' | 'fail'
    join_request: string | null
    budget_micro_usd: number
    spent_micro_usd: number
    reserved_micro_usd: number
    completed: Generated<number>
    failed: Generated<number>
    state: Generated<'OPEN' | 'READY' | 'JOINED' | 'ENDED' | 'FAILED' | 'CANCELED'>
    created_at: Generated<Date>
    ready_at: Date | null
    ended_at: Date | null
    mac: string | null
  }
  'branch': {
    id: string
    fan_out_id: string
    task_id: string
    position: number
    name: string
    budget_micro_usd: number
    outcome: 'COMPLETED' | 'REJECTED' | 'BLOCKED' | 'EXPIRED' | 'CANCELED' | 'DEAD_LETTERED' | 'ROLLED_BACK' | 'FAILED' | null
    reason: string | null
    last_handoff_id: string | null
    result: string | null
    spent_micro_usd: number | null
    ended_at: Date | null
    mac: string | null
  }
  'stream_chunk': {
    handoff_id: string
    seq: number
    fencing_token: number
    body: Buffer
    sha256: Generated<Buffer>
    created_at: Generated<Date>
  }
  'tenant': {
    name: string
    created_at: Generated<Date>
  }
  'tenant_grant': {
    tenant: string
    agent_type: string
    granted_by: string
    granted_at: Generated<Date>
  }
  'api_key': {
    id: string
    sha256: Buffer
    operator: string
    tenant: string
    scopes: readonly string[]
    agents: readonly string[] | null
    made_by: string
    created_at: Generated<Date>
    expires_at: Date | null
    revoked_at: Date | null
  }
  'recorded_settings': {
    process: string
    sha256: Buffer
    recorded_at: Generated<Date>
    signing_key: string | null
  }
  'recorded_migration': {
    name: string
    recorded_at: Generated<Date>
  }
  'told_operation': {
    id: string
    event: string
    handoff_id: string
    act_id: string
    told_at: Generated<Date>
    epoch: Generated<number>
  }
  'recorded_ruleset': {
    process: string
    ruleset: string
    artefact_version: Generated<number>
    artefact_sha256: string | null
    recorded_at: Generated<Date>
  }
  'shadow_difference': {
    handoff_id: string
    candidate_ruleset: string
    task_id: string
    tenant: string
    candidate_version: number
    active_ruleset: string
    active_decision: 'allow' | 'flag' | 'reject'
    candidate_decision: 'allow' | 'flag' | 'reject'
    active_rules: string
    candidate_rules: string
    compared_at: Generated<Date>
  }
  'a2a_task': {
    task_id: string
    tenant: Generated<string>
    context_id: string
    created_at: Generated<Date>
  }
  'a2a_message': {
    handoff_id: string
    task_id: string
    message_id: string
  }
  'event_feed': {
    tenant: string
    since: Generated<Date>
    wanted_at: Generated<Date>
  }
  'event_head': {
    id: Generated<boolean>
    position: Generated<number>
    follower: string | null
    lease_until: Generated<Date>
  }
  'event_position': {
    chain: number
    size: number
    last_hash: string
  }
  'event': {
    position: number
    id: string
    tenant: string
    body: string
    subscription_id: string | null
    created_at: Generated<Date>
  }
  'event_subscription': {
    id: string
    tenant: string
    name: string
    url: string
    mode: 'structured' | 'binary'
    filters: string
    secret: Buffer
    earlier_secret: Buffer | null
    earlier_until: Date | null
    state: Generated<'active' | 'paused' | 'disabled'>
    reason: string | null
    position: number
    due_at: Generated<Date>
    failures: Generated<number>
    lease: string | null
    lease_until: Date | null
    delivered: Generated<number>
    delivered_at: Date | null
    failed_at: Date | null
    last_error: string | null
    made_by: string
    request_sha256: Buffer | null
    created_at: Generated<Date>
    changed_at: Generated<Date>
  }
  'event_delivery': {
    subscription_id: string
    position: number
    event_id: string
    tenant: string
    state: Generated<'waiting' | 'delivered' | 'dead'>
    attempts: Generated<number>
    first_at: Generated<Date>
    due_at: Generated<Date>
    ended_at: Date | null
    last_error: string | null
  }
  'a2a_push': {
    task_id: string
    id: string
    tenant: Generated<string>
    url: string
    secret: Buffer
    created_at: Generated<Date>
    told: string | null
    told_at: Date | null
    attempts: Generated<number>
    failed_at: Date | null
    due_at: Generated<Date>
    lease_until: Date | null
    ended_at: Date | null
    last_error: string | null
  }
}

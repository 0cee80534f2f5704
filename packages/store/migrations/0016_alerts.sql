-- Alerts as people handle them: one row for each cause, counted up, acknowledged and closed; and their way out as webhooks.
-- Locks: new tables; access exclusive on escalation for an instant, since columns without defaults rewrite nothing. The indexes
-- on it are built under a share lock, while it can be read but not changed. Roll-forward; never edited once landed.

create table alert (
  id uuid primary key default gen_random_uuid(),
  -- What makes two occurrences the same alert.
  key text not null,
  kind text not null,
  severity text not null check (severity in ('page', 'ticket')),
  -- A code: of what was refused, why (E15).
  reason text not null,
  -- What it is about, by names: agent types, a transport. Never text.
  subject jsonb not null,
  occurrences bigint not null,
  -- How many of them left a task waiting for a person.
  escalations bigint not null,
  -- The newest of its handoffs, at most 20.
  handoff_ids uuid[] not null,
  first_at timestamptz not null,
  last_at timestamptz not null,
  created_at timestamptz not null default clock_timestamp(),
  acknowledged_at timestamptz,
  acknowledged_by text,
  closed_at timestamptz,
  -- Null where it closed by itself.
  closed_by text,
  closed_why text
) with (fillfactor = 70);
create unique index alert_open on alert (key) where closed_at is null;
create index alert_recent on alert (created_at, id);
create index alert_closed on alert (closed_at) where closed_at is not null;

-- What became of an alert, and when: its history, and what is told.
create table alert_change (
  -- The same for every try to tell it.
  id uuid primary key default gen_random_uuid(),
  -- Null where only the way out is tested.
  alert_id uuid,
  change text not null check (change in ('opened', 'escalated', 'repeated', 'acknowledged', 'closed', 'test')),
  occurrences bigint not null,
  -- Who did it; null where nobody did.
  actor text,
  why text,
  at timestamptz not null default clock_timestamp(),
  -- From then on alert_delivery says to whom it is told.
  planned_at timestamptz
);
create index alert_change_of on alert_change (alert_id, at);
create index alert_change_unplanned on alert_change (at) where planned_at is null;
create index alert_change_tests on alert_change (at) where alert_id is null;

-- The webhooks that the processes which deliver were told of. Nobody is told what happened before it was named here.
create table alert_webhook (
  name text primary key,
  since timestamptz not null default clock_timestamp(),
  seen_at timestamptz not null default clock_timestamp()
);

create table alert_delivery (
  change_id uuid not null,
  webhook text not null,
  alert_id uuid,
  changed_at timestamptz not null,
  attempts integer not null default 0,
  due_at timestamptz not null default clock_timestamp(),
  -- Whoever sends it now has it until then.
  lease_until timestamptz,
  delivered_at timestamptz,
  -- The end of trying.
  dead_at timestamptz,
  -- A code, never text of whoever answered.
  last_error text,
  created_at timestamptz not null default clock_timestamp(),
  primary key (change_id, webhook)
) with (fillfactor = 70);
create index alert_delivery_due on alert_delivery (due_at) where delivered_at is null and dead_at is null;
create index alert_delivery_order on alert_delivery (webhook, alert_id, changed_at)
  where delivered_at is null and dead_at is null;
create index alert_delivery_age on alert_delivery (created_at);

alter table escalation add column acknowledged_at timestamptz;
alter table escalation add column acknowledged_by text;
-- Null where its task went on by itself.
alter table escalation add column resolved_by text;
alter table escalation add column resolved_why text;
create index escalation_recent on escalation (created_at, handoff_id);
create index escalation_waiting on escalation (created_at, handoff_id) where resolved_at is null;

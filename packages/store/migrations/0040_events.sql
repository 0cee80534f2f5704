-- Events for programs outside: what became of handoffs and alerts, kept in one order for who subscribes or reads, and their way out
-- as webhooks. Derived from the audit log by whoever follows it, so that nothing that delivers a handoff writes any of this.
-- Locks: access exclusive on alert_change for an instant, as a column without default rewrites nothing.
-- Roll-forward; never edited once landed.

-- Whose events are kept: of a tenant that nobody asks for, none is.
create table if not exists event_feed (
  tenant text primary key references tenant,
  since timestamptz not null default clock_timestamp(),
  -- Kept on while somebody subscribes, and for some days after the last reader.
  wanted_at timestamptz not null default clock_timestamp()
);

-- One row: where the newest event stands, and who follows. Whoever adds events holds it until they are committed, so that an event
-- that can be seen has none before it that will be seen later.
create table if not exists event_head (
  id boolean primary key default true check (id),
  position bigint not null default 0,
  follower uuid,
  lease_until timestamptz not null default 'epoch'
);
insert into event_head default values on conflict do nothing;

-- How far each chain of the log is followed, and the hash of the last record that was.
create table if not exists event_position (
  chain smallint primary key,
  size bigint not null,
  last_hash text not null
);

create table if not exists event (
  position bigint primary key,
  -- Follows from the record or the change that it tells of.
  id uuid not null unique,
  tenant text not null,
  -- The CloudEvent as JSON: the same bytes at every try.
  body text not null,
  -- A test is for one subscription.
  subscription_id uuid,
  created_at timestamptz not null default clock_timestamp()
);
create index if not exists event_of_tenant on event (tenant, position);
create index if not exists event_age on event (created_at);

alter table alert_change add column if not exists told_at timestamptz;

create table if not exists event_subscription (
  id uuid primary key,
  tenant text not null references tenant,
  name text not null,
  url text not null,
  mode text not null check (mode in ('structured', 'binary')),
  -- JSON; what of the events is told.
  filters text not null,
  -- Encrypted with a key that stands in no database.
  secret bytea not null,
  -- Signs beside it until then.
  earlier_secret bytea,
  earlier_until timestamptz,
  state text not null default 'active' check (state in ('active', 'paused', 'disabled')),
  -- Why it was disabled: a code.
  reason text,
  -- Everything up to there is delivered or has a row in event_delivery.
  position bigint not null,
  -- Nothing is sent before that.
  due_at timestamptz not null default clock_timestamp(),
  -- Tries since the last one that its consumer took.
  failures integer not null default 0,
  lease uuid,
  lease_until timestamptz,
  delivered bigint not null default 0,
  delivered_at timestamptz,
  failed_at timestamptz,
  -- A code, never text of whoever answered.
  last_error text,
  made_by text not null,
  -- Of the request that made it: its repetition is no other one.
  request_sha256 bytea,
  created_at timestamptz not null default clock_timestamp(),
  changed_at timestamptz not null default clock_timestamp(),
  unique (tenant, name)
) with (fillfactor = 70);

-- Events that were not taken at the first try: what was is counted alone.
create table if not exists event_delivery (
  subscription_id uuid not null references event_subscription on delete cascade,
  position bigint not null,
  event_id uuid not null,
  tenant text not null,
  state text not null default 'waiting' check (state in ('waiting', 'delivered', 'dead')),
  attempts integer not null default 0,
  -- From then on it is counted how long it is tried.
  first_at timestamptz not null default clock_timestamp(),
  due_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  last_error text,
  primary key (subscription_id, position)
) with (fillfactor = 70);
create index if not exists event_delivery_due on event_delivery (subscription_id, due_at) where state = 'waiting';
create index if not exists event_delivery_of_event on event_delivery (position) where state <> 'delivered';
create index if not exists event_delivery_ended on event_delivery (ended_at) where ended_at is not null;

do $$
declare
  name text;
begin
  foreach name in array array['event_feed', 'event', 'event_subscription', 'event_delivery'] loop
    execute format('drop policy if exists of_tenant on %I', name);
    execute format('drop policy if exists of_all on %I', name);
    execute format('create policy of_tenant on %I to baton_tenant using (tenant = current_tenant())
      with check (tenant = current_tenant())', name);
    execute format('alter table %I enable row level security', name);
    execute format('create policy of_all on %I to baton_app using (true) with check (true)', name);
    execute format('grant select, insert, update, delete on %I to baton_tenant', name);
  end loop;
end $$;

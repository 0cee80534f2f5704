-- Who is told of a task of A2A by a push notification, and how far each has been told.
-- Locks: none on what is there. Roll-forward; never edited once landed.

create table if not exists a2a_push (
  task_id uuid not null,
  -- The caller's own id for it.
  id text not null,
  tenant text not null default 'default',
  url text not null,
  -- Token and authentication, encrypted with a key that stands in no database.
  secret bytea not null,
  created_at timestamptz not null default clock_timestamp(),
  -- The state that was told last, and when the task had moved to it.
  told text,
  told_at timestamptz,
  attempts integer not null default 0,
  -- Of the tries that have failed since then, the first.
  failed_at timestamptz,
  due_at timestamptz not null default clock_timestamp(),
  lease_until timestamptz,
  -- Nothing more is told: the end was, or nobody took it.
  ended_at timestamptz,
  -- A code, never text of whoever answered.
  last_error text,
  primary key (task_id, id)
);
create index if not exists a2a_push_due on a2a_push (due_at) where ended_at is null;
create index if not exists a2a_push_ended on a2a_push (ended_at) where ended_at is not null;

alter table a2a_push enable row level security;
drop policy if exists of_tenant on a2a_push;
drop policy if exists of_all on a2a_push;
create policy of_tenant on a2a_push to baton_tenant using (tenant = current_tenant()) with check (tenant = current_tenant());
create policy of_all on a2a_push to baton_app using (true) with check (true);
grant select, insert, update, delete on a2a_push to baton_tenant;

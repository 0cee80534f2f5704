-- Tasks that came in by A2A: in which context each stands, and the messages that its callers sent, by the handoffs that they became.
-- Locks: none on what is there. Roll-forward; never edited once landed.

-- No text of a message stands here: what is shown is read from the handoffs.
create table if not exists a2a_task (
  task_id uuid primary key,
  tenant text not null default 'default',
  -- The name by which its callers group tasks.
  context_id text not null,
  created_at timestamptz not null default clock_timestamp()
);
create index if not exists a2a_task_recent on a2a_task (tenant, created_at desc, task_id desc);
create index if not exists a2a_task_context on a2a_task (tenant, context_id, created_at desc, task_id desc);

create table if not exists a2a_message (
  handoff_id uuid primary key,
  task_id uuid not null,
  -- The caller's own id for it.
  message_id text not null
);
create index if not exists a2a_message_task on a2a_message (task_id);

alter table a2a_task enable row level security;
alter table a2a_message enable row level security;
drop policy if exists of_tenant on a2a_task;
drop policy if exists of_all on a2a_task;
drop policy if exists of_tenant on a2a_message;
drop policy if exists of_all on a2a_message;
create policy of_tenant on a2a_task to baton_tenant using (tenant = current_tenant()) with check (tenant = current_tenant());
create policy of_tenant on a2a_message to baton_tenant
  using (exists (select from handoff h where h.id = handoff_id)) with check (true);
create policy of_all on a2a_task to baton_app using (true) with check (true);
create policy of_all on a2a_message to baton_app using (true) with check (true);
grant select, insert, update, delete on a2a_task, a2a_message to baton_tenant;

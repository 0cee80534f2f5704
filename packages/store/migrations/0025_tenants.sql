-- Tenants: whose every task is, and what a session that acts for one tenant sees. Row-level security holds in each of its
-- statements, whatever the statement says; processes that deliver act for all tenants.
-- Locks: access exclusive on each table for an instant (constant defaults and policies rewrite nothing); share on the small
-- tables whose indexes are built anew, and on task while its index is. Roll-forward; never edited once landed.

-- Only who migrates adds tenants and grants: what delivers reads them.
create table tenant (
  name text primary key check (name ~ '^[a-z][a-z0-9-]{0,30}$'),
  created_at timestamptz not null default clock_timestamp()
);
insert into tenant (name) values ('default');

-- Agent types of other tenants that a tenant may hand off to, and have the answers of.
create table tenant_grant (
  tenant text not null references tenant,
  agent_type text not null,
  granted_by text not null,
  granted_at timestamptz not null default clock_timestamp(),
  primary key (tenant, agent_type)
);
revoke insert, update, delete on tenant, tenant_grant from baton_app;

-- An agent called `acme/summary` is of the tenant acme; what names no tenant is of the default one.
create function tenant_of_agent(agent text) returns text
  language sql stable parallel safe as $$
  select coalesce((select t.name from tenant t where t.name = split_part(agent, '/', 1) and strpos(agent, '/') > 0), 'default')
$$;

-- Whether a tenant may hand off to an agent type.
create function reaches(tenant text, agent text) returns boolean
  language sql stable parallel safe as $$
  select tenant_of_agent(agent) = tenant
    or exists (select from tenant_grant g where g.tenant = reaches.tenant and g.agent_type = agent)
$$;

-- For whom a session acts; null is for nobody, and sees nothing.
create function current_tenant() returns text
  language sql stable parallel safe as $$ select nullif(current_setting('baton.tenant', true), '') $$;

alter table task add column tenant text not null default 'default';
alter table handoff add column tenant text not null default 'default';
alter table dead_letter add column tenant text not null default 'default';
alter table approval add column tenant text not null default 'default';
alter table escalation add column tenant text not null default 'default';
alter table sender_notification add column tenant text not null default 'default';
alter table external_ref add column tenant text not null default 'default';
alter table redrive add column tenant text not null default coalesce(current_tenant(), 'default');

-- What is written about a handoff is of its tenant, whoever writes it.
create function take_tenant() returns trigger
  language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.tenant := coalesce((select h.tenant from public.handoff h where h.id = new.handoff_id), new.tenant);
  return new;
end $$;
create trigger take_tenant before insert on dead_letter for each row execute function take_tenant();
create trigger take_tenant before insert on approval for each row execute function take_tenant();
create trigger take_tenant before insert on escalation for each row execute function take_tenant();
create trigger take_tenant before insert on sender_notification for each row execute function take_tenant();

-- An id of another protocol is one tenant's own.
alter table external_ref drop constraint external_ref_pkey;
alter table external_ref add primary key (tenant, protocol, id);
drop index external_ref_recent, external_ref_recipient, external_ref_sender;
create index external_ref_recent on external_ref (tenant, protocol, created_at desc, handoff_id);
create index external_ref_recipient on external_ref (tenant, protocol, recipient, created_at desc, handoff_id);
create index external_ref_sender on external_ref (tenant, protocol, sender, created_at desc, handoff_id);

-- Lists of one tenant are as long as they are, whatever others have.
create index task_of_tenant on task (tenant, created_at desc);
drop index task_recent;
create index dead_letter_of_tenant on dead_letter (tenant, created_at) where resolved_at is null;
create index approval_of_tenant on approval (tenant, requested_at) where closed_at is null;
create index escalation_of_tenant on escalation (tenant, created_at, handoff_id);

grant usage on schema public to baton_tenant;
grant select on tenant, tenant_grant to baton_tenant;
grant execute on function subject_lookup to baton_tenant;

-- Rows that say whose they are.
do $$
declare name text;
begin
  foreach name in array array['task', 'handoff', 'dead_letter', 'approval', 'escalation', 'sender_notification', 'external_ref',
    'redrive'] loop
    execute format('create policy of_tenant on %I to baton_tenant using (tenant = current_tenant())
      with check (tenant = current_tenant())', name);
  end loop;
  -- Rows about a handoff: seen by whoever sees it. What is written about one was found by what saw it.
  foreach name in array array['handoff_body', 'handoff_revision', 'handoff_return', 'handoff_subject', 'execution', 'retry',
    'review_vote', 'approval_override', 'audit_outbox', 'outbox', 'remote_execution', 'session_reply', 'stream_chunk',
    'redrive_dead_letter', 'alert_occurrence', 'idempotency_key', 'offer'] loop
    execute format('create policy of_tenant on %I to baton_tenant
      using (exists (select from handoff h where h.id = handoff_id)) with check (true)', name);
  end loop;
  foreach name in array array['checkpoint', 'fan_out', 'branch'] loop
    execute format('create policy of_tenant on %I to baton_tenant
      using (exists (select from task t where t.id = task_id)) with check (true)', name);
  end loop;
  -- What is told of the installation as a whole is for whose it is.
  foreach name in array array['alert', 'alert_change', 'alert_webhook', 'alert_delivery', 'metric_minute', 'metric_hour',
    'metric_day'] loop
    execute format('create policy of_tenant on %I to baton_tenant using (current_tenant() = ''default'')', name);
  end loop;
  create policy of_tenant on agent_registration to baton_tenant using (reaches(current_tenant(), type));
  for name in select p.tablename from pg_policies p where p.schemaname = 'public' and p.policyname = 'of_tenant' loop
    execute format('alter table %I enable row level security', name);
    execute format('create policy of_all on %I to baton_app using (true) with check (true)', name);
    execute format('grant select, insert, update, delete on %I to baton_tenant', name);
  end loop;
end $$;

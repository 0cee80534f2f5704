-- Where a candidate of the scanner decided otherwise than the scanner that judges: the newest of them, without a text of a message.
-- Locks: none on what is there. Roll-forward; never edited once landed.

create table if not exists shadow_difference (
  handoff_id uuid not null,
  candidate_ruleset text not null,
  task_id uuid not null,
  tenant text not null,
  candidate_version integer not null,
  active_ruleset text not null,
  active_decision text not null check (active_decision in ('allow', 'flag', 'reject')),
  candidate_decision text not null check (candidate_decision in ('allow', 'flag', 'reject')),
  -- Ids of rules, each once, with spaces between them.
  active_rules text not null,
  candidate_rules text not null,
  compared_at timestamptz not null default clock_timestamp(),
  primary key (handoff_id, candidate_ruleset)
);
create index if not exists shadow_difference_age on shadow_difference (compared_at);
revoke update on shadow_difference from baton_app;

-- Two small indexes serve only statements that ask for what they are ordered by: an agent type, or the end of a lease. Before,
-- "ended_at is null" or the state of an execution was enough, and Postgres, which plans once and while next to nothing waits,
-- went through all that waits for every handoff that it looked at: ten thousand for a dead agent type kept a core busy.
-- Locks: SHARE on handoff and on execution while the indexes are built, of what is open only, then access exclusive for an instant.
-- Roll-forward; never edited once landed.

create index handoff_waiting_for on handoff ((coalesce(routed_to, to_agent)), priority, created_at, id)
  where ended_at is null and coalesce(routed_to, to_agent) is not null;
drop index handoff_waiting;
alter index handoff_waiting_for rename to handoff_waiting;

create index execution_leased_until on execution (lease_until)
  where status in ('CLAIMED', 'EXECUTING') and lease_until is not null;
drop index execution_leased;
alter index execution_leased_until rename to execution_leased;

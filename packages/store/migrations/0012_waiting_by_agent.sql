-- What waits for an agent is found by the agent's name: for those that ask for a list instead of a queue.
-- Locks: SHARE on handoff while the index is built, which holds writes back. Roll-forward; never edited once landed.

create index handoff_waiting on handoff ((coalesce(routed_to, to_agent)), priority, created_at, id) where ended_at is null;

-- How far each relay has come in each queue, to notice a queue that lost its tail.
-- Locks: creates a new table only. Roll-forward; never edited once landed.

-- A row per publication, never updated: finding the newest one does not read the dead ones, whatever
-- snapshot keeps them. The same number stands in the queue's own server, behind what was published.
create table queue_mark (
  queue text not null,
  relay uuid not null,
  mark bigint not null,
  marked_at timestamptz not null default clock_timestamp(),
  primary key (queue, relay, mark)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

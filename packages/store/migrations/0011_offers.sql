-- Handoffs of protocol v0.1 that are kept in Postgres instead of a folder of files.
-- Locks: none; everything is new. Roll-forward; never edited once landed.

create table offer (
  -- The id of protocol v0.1 in UTF-8: any text, also one that `text` does not hold.
  task_id bytea primary key,
  status text not null,
  -- Its JSON as it was written, byte for byte.
  body bytea not null,
  updated_at timestamptz not null default clock_timestamp(),
  check (octet_length(task_id) between 1 and 2048),
  check (octet_length(body) <= 1048576)
);
create index offer_status on offer (status, task_id);

-- What the counters behind the service levels rose by, minute by minute and then hour by hour.
-- Locks: new tables only. Roll-forward; never edited once landed.

-- One row per minute, process and series that rose. A process writes what its counter rose by in the whole minute so far, never
-- what it rose by since it wrote last: a repeated write changes nothing.
create table metric_minute (
  minute timestamptz not null,
  -- Of one start of one process.
  process uuid not null,
  metric text not null,
  -- A JSON object with its keys in order.
  labels text not null,
  -- One number; of a histogram one for each bucket, each with what the buckets below it hold.
  counts bigint[] not null check (cardinality(counts) between 1 and 16),
  primary key (minute, process, metric, labels)
)
-- A row is rewritten every ten seconds of its minute; none of its columns that change is indexed.
with (fillfactor = 60);

-- What is older than seven hours, all processes together. A minute moves here in the statement that deletes it there.
create table metric_hour (
  hour timestamptz not null,
  metric text not null,
  labels text not null,
  counts bigint[] not null check (cardinality(counts) between 1 and 16),
  primary key (hour, metric, labels)
);

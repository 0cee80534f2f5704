-- What the counters behind the service levels rose by, day by day: the oldest of what is kept, so that a month of a thousand
-- pairs of agents is read in a second.
-- Locks: a new table only. Roll-forward; never edited once landed.

-- What is older than four days. An hour moves here in the statement that deletes it there.
create table metric_day (
  day timestamptz not null,
  metric text not null,
  labels text not null,
  counts bigint[] not null check (cardinality(counts) between 1 and 16),
  primary key (day, metric, labels)
);

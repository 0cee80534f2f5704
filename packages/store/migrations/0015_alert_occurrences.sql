-- What settlements write of handoffs that are worth an alert gets its own name, so that alerts themselves can have theirs.
-- Locks: access exclusive on alert for an instant; renames, and a column with a constant default, rewrite nothing. Statements
-- of the version before that record an alert fail until their process is replaced: stop it first. Roll-forward; never
-- edited once landed.

-- A narrow row for each handoff, and no row that two settlements would wait for. The sweeper counts and deletes them; those
-- that stood here before are counted too.
alter table alert rename to alert_occurrence;
alter index alert_pkey rename to alert_occurrence_pkey;
alter sequence alert_id_seq rename to alert_occurrence_id_seq;
-- Whether it left a task waiting for a person.
alter table alert_occurrence add column escalated boolean not null default false;

-- A handoff is in no state that nothing writes: what is accepted executes with the same commit, and what fails for good is rolled back.
-- Locks: `alter table` takes ACCESS EXCLUSIVE on handoff for an instant (an unvalidated check: no scan, no rewrite; no row was
-- ever in either state). Roll-forward; never edited once landed.

alter table handoff drop constraint handoff_state_check;
alter table handoff add constraint handoff_state_check check (state in
  ('QUEUED', 'AWAITING_APPROVAL', 'DISPATCHED', 'EXECUTING', 'COMPLETED', 'PARTIAL', 'REJECTED', 'BLOCKED', 'EXPIRED', 'CANCELED',
   'DEAD_LETTERED', 'ROLLED_BACK')) not valid;

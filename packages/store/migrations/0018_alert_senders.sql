-- Who opened an alert, so that one sender who names agents without end does not open alerts without end.
-- Locks: access exclusive on alert for an instant, since a column without a default rewrites nothing; the index is built under a
-- share lock, over the open alerts alone. Roll-forward; never edited once landed.

-- The operator whose key sent the handoff that opened it, or else its agent; null of what no one pair opened.
alter table alert add column sender text;
create index alert_of_sender on alert (sender) where closed_at is null and sender is not null;

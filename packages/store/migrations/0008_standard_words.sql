-- The field's own words for tables and columns.
-- Locks: access exclusive on each table for an instant; renames alone, nothing is rewritten or scanned. Statements of
-- the version before fail with "does not exist" until their process is replaced: stop it first. Roll-forward.

alter table handoff rename column generation to publish_attempt;
alter table handoff rename column release_id to approval_override_id;
alter table outbox rename column generation to publish_attempt;

alter table execution rename column epoch to fencing_token;
alter table execution rename column generation to publish_attempt;
alter table execution rename column lapses to lease_expiries;

alter table dead_letter rename column epoch to fencing_token;
alter table dead_letter rename column round to quarantine_attempt;
alter table dead_letter rename column artefact_id to ruleset_version;
alter table review_vote rename column round to quarantine_attempt;

alter table release rename to approval_override;
alter table approval_override rename column artefact_id to ruleset_version;
alter index release_handoff rename to approval_override_handoff;

alter table redrive_letter rename to redrive_dead_letter;
alter table redrive_dead_letter rename column round to quarantine_attempt;
alter index redrive_letter_waiting rename to redrive_dead_letter_waiting;

alter table sender_notice rename to sender_notification;
alter index sender_notice_waiting rename to sender_notification_waiting;
alter index sender_notice_handoff rename to sender_notification_handoff;
alter index sender_notice_age rename to sender_notification_age;
alter index sender_notice_done rename to sender_notification_done;

alter table queue_mark rename to queue_watermark;
alter table queue_watermark rename column mark to watermark;
alter table queue_watermark rename column marked_at to written_at;

-- What people decide carries their own signature: with each vote, with an approval, and with what the votes came to.
-- Locks: `alter table` takes ACCESS EXCLUSIVE on three small tables for an instant (nullable columns, no rewrite).
-- Roll-forward; never edited once landed.

-- JSON {keyId, signedAt, salt, content, signature}: see the ledger's DecisionSignature. Null on what was decided before.
alter table review_vote add column signed jsonb;
alter table approval add column signed jsonb;

-- What the votes agreed on, so that a receiver can check each vote: with the bytes and the scanner, the whole proposal.
alter table approval_override add column quarantine_attempt integer;
alter table approval_override add column valid_hours integer;
-- JSON [{person, signed}], first vote first.
alter table approval_override add column votes jsonb;
-- The key of senders signed overrides once. Processes of the version before still read these two.
alter table approval_override alter column key_id drop not null;
alter table approval_override alter column signature drop not null;

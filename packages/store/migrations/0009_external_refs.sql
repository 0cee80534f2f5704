-- What a handoff is called in the protocol that it came in by, and what an approver called themselves there.
-- Locks: `alter table` takes ACCESS EXCLUSIVE on approval for an instant (a nullable column, no rewrite); the rest is
-- new. Roll-forward; never edited once landed.

-- One row per handoff of another protocol. No text of a message stands here: what is shown is read from the handoff.
create table external_ref (
  protocol text not null,
  -- The id that it has in that protocol.
  id text not null,
  handoff_id uuid not null unique,
  -- Who sent it and who gets it, by the names of that protocol.
  sender text not null,
  recipient text not null,
  -- How many messages of that protocol led to it.
  depth smallint not null default 0,
  -- Digest of what was asked: the same again is a repetition. Null once the text of the handoff was erased.
  request_sha256 bytea,
  created_at timestamptz not null default clock_timestamp(),
  primary key (protocol, id)
);
create index external_ref_recent on external_ref (protocol, created_at desc, handoff_id);
create index external_ref_recipient on external_ref (protocol, recipient, created_at desc, handoff_id);
create index external_ref_sender on external_ref (protocol, sender, created_at desc, handoff_id);

-- The name an approver gave in a protocol that asks for one. Who decided is `decided_by`, whose key it was.
alter table approval add column decided_as text;

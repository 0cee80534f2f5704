-- What is answered to session peers later than at once: a reply waits here until its handoff has ended and the peer has it.
-- Locks: a new table only. Roll-forward; never edited once landed.

-- One row per handoff that came in over a session. No text stands here: a reply is made of the handoff when it is sent.
create table session_reply (
  handoff_id uuid primary key,
  -- The same on every attempt to send it, and in the answer to who asked at once.
  message_id uuid not null,
  peer text not null,
  context_id text not null,
  -- The id of the task by the peer's own name for it.
  task_id text not null,
  reply_schema text not null,
  created_at timestamptz not null default clock_timestamp(),
  -- Not sent sooner; null where the peer has no address.
  due_at timestamptz,
  attempts integer not null default 0,
  -- Whoever sends it now has it until then.
  lease_until timestamptz,
  -- The end of trying; from then on it waits for a person.
  dead_at timestamptz,
  -- A code, never text of the peer.
  last_error text,
  -- The peer has it.
  told_at timestamptz
);
create index session_reply_open on session_reply (peer, context_id) where told_at is null and dead_at is null;
create index session_reply_due on session_reply (due_at) where told_at is null and dead_at is null;
create index session_reply_context on session_reply (peer, context_id);
create index session_reply_dead on session_reply (dead_at) where dead_at is not null;
create index session_reply_age on session_reply (created_at);

-- API keys that gateways take beside those of their settings: made, revoked and expired without a restart.
-- Locks: share row exclusive on tenant for an instant, while the reference to it is made. Roll-forward; never edited once landed.

create table api_key (
  id text primary key check (id ~ '^[A-Za-z0-9-]{1,64}$'),
  -- SHA-256 of the whole key, which is 256 random bits and stands nowhere.
  sha256 bytea not null check (octet_length(sha256) = 32),
  -- Who acts through it, with the tenant in front where that is not the default one.
  operator text not null,
  tenant text not null references tenant,
  scopes text[] not null check (cardinality(scopes) > 0),
  -- As which agents it may send, and whose work it may claim; null is any of its tenant.
  agents text[] check (cardinality(agents) > 0),
  made_by text not null,
  created_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz,
  revoked_at timestamptz
);
-- Only who migrates makes and revokes keys: what delivers reads them, and sessions of a tenant do not even that.
revoke insert, update, delete on api_key from baton_app;

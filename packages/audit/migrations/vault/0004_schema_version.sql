-- Which migrations were applied is said to whom holds the schema to them: another version is no tampering.
-- Locks: none beyond those of a grant. Run by a superuser.

grant usage on schema public to vault_keeper;
grant select on public.kysely_migration to vault_keeper;

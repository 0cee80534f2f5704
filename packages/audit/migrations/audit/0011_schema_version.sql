-- Which migrations were applied is said to those who hold the schema to them: another version is no tampering.
-- Locks: none beyond those of a grant. Run by a superuser.

grant usage on schema public to audit_writer, audit_reader;
grant select on public.kysely_migration to audit_writer, audit_reader;

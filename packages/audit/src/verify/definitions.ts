// Whether the schema of the log is what its migrations made: a lying view, a hidden row or a trigger needs no changed record.
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { run } from '../database.ts'
import type { Snapshot } from '../database.ts'

const MIGRATIONS = new URL('../../migrations/audit/', import.meta.url)
const FUNCTION = /^create (?:or replace )?function audit\.(\w+)\(.*?\bas \$\$(.*?)\$\$/gms

/** The digests of the bodies of the functions that the migrations leave behind, by name. */
function functionsMade(): ReadonlyMap<string, string> {
  const files = readdirSync(MIGRATIONS).filter((name) => name.endsWith('.sql'))
  const made = new Map<string, string>()
  for (const file of files.toSorted()) {
    const text = readFileSync(new URL(file, MIGRATIONS), 'utf8')
    for (const [, name = '', body = ''] of text.matchAll(FUNCTION))
      made.set(name, hash('md5', body))
  }
  return made
}

/** What Postgres 18 says of the views that the migrations make; other versions spell them otherwise. */
const VIEWS_OF_18: Readonly<Record<string, string>> = {
  handoff_audit: '06b6badf4165f3281c312a6c7b95700d',
  handoff_events: 'e0e3e10b8e9079ec7ac908f47dacda52',
}

const TABLES = [
  'archive',
  'batch_sig',
  'chain_checkpoint',
  'erased_segment',
  'erased_subject',
  'erasure',
  'head',
  'idem',
  'legal_hold',
  'scrub',
  'seal',
  'tree_hash',
  'witnessed',
]
const PARTITIONED = ['payload', 'record']

/** Each as one sentence that begins with what is altered. The roles are those that log in; a superuser may do anything. */
const ALTERED = `
with own as (
  select c.oid, c.relname as name, c.relkind as kind, c.relpersistence as persistence, c.relowner,
    c.relrowsecurity or c.relforcerowsecurity as hides
  from pg_class c where c.relnamespace = 'audit'::regnamespace and c.relkind in ('r', 'p', 'v', 'm', 'f')
), expected (name, kind) as (
  select unnest($1::text[]), 'r' union all select unnest($2::text[]), 'p' union all select unnest($3::text[]), 'v'
), role (name) as (
  values ('audit_writer'), ('audit_reader'), ('audit_sealer'), ('audit_archiver'), ('audit_eraser')
)
select e.name || ' is not what the migrations made of it' as what
  from expected e left join own o on o.name = e.name where o.kind is distinct from e.kind::"char"
union all
select name || ' has row security, which can hide rows' from own where hides
union all
select name || ' is unlogged: a crash empties it' from own where kind in ('r', 'p') and persistence <> 'p'
union all
select o.name || ' has a rule that rewrites statements' from own o join pg_rewrite r on r.ev_class = o.oid
  where r.rulename <> '_RETURN'
union all
select o.name || ' has a trigger ' || t.tgname || ' that the migrations did not make' from pg_trigger t
  join own o on o.oid = t.tgrelid join pg_proc p on p.oid = t.tgfoid
  where not t.tgisinternal and p.pronamespace <> 'audit'::regnamespace
union all
select o.name || ' can be changed by ' || role.name from own o, role
  where role.name in (select rolname from pg_roles) and not (role.name = 'audit_eraser' and o.name = 'erasure')
    and (has_table_privilege(role.name, o.oid, 'insert, update, delete, truncate, trigger')
      or pg_has_role(role.name, o.relowner, 'member'))
order by what limit 100`

const DEFINED = `
select p.proname as name, md5(p.prosrc) as digest, 'function' as kind from pg_proc p
  where p.pronamespace = 'audit'::regnamespace
union all
select c.relname, md5(pg_get_viewdef(c.oid)), 'view' from pg_class c
  where c.relnamespace = 'audit'::regnamespace and c.relkind = 'v'
  and current_setting('server_version_num')::integer / 10000 = 18`

/**
 * Run it in a snapshot: how Postgres spells a view depends on the search path, which is pinned until its end.
 * What of the schema is not as the migrations made it; at most 100 sentences for tables, and one for each function and view.
 */
export async function findAlteredDefinitions(db: Snapshot): Promise<readonly string[]> {
  await run(db, 'pin_search_path', `select set_config('search_path', 'pg_catalog', true)`)
  const names = [TABLES, PARTITIONED, Object.keys(VIEWS_OF_18)]
  const altered = await run<{ what: string }>(db, 'find_altered_tables', ALTERED, names)
  const functions = functionsMade()
  const found = await run<{ name: string; digest: string; kind: string }>(
    db,
    'read_definitions',
    DEFINED,
  )
  const known = new Set(found.filter(({ kind }) => kind === 'function').map(({ name }) => name))
  return [
    ...altered.map(({ what }) => what),
    ...found
      .filter(({ name, digest, kind }) => {
        return digest !== (kind === 'view' ? VIEWS_OF_18[name] : functions.get(name))
      })
      .map(({ name, kind }) => `the ${kind} ${name} is not the one that the migrations made`),
    ...[...functions.keys()]
      .filter((name) => !known.has(name))
      .map((name) => `the function ${name} is gone`),
  ]
}

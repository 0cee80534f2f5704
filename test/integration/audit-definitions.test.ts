// What a superuser changes without changing a record: the schema is held to what its migrations made, thing by thing.
import { compareDefinitions, createPool, verifyChains } from '@baton/audit'
import type { Pool } from '@baton/audit'
import { createAuditDatabases, startOwnPostgres, uniqueDatabaseName } from '@baton/testkit'
import type { OwnPostgres } from '@baton/testkit'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { onDatabase } from './audit-fixture.ts'

/** Roles belong to a whole server, so this one is nobody else's. */
let server: OwnPostgres
const opened: Pool[] = []
beforeAll(async () => {
  server = await startOwnPostgres()
})
afterAll(async () => {
  await Promise.all(opened.map((pool) => pool.end()))
  await server?.stop()
})

interface Log {
  readonly reader: Pool
  readonly vault: Pool
  sql(text: string): Promise<unknown>
  /** The first row of an answer to the superuser. */
  read<Row extends object>(text: string): Promise<Row>
  vaultSql(text: string): Promise<unknown>
}

async function newLog(): Promise<Log> {
  const names = { audit: uniqueDatabaseName('audit'), vault: uniqueDatabaseName('vault') }
  const urls = await createAuditDatabases(server.superuserUrl, names, 2)
  const [superuser, vaultSuperuser, reader, vault] = [
    onDatabase(server.superuserUrl, names.audit),
    onDatabase(server.superuserUrl, names.vault),
    urls.reader,
    urls.vault,
  ].map((url) => createPool({ url, applicationName: 'test', connectionsMax: 1 })) as [
    Pool,
    Pool,
    Pool,
    Pool,
  ]
  opened.push(superuser, vaultSuperuser, reader, vault)
  const sql = (text: string) =>
    superuser.query({ text: text.replaceAll('<day>', TODAY).replaceAll('<db>', names.audit) })
  const vaultSql = (text: string) => vaultSuperuser.query({ text })
  const read = async <Row extends object>(text: string) =>
    (await superuser.query<Row>({ text })).rows[0] as Row
  return { reader, vault, sql, read, vaultSql }
}

const TODAY = new Date().toISOString().slice(0, 10).replaceAll('-', '')
const NOTHING = { altered: [], notCompared: null }

describe('no alarm for', () => {
  test('an untouched schema', async () => {
    const { reader, vault } = await newLog()
    expect(await compareDefinitions(reader)).toEqual(NOTHING)
    expect(await compareDefinitions(vault, 'vault')).toEqual(NOTHING)
  })

  test('days that were made or dropped since', async () => {
    const { reader, sql } = await newLog()
    await sql('drop table audit.record_<day>, audit.payload_<day>')
    expect(await compareDefinitions(reader)).toEqual(NOTHING)
    await sql('select audit.extend_partitions()')
    expect(await compareDefinitions(reader)).toEqual(NOTHING)
  })

  test('what others keep beside the log, and settings of time, memory and logs', async () => {
    const { reader, sql } = await newLog()
    await sql(`create role bi; create table audit.notes (t text); grant select on audit.notes to bi;
      create schema bi; create table bi.facts (t int); create table public.mine (x int);
      alter table audit.notes set unlogged; grant audit_reader to bi`)
    await sql(`alter role audit_reader set work_mem = '9MB'; alter role audit_reader connection limit 90;
      alter database <db> set log_statement = 'all'; alter role all set statement_timeout = '1h'`)
    expect(await compareDefinitions(reader)).toEqual(NOTHING)
    await sql(
      `alter role audit_reader reset work_mem; alter role audit_reader connection limit 50;
      alter role all reset all; drop owned by bi; drop role bi`,
    )
  })
})

/**
 * Each is done to what the ones before it left: the statement, and how the sentence begins that tells of it.
 * <day> is today.
 */
const CHANGES: readonly (readonly [string, string])[] = [
  [
    'alter table audit.record enable row level security; create policy hide on audit.record using (task_id is null)',
    'row security of record: found “on, which can hide rows”, made “off”',
  ],
  [
    'create policy show on audit.idem using (true)',
    'policy show of idem: found “shows or hides rows”, not made by the migrations',
  ],
  [
    'alter table audit.record_<day> force row level security',
    'row security of record_<day>: found “forced on everybody, which can hide rows”, made “off”',
  ],
  [
    'alter table audit.payload_<day> set unlogged',
    'persistence of payload_<day>: found “unlogged: a crash empties it”, made “logged”',
  ],
  [
    'alter table audit.batch_sig set unlogged',
    'persistence of batch_sig: found “unlogged: a crash empties it”, made “logged”',
  ],
  [
    'alter table audit.record disable trigger user',
    'trigger record.refuse_change: found “switched off,',
  ],
  [
    'alter table audit.archive enable trigger refuse_less',
    'trigger archive.refuse_less: found “enabled, CREATE TRIGGER ref…”, made “always,',
  ],
  [
    'alter table audit.payload_<day> disable trigger refuse_truncate',
    'trigger payload_<day>.refuse_truncate: found “switched off,',
  ],
  ['drop trigger refuse_backward on audit.head', 'trigger head.refuse_backward: gone'],
  [
    'alter table audit.erased_subject disable trigger all',
    'trigger erased_subject.erased_subject_erasure_id_fkey "RI_FKey_check_ins": found “switched off”, made “enabled”',
  ],
  [
    `create function public.change() returns trigger language plpgsql as 'begin return new; end'; create trigger change before insert on audit.record for each row execute function public.change()`,
    'trigger record.change: found “enabled, CREATE TRIGGER change BEFORE INSERT FOR EACH ROW EXECUTE FUNCTION public.change()”, not made by the migrations',
  ],
  [
    'create rule hide as on delete to audit.idem do instead nothing',
    'rule idem.hide: found “rewrites statements”, not made by the migrations',
  ],
  [
    'alter table audit.record drop constraint record_hash_fits',
    'constraint record.record_hash_fits: gone',
  ],
  [
    'alter table audit.tree_hash drop constraint tree_hash_check; alter table audit.tree_hash add constraint tree_hash_check check (level > 0) not valid',
    'constraint tree_hash.tree_hash_check: found “CHECK ((level > 0)) NOT VALID, not validated”',
  ],
  [
    'alter table audit.idem drop constraint idem_task_id_task_seq_key',
    'index idem_task_id_task_seq_key: gone',
  ],
  ['drop index audit.record_task', 'index record_task: gone'],
  [
    `update pg_index set indisvalid = false where indexrelid = 'audit.record_handoff'::regclass`,
    'index record_handoff: found “…G btree (handoff_id), not valid: it answers nothing”',
  ],
  [
    'create index more on audit.seal ((md5(note)))',
    'index more: found “CREATE INDEX more ON audit.seal USING btree (md5(note))”, not made by the migrations',
  ],
  [
    `create collation public.blind (provider = icu, locale = 'und-u-ks-level2', deterministic = false); alter table audit.batch_sig alter column key_id type text collate public.blind`,
    'column batch_sig.key_id: found “text, collation public.blind, not null, storage extended”',
  ],
  [
    'alter table audit.erasure alter column basis type varchar(100)',
    'column erasure.basis: found “character varying(100)',
  ],
  [
    'alter table audit.idem alter column request_hash drop not null',
    'column idem.request_hash: found “bytea, storage extended”, made “bytea, not null, storage extended”',
  ],
  [
    'alter table audit.head alter column size set default 5',
    'column head.size: found “bigint, not null, default 5, storage plain”',
  ],
  [
    'alter table audit.record alter column body set storage plain',
    'column record.body: found “bytea, not null, storage plain”',
  ],
  [
    'alter table audit.seal add column x int',
    'column seal.x: found “integer, storage plain”, not made by the migrations',
  ],
  [
    'alter table audit.record detach partition audit.record_<day>',
    'rows of record_<day> in record: gone',
  ],
  [
    'create table audit.record_default partition of audit.record default',
    'table record_default: found “table kept as heap, owned by postgres”, not made by the migrations',
  ],
  [
    'create table audit.seal_more () inherits (audit.seal)',
    'rows of seal_more in seal: found “inherited”, not made by the migrations',
  ],
  [
    'grant select, delete on audit.record to public',
    'rights of everybody on record: found “DELETE, SELECT”, not made by the migrations',
  ],
  [
    'grant update (body) on audit.record to audit_reader',
    'rights of audit_reader on record.body: found “UPDATE”, not made by the migrations',
  ],
  [
    'create role outsider; grant select on audit.handoff_audit to outsider',
    'rights of outsider on handoff_audit: found “SELECT”, not made by the migrations',
  ],
  [
    'revoke select on audit.seal from audit_reader',
    'rights of audit_reader on seal: gone, made “SELECT”',
  ],
  [
    'grant usage on schema audit to public',
    'rights of everybody on schema audit: found “USAGE”, not made by the migrations',
  ],
  [
    'grant create on schema audit to audit_writer with grant option',
    'rights of audit_writer on schema audit: found “CREATE and to grant it, USAGE”, made “USAGE”',
  ],
  [
    'grant execute on function audit.store_scrub to audit_reader',
    'rights of audit_reader on store_scrub(at_position jsonb): found “EXECUTE”, not made by the migrations',
  ],
  [
    'grant temporary on database <db> to public',
    'rights of everybody on this database: found “TEMPORARY”, not made by the migrations',
  ],
  [
    'grant execute on function pg_catalog.pg_advisory_lock(bigint) to public',
    'rights of everybody on pg_advisory_lock(bigint): found “EXECUTE”, not made by the migrations',
  ],
  [
    'alter default privileges for role audit_owner in schema audit grant insert on tables to audit_reader',
    'rights of audit_reader on what audit_owner makes later: found “r INSERT”, not made by the migrations',
  ],
  [
    'alter table audit.scrub owner to audit_reader',
    'table scrub: found “table kept as heap, owned by audit_reader”, made “table kept as heap, owned by audit_owner”',
  ],
  [
    'alter schema audit owner to audit_reader',
    'schema audit: found “owned by audit_reader”, made “owned by audit_owner”',
  ],
  [
    'alter function audit.expire owner to postgres',
    'function expire(of_chain smallint, to_index bigint, last_task uuid, last_task_seq integer): found “…its owner, owned by postgres',
  ],
  [
    'alter function audit.mark_removed set search_path = audit, pg_catalog',
    'function mark_removed(of_chain smallint, to_index bigint): found “…le, set search_path=audit, pg_catalog',
  ],
  [
    'alter function audit.erase_payload security invoker',
    'function erase_payload(of_erasure uuid): found “…wers bigint, as its caller,',
  ],
  [
    `create or replace function audit.extend_partitions() returns integer language plpgsql security definer set search_path = pg_catalog, pg_temp as 'begin return 0; end'`,
    'function extend_partitions(): found “…log, pg_temp, body',
  ],
  [
    `create function audit.append(x int) returns int language sql as 'select 0'`,
    'function append(x integer): found “function in sql, answers integer, as its caller, owned by postgres',
  ],
  [
    `create function public.same(uuid, text) returns boolean language sql as 'select true'; create operator audit.= (leftarg = uuid, rightarg = text, function = public.same)`,
    'operator =: found “stands in the schema”, not made by the migrations',
  ],
  [
    'alter view audit.handoff_events set (security_invoker = true)',
    'view handoff_events: found “with (security_invoker=true) SELECT',
  ],
  [
    'alter table audit.legal_hold rename to kept; create view audit.legal_hold as select * from audit.kept',
    'table legal_hold: found “view, owned by postgres”',
  ],
  [
    'alter role audit_writer in database <db> set session_replication_role = replica',
    'setting session_replication_role of audit_writer in this database: found “replica”, not made by the migrations',
  ],
  [
    'alter role audit_reader in database <db> set row_security = off',
    'setting row_security of audit_reader in this database: found “off”, not made by the migrations',
  ],
  [
    'alter database <db> set search_path = public, audit',
    'setting search_path of every role in this database: found “public, audit”, made “audit”',
  ],
  [
    `create function public.called() returns event_trigger language plpgsql as 'begin end'; create event trigger called on ddl_command_end execute function public.called()`,
    'event trigger called: found “ddl_command_end calls public.called()”, not made by the migrations',
  ],
  [
    `create or replace function pg_catalog.encode(bytea, text) returns text language sql immutable strict as 'select $1::text'`,
    'functions of Postgres',
  ],
  [
    `create function pg_catalog.decode(x int) returns text language sql as 'select $1::text'`,
    'function pg_catalog.decode(x integer): found “hides what has its name elsewhere”, not made by the migrations',
  ],
  [
    'set allow_system_table_mods = on; create view pg_catalog.handoff_audit as select * from audit.handoff_audit',
    'table pg_catalog.handoff_audit: found “hides what has its name elsewhere”, not made by the migrations',
  ],
  [
    'drop view audit.handoff_events',
    'table handoff_events: gone, made “view, owned by audit_owner”',
  ],
  [
    'drop table audit.witnessed',
    'table witnessed: gone, made “table kept as heap, owned by audit_owner”',
  ],
]

/** The same on what belongs to the whole server, with the statement that takes it back. */
const SERVER_CHANGES: readonly (readonly [string, string, string])[] = [
  [
    'alter role audit_writer set synchronous_commit = off',
    'setting synchronous_commit of audit_writer everywhere: found “off”, not made by the migrations',
    'alter role audit_writer reset all',
  ],
  [
    `alter role all set default_transaction_isolation = 'serializable'`,
    'setting default_transaction_isolation of every role everywhere: found “serializable”',
    'alter role all reset all',
  ],
  [
    'alter role audit_reader superuser',
    'role audit_reader: found “superuser, inherits”, made “inherits”',
    'alter role audit_reader nosuperuser',
  ],
  [
    'alter role audit_sealer bypassrls createrole',
    'role audit_sealer: found “may create roles, passes row security, inherits”, made “inherits”',
    'alter role audit_sealer nobypassrls nocreaterole',
  ],
  [
    'alter role audit_owner login',
    'role audit_owner: found “logs in, inherits”, made “inherits”',
    'alter role audit_owner nologin',
  ],
  [
    'grant audit_owner to audit_reader',
    'member audit_reader of audit_owner: found “may do what it may”, not made by the migrations',
    'revoke audit_owner from audit_reader',
  ],
  [
    'create role mallory; grant audit_writer to mallory',
    'member mallory of audit_writer: found “may do what it may”, not made by the migrations',
    'drop role mallory',
  ],
  [
    'create role eve; grant pg_write_all_data to eve',
    'member eve of pg_write_all_data: found “may do what it may”, not made by the migrations',
    'drop role eve',
  ],
]

/** Those that begin like this. */
const beginningWith = (sentence: string, altered: readonly string[]): readonly string[] =>
  altered.filter((one) => one.startsWith(sentence.replaceAll('<day>', TODAY)))

describe('what is changed is found, and where', () => {
  let log: Log
  /** What a comparison told last: nothing has changed since, so nobody asks again before the next change. */
  let told: readonly string[]
  const compare = async (): Promise<readonly string[]> => {
    const { altered, notCompared } = await compareDefinitions(log.reader)
    expect(notCompared).toBeNull()
    told = altered
    return told
  }
  beforeAll(async () => {
    log = await newLog()
    await compare()
  })

  test.each(SERVER_CHANGES)('%s', async (change, sentence, mend) => {
    expect(told).toEqual([])
    await log.sql(change)
    expect(beginningWith(sentence, await compare())).toHaveLength(1)
    await log.sql(mend)
    expect(await compare()).toEqual([])
  })

  test('a view that shows a rejection as accepted', async () => {
    const { text } = await log.read<{ text: string }>(
      `select pg_get_viewdef('audit.handoff_audit'::regclass) as text`,
    )
    const lying = text.replace('REJECTED', 'ACCEPTED')
    expect(lying).not.toBe(text)
    await log.sql(`create or replace view audit.handoff_audit as ${lying}`)
    const [sentence] = beginningWith('view handoff_audit: found “…', await compare())
    expect(sentence).toContain(`ELSE 'ACCEPTED'`)
    expect(sentence).toContain(`ELSE 'REJECTED'`)
  })

  test.each(CHANGES)('%s', async (change, sentence) => {
    expect(beginningWith(sentence, told)).toEqual([])
    await log.sql(change)
    expect(beginningWith(sentence, await compare())).toHaveLength(1)
  })

  test('what differs in the same way on all days is one sentence', async () => {
    const { altered } = await compareDefinitions(log.reader)
    const triggers = altered.filter((one) => /^trigger record_\d+\.refuse_change/.test(one))
    expect(triggers.find((one) => one.includes('switched off'))).toContain(', and of 7 more days: ')
  })

  test('a verification says the same, and what cannot be read any more', async () => {
    const { findings, ok } = await verifyChains({ pool: log.reader, batchKeys: new Map() })
    const { altered } = await compareDefinitions(log.reader)
    expect(findings.every(({ rule }) => rule === 'DEFINITION')).toBe(true)
    expect(findings.map(({ message }) => message)).toEqual([
      ...altered,
      'the log cannot be read any further: the audit database refused a statement (42501)',
    ])
    expect(ok).toBe(false)
  })

  test('the keys of people are held to it too', async () => {
    await log.vaultSql('alter table vault.subject_member set unlogged')
    expect((await compareDefinitions(log.vault, 'vault')).altered).toEqual([
      'persistence of subject_member: found “unlogged: a crash empties it”, made “logged”',
    ])
  })
})

describe('another version is no tampering, and is not passed over', () => {
  test.each([
    [
      'newer',
      `insert into public.kysely_migration values ('9999_later', '2100')`,
      'the schema audit is newer than this version (9999_later): ask a Baton of that version; what differs: column seal.later',
    ],
    [
      'older',
      `delete from public.kysely_migration where name = '0011_schema_version'`,
      'the schema audit has not 0011_schema_version yet: run `baton migrate`; what differs: column seal.later',
    ],
    [
      'from before versions were told',
      'revoke select on public.kysely_migration from audit_reader',
      'the schema audit is older than this version: run `baton migrate`; what differs: column seal.later',
    ],
  ])('%s', async (_, change, notCompared) => {
    const { sql, reader } = await newLog()
    await sql(change)
    await sql('alter table audit.seal add column later int')
    expect(await compareDefinitions(reader)).toEqual({ altered: [], notCompared })
    const { findings } = await verifyChains({ pool: reader, batchKeys: new Map() })
    expect(findings).toMatchObject([{ rule: 'DEFINITION_VERSION', message: notCompared }])
  })
})

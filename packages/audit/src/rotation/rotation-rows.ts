// The statements of a rotation on the vault: what is under which key, the next rows to put under the current one, and what is
// left over. Each touches a bounded set, and waits for no erasure.
import { BINARY, columns, text } from '@baton/postgres'
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import type { SubjectKeyRow } from '../append/subject-keys.ts'
import type { WrappedKey } from './subject-crypto.ts'
import type { RequestKeyRow } from './request-keys.ts'

/** Rows of one set. */
export const SET_MAX = 500

/** How many rows are under a key; `unnamed` of them keep no names, so that nobody can look them up anew in the background. */
export interface KeyUse {
  readonly keyId: string
  readonly rows: number
  readonly unnamed: number
}

/** What is wrapped with each key: keys of subjects, and of requests. */
export const readWrappingUse = (db: Database): Promise<KeyUse[]> =>
  run<KeyUse>(
    db,
    'read_wrapping_use',
    `select key_id as "keyId", sum(used)::integer as rows, 0 as unnamed from (
       select wrapping_key_id as key_id, count(*) as used from vault.subject_key group by 1
       union all select wrapping_key_id, count(*) from vault.request_key group by 1
     ) u group by 1 order by 1`,
    [],
  )

/** The keys that planned erasures are noted under, of which none is in the ring. */
const FOREIGN_ERASURES = `select e.lookup_key_id from vault.erasure e
  where not exists (select from vault.erasure o
    where o.erasure_id = e.erasure_id and (o.lookup_key_id = any ($1) or o.lookup_key_id = ''))`

/**
 * What is found under each lookup key: keys that are in the map, and planned erasures that are noted under no key of `ring`.
 */
export const readLookupUse = (db: Database, ring: readonly string[]): Promise<KeyUse[]> =>
  run<KeyUse>(
    db,
    'read_lookup_use',
    `select key_id as "keyId", sum(used)::integer as rows, sum(unnamed)::integer as unnamed from (
       select lookup_key_id as key_id, count(*) as used,
         count(*) filter (where sealed_names is null) as unnamed
       from vault.subject_key where lookup is not null group by 1
       union all
       select f.lookup_key_id, count(*), 0 from (${FOREIGN_ERASURES}) f group by 1
     ) u group by 1 order by 1`,
    [ring],
  )

/** Which keys there are rows under at all, told by their indexes: a start must not count a large vault. */
export async function readKeyIds(
  db: Database,
  ring: readonly string[],
): Promise<{ wrapping: string[]; lookup: string[] }> {
  const [ids] = await run<{ wrapping: string[]; lookup: string[] }>(
    db,
    'read_key_ids',
    `with recursive w as (
       select min(wrapping_key_id) as id from vault.subject_key
       union all select (select min(wrapping_key_id) from vault.subject_key where wrapping_key_id > w.id)
       from w where w.id is not null
     ), l as (
       select min(lookup_key_id) as id from vault.subject_key
       union all select (select min(lookup_key_id) from vault.subject_key where lookup_key_id > l.id)
       from l where l.id is not null
     )
     select array(select id from w where id is not null
         union select wrapping_key_id from vault.request_key order by 1) as wrapping,
       array(select id from l where id is not null
         union ${FOREIGN_ERASURES} order by 1) as lookup`,
    [ring],
  )
  return ids ?? { wrapping: [], lookup: [] }
}

const FIRST_REF = '00000000-0000-0000-0000-000000000000'

const subjectRows = (db: Database, name: string, condition: string, values: readonly unknown[]) =>
  run<SubjectKeyRow>(
    db,
    name,
    `select subject_ref as "subjectRef", lookup, lookup_key_id as "lookupKeyId",
       wrapped_key as "wrappedKey", wrapping_key_id as "wrappingKeyId", sealed_names as "sealedNames"
     from vault.subject_key where ${condition} order by subject_ref limit ${SET_MAX}`,
    [...values],
  )

/** The next rows behind `after` that are wrapped with one of these keys. */
export const findWrappedWith = (
  db: Database,
  keyId: string,
  after: string = FIRST_REF,
): Promise<SubjectKeyRow[]> =>
  subjectRows(db, 'find_wrapped_with', 'wrapping_key_id = $1 and subject_ref > $2', [keyId, after])

/** The next rows behind `after` that are found under one key and keep their names. */
export const findLookedUpWith = (
  db: Database,
  keyId: string,
  after: string = FIRST_REF,
): Promise<SubjectKeyRow[]> =>
  subjectRows(
    db,
    'find_looked_up_with',
    'lookup_key_id = $1 and subject_ref > $2 and lookup is not null and sealed_names is not null',
    [keyId, after],
  )

/** A row's key as it was read, and as it is to be. */
export interface Rewrapped extends WrappedKey {
  readonly subjectRef: Buffer
  readonly before: Buffer
}

const REWRAPPED = columns({
  subjectRef: BINARY.uuid,
  before: BINARY.bytea,
  wrappedKey: BINARY.bytea,
  wrappingKeyId: text,
})

/** Answers how many still were what was read; what an erasure holds or has destroyed is left to it. */
export async function storeRewrapped(db: Database, rows: readonly Rewrapped[]): Promise<number> {
  const [counted] = await run<{ moved: number }>(
    db,
    'store_rewrapped',
    `with mine as (
       select s.subject_ref, n.wrapped_key, n.wrapping_key_id
       from vault.subject_key s join ${REWRAPPED.unnest('n')}
         on n.subject_ref = s.subject_ref and n.before = s.wrapped_key
       order by s.subject_ref for update of s skip locked
     ), moved as (
       update vault.subject_key s set wrapped_key = m.wrapped_key, wrapping_key_id = m.wrapping_key_id
       from mine m where s.subject_ref = m.subject_ref returning s.subject_ref
     )
     select count(*)::integer as moved from moved`,
    REWRAPPED.values(rows),
  )
  return counted?.moved ?? 0
}

/** Of request keys there are as many as there ever were lookup keys. */
export async function storeRewrappedRequestKey(
  db: Database,
  { lookupKeyId, wrappedKey, wrappingKeyId }: RequestKeyRow,
  before: Buffer,
): Promise<void> {
  await run(
    db,
    'store_rewrapped_request_key',
    `update vault.request_key set wrapped_key = $2, wrapping_key_id = $3
     where lookup_key_id = $1 and wrapped_key = $4`,
    [lookupKeyId, wrappedKey, wrappingKeyId, before],
  )
}

/** Writes the id of the only key that there was into rows from before ids were kept; answers how many of them. */
export async function adoptRows(db: Database, keyId: string): Promise<number> {
  let adopted = 0
  for (const [table, key] of LOOKED_UP) {
    const [counted] = await run<{ moved: number }>(
      db,
      `adopt_${table}`,
      `with mine as (
         select ctid from vault.${table} where lookup_key_id = '' limit ${SET_MAX} for update skip locked
       ), moved as (
         update vault.${table} t set lookup_key_id = $1 from mine m where t.ctid = m.ctid returning t.${key}
       )
       select count(*)::integer as moved from moved`,
      [keyId],
    )
    adopted += counted?.moved ?? 0
  }
  return adopted
}

const LOOKED_UP = [
  ['subject_key', 'subject_ref'],
  ['subject_member', 'subject_ref'],
  ['erasure', 'erasure_id'],
] as const

/** Deletes what is found under none of these keys; answers how many members went. Nothing rests on them once every row is under one. */
export async function dropForeignLookups(db: Database, ring: readonly string[]): Promise<number> {
  const [counted] = await run<{ gone: number }>(
    db,
    'drop_foreign_lookups',
    `with mine as (
       select ctid from vault.subject_member
       where lookup_key_id <> all ($1) and lookup_key_id <> '' limit ${SET_MAX} for update skip locked
     ), gone as (
       delete from vault.subject_member m using mine where m.ctid = mine.ctid returning m.subject_ref
     )
     select count(*)::integer as gone from gone`,
    [ring],
  )
  return counted?.gone ?? 0
}

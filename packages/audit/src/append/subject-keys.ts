// The statements on vault.subject_key, in a database that only the auditor reaches. Storing keys is text: what is made decides
// which members are, in one statement.
import { BINARY, columns, text } from '@baton/postgres'
import { anyOf } from '@baton/postgres/statements'
import { run, vault } from '../database.ts'
import type { Database } from '../database.ts'

export interface SubjectKeyRow {
  readonly subjectRef: string
  /** Null once the map from the person to the key is gone. */
  readonly lookup: Buffer | null
  readonly lookupKeyId: string
  readonly wrappedKey: Buffer
  readonly wrappingKeyId: string
  /** Null in rows that no version has looked up since names are kept. */
  readonly sealedNames: Buffer | null
}

/** What a name looks like under one key of the lookup ring. */
export interface Lookup {
  readonly lookupKeyId: string
  readonly lookup: Buffer
}

/** How a row is found: under the current key in the row itself, and by everything else beside it. */
export interface SubjectIndex extends Lookup {
  readonly subjectRef: Buffer
  readonly sealedNames: Buffer
  /** The subject under earlier keys, and those whose data the key of a set protects under all. */
  readonly members: readonly Lookup[]
}

/** A row to store unless its lookup is known already. */
export interface SubjectKeyCandidate extends SubjectIndex {
  readonly wrappedKey: Buffer
  readonly wrappingKeyId: string
}

const SUBJECT_KEYS = vault
  .selectFrom('vault.subject_key')
  .select(['subject_ref as subjectRef', 'lookup', 'wrapped_key as wrappedKey'])
  .select(['wrapping_key_id as wrappingKeyId', 'lookup_key_id as lookupKeyId'])
  .select('sealed_names as sealedNames')

/** The rows of those of `lookups` that are known. */
export const findSubjectKeys = (
  db: Database,
  lookups: readonly Buffer[],
): Promise<SubjectKeyRow[]> =>
  run(db, 'find_subject_keys', SUBJECT_KEYS.where('lookup', '=', anyOf(BINARY.bytea, lookups)))

/** The rows of those of `subjectRefs` whose key still exists. */
export const readSubjectKeys = (
  db: Database,
  subjectRefs: readonly Buffer[],
): Promise<SubjectKeyRow[]> =>
  run(
    db,
    'read_subject_keys',
    SUBJECT_KEYS.where('subject_ref', '=', anyOf(BINARY.uuid, subjectRefs)),
  )

const KEYS = columns({
  subjectRef: BINARY.uuid,
  lookup: BINARY.bytea,
  lookupKeyId: text,
  wrappedKey: BINARY.bytea,
  wrappingKeyId: text,
  sealedNames: BINARY.bytea,
})
const MEMBERS = columns({ subjectRef: BINARY.uuid, memberLookup: BINARY.bytea, lookupKeyId: text })
const ADD_KEYS = `with made as (
    insert into vault.subject_key
      (subject_ref, lookup, lookup_key_id, wrapped_key, wrapping_key_id, sealed_names)
    select * from ${KEYS.unnest('k')}
    on conflict (lookup) do nothing returning subject_ref
  )
  insert into vault.subject_member (subject_ref, member_lookup, lookup_key_id)
  select m.subject_ref, m.member_lookup, m.lookup_key_id
  from ${MEMBERS.unnest('m', { after: KEYS.width })}
  where m.subject_ref in (select subject_ref from made)`

/** Stores the candidates whose lookup nobody else stored meanwhile. */
export async function addSubjectKeys(
  db: Database,
  candidates: readonly SubjectKeyCandidate[],
): Promise<void> {
  await run(db, 'add_subject_keys', ADD_KEYS, [
    ...KEYS.values(candidates),
    ...MEMBERS.values(membersOf(candidates)),
  ])
}

const INDEXES = columns({
  subjectRef: BINARY.uuid,
  lookup: BINARY.bytea,
  lookupKeyId: text,
  sealedNames: BINARY.bytea,
  before: BINARY.bytea,
  spare: BINARY.bytea,
})
const INDEX_AGAIN = `with mine as (
    select s.subject_ref, n.lookup_key_id, n.sealed_names,
      case when n.lookup <> n.before and exists
        (select from vault.subject_key o where o.lookup = n.lookup) then n.spare else n.lookup end as lookup
    from vault.subject_key s join ${INDEXES.unnest('n')}
      on n.subject_ref = s.subject_ref and n.before = s.lookup
    order by s.subject_ref for update of s skip locked
  ), indexed as (
    update vault.subject_key s
    set lookup = m.lookup, lookup_key_id = m.lookup_key_id, sealed_names = m.sealed_names
    from mine m where s.subject_ref = m.subject_ref returning s.subject_ref
  ), beside as (
    insert into vault.subject_member (subject_ref, member_lookup, lookup_key_id)
    select m.subject_ref, m.member_lookup, m.lookup_key_id
    from ${MEMBERS.unnest('m', { after: INDEXES.width })}
    where m.subject_ref in (select subject_ref from indexed) on conflict do nothing
  )
  select count(*)::integer as moved from indexed`

/** A row that is to be found under another key, as long as it still is what was read. */
export interface SubjectReindex extends SubjectIndex {
  readonly before: Buffer
  /** What it is put under where another row is found by the name already: then it is found as a member. */
  readonly spare: Buffer
}

/**
 * Puts rows under the current lookup key, beside which they stay found under the earlier ones; answers how many. It waits
 * for nobody: a row that an erasure holds is left to it, and one that it has taken out of the map stays out.
 */
export async function reindexSubjectKeys(
  db: Database,
  rows: readonly SubjectReindex[],
): Promise<number> {
  const [counted] = await run<{ moved: number }>(db, 'reindex_subject_keys', INDEX_AGAIN, [
    ...INDEXES.values(rows),
    ...MEMBERS.values(membersOf(rows)),
  ])
  return counted?.moved ?? 0
}

const membersOf = (indexes: readonly SubjectIndex[]) =>
  indexes.flatMap(({ subjectRef, members }) =>
    members.map(({ lookup, lookupKeyId }) => ({ subjectRef, memberLookup: lookup, lookupKeyId })),
  )

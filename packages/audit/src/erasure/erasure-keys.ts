// The statements of an erasure on the vault: who is meant, which keys go, and that they are gone. The one that detaches them is
// text: five parts that are one.
import { BINARY, columns, text } from '@baton/postgres'
import { anyOf } from '@baton/postgres/statements'
import type { Lookup } from '../append/subject-keys.ts'
import { subjectName } from '../append/prepared-entry.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import { run, vault } from '../database.ts'
import type { Database } from '../database.ts'

interface KeyRow {
  readonly subjectRef: string
}

const refs = (rows: readonly KeyRow[]): string[] => rows.map((row) => row.subjectRef)

const NOTED = columns({ lookup: BINARY.bytea, lookupKeyId: text })

/** Remembers whom an erasure is about until it is carried out, as a hash under each lookup key: one of them will find the person. */
export async function noteErasure(
  db: Database,
  erasureId: string,
  lookups: readonly Lookup[],
): Promise<void> {
  await run(
    db,
    'note_erasure',
    `insert into vault.erasure (erasure_id, lookup, lookup_key_id)
     select $1, n.lookup, n.lookup_key_id from ${NOTED.unnest('n', { after: 1 })}
     on conflict do nothing`,
    [erasureId, ...NOTED.values(lookups)],
  )
}

/** Whether a planned erasure is about the subject of these lookups. */
export async function isErasureOf(
  db: Database,
  erasureId: string,
  lookups: readonly Lookup[],
): Promise<boolean> {
  const rows = await run(
    db,
    'is_erasure_of',
    vault
      .selectFrom('vault.erasure')
      .select('erasure_id')
      .where('erasure_id', '=', erasureId)
      .where(
        'lookup',
        '=',
        anyOf(
          BINARY.bytea,
          lookups.map(({ lookup }) => lookup),
        ),
      ),
  )
  return rows.length > 0
}

/** The keys that protect data of the subject: its own, and those of sets that it belongs to. */
export async function findKeysOfSubject(
  db: Database,
  lookups: readonly Lookup[],
): Promise<string[]> {
  const values = lookups.map(({ lookup }) => lookup)
  const ownKey = vault
    .selectFrom('vault.subject_key')
    .select('subject_ref as subjectRef')
    .where('lookup', '=', anyOf(BINARY.bytea, values))
  const keysOfSets = vault
    .selectFrom('vault.subject_member')
    .select('subject_ref as subjectRef')
    .where('member_lookup', '=', anyOf(BINARY.bytea, values))
  return refs(await run(db, 'find_keys_of_subject', ownKey.union(keysOfSets)))
}

interface SubjectSearch {
  readonly vaultDb: Database
  readonly vault: Pick<SubjectVault, 'lookupsOf'>
  readonly environment: string
  readonly tenant?: string | undefined
}

/** The same by name: how records name the person. None where nothing is recorded of them, or they were erased. */
export const findSubjectRefs = (
  { vaultDb, vault, environment, tenant }: SubjectSearch,
  subject: string,
): Promise<string[]> =>
  findKeysOfSubject(vaultDb, vault.lookupsOf(subjectName({ environment, tenant }, subject)))

/**
 * Takes the subject's keys out of the map from people to keys, in one statement with the list of them;
 * whatever is recorded of that person afterwards gets new keys. What a change of the lookup key does at the same time is found
 * all the same: it leaves behind what a row was found by before. Safe to repeat.
 */
export async function detachKeys(db: Database, erasureId: string): Promise<void> {
  await run(
    db,
    'detach_keys',
    `with meant as (
       delete from vault.erasure where erasure_id = $1 returning lookup
     ), keys as (
       select k.subject_ref from vault.subject_key k join meant m on k.lookup = m.lookup
       union select s.subject_ref from vault.subject_member s join meant m on s.member_lookup = m.lookup
     ), listed as (
       insert into vault.erasure_key (erasure_id, subject_ref) select $1, subject_ref from keys
       on conflict do nothing
     ), unmapped as (
       delete from vault.subject_member s using keys k where s.subject_ref = k.subject_ref
     )
     update vault.subject_key s set lookup = null, sealed_names = null from keys k where s.subject_ref = k.subject_ref`,
    [erasureId],
  )
}

/** The keys that an erasure has detached, in order. */
export async function readDetachedKeys(db: Database, erasureId: string): Promise<string[]> {
  const detached = vault
    .selectFrom('vault.erasure_key')
    .select('subject_ref as subjectRef')
    .where('erasure_id', '=', erasureId)
    .orderBy('subject_ref')
  return refs(await run(db, 'read_detached_keys', detached))
}

/** Destroys keys; answers how many there were. */
export async function destroyKeys(db: Database, subjectRefs: readonly Buffer[]): Promise<number> {
  const rows = await run(
    db,
    'destroy_keys',
    vault
      .deleteFrom('vault.subject_key')
      .where('subject_ref', '=', anyOf(BINARY.uuid, subjectRefs))
      .returning('subject_ref'),
  )
  return rows.length
}

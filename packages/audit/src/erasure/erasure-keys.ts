// The statements of an erasure on the vault: who is meant, which keys go, and that they are gone.
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

interface KeyRow {
  readonly subjectRef: string
}

const refs = (rows: readonly KeyRow[]): string[] => rows.map((row) => row.subjectRef)

/** Remembers whom an erasure is about until it is carried out, as a keyed hash. */
export async function noteErasure(db: Database, erasureId: string, lookup: Buffer): Promise<void> {
  await run(
    db,
    'note_erasure',
    `insert into vault.erasure (erasure_id, lookup) values ($1, $2) on conflict do nothing`,
    [erasureId, lookup],
  )
}

/** Whether a planned erasure is about the subject of this lookup. */
export async function isErasureOf(
  db: Database,
  erasureId: string,
  lookup: Buffer,
): Promise<boolean> {
  const rows = await run(
    db,
    'is_erasure_of',
    `select from vault.erasure where erasure_id = $1 and lookup = $2`,
    [erasureId, lookup],
  )
  return rows.length > 0
}

/** The keys that protect data of the subject: its own, and those of sets that it belongs to. */
export async function findKeysOfSubject(db: Database, lookup: Buffer): Promise<string[]> {
  return refs(
    await run<KeyRow>(
      db,
      'find_keys_of_subject',
      `select subject_ref as "subjectRef" from vault.subject_key where lookup = $1
       union select subject_ref from vault.subject_member where member_lookup = $1`,
      [lookup],
    ),
  )
}

/**
 * Takes the subject's keys out of the map from people to keys, in one statement with the list of them;
 * whatever is recorded of that person afterwards gets new keys. Safe to repeat.
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
     update vault.subject_key s set lookup = null from keys k where s.subject_ref = k.subject_ref`,
    [erasureId],
  )
}

/** The keys that an erasure has detached, in order. */
export async function readDetachedKeys(db: Database, erasureId: string): Promise<string[]> {
  return refs(
    await run<KeyRow>(
      db,
      'read_detached_keys',
      `select subject_ref as "subjectRef" from vault.erasure_key where erasure_id = $1
       order by subject_ref`,
      [erasureId],
    ),
  )
}

/** Destroys keys; answers how many there were. */
export async function destroyKeys(db: Database, subjectRefs: readonly Buffer[]): Promise<number> {
  const rows = await run(
    db,
    'destroy_keys',
    `delete from vault.subject_key where subject_ref = any($1::uuid[]) returning subject_ref`,
    [BINARY.uuid.encode(subjectRefs)],
  )
  return rows.length
}

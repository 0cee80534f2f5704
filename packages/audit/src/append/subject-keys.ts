// The statements on vault.subject_key, in a database that only the auditor reaches.
import { run } from '../database.ts'
import type { Database } from '../database.ts'
import { BINARY } from '@baton/postgres'

export interface SubjectKeyRow {
  readonly subjectRef: string
  /** Null once the map from the person to the key is gone. */
  readonly lookup: Buffer | null
  readonly wrappedKey: Buffer
  readonly wrappingKeyId: string
}

/** A row to store unless its lookup is known already. */
export interface SubjectKeyCandidate {
  readonly subjectRef: Buffer
  readonly lookup: Buffer
  /** Those whose data a key of a set protects; empty for the key of one subject. */
  readonly memberLookups: readonly Buffer[]
  readonly wrappedKey: Buffer
  readonly wrappingKeyId: string
}

const COLUMNS = `subject_ref as "subjectRef", lookup, wrapped_key as "wrappedKey",
  wrapping_key_id as "wrappingKeyId"`

/** The rows of those of `lookups` that are known. */
export function findSubjectKeys(
  db: Database,
  lookups: readonly Buffer[],
): Promise<SubjectKeyRow[]> {
  return run<SubjectKeyRow>(
    db,
    'find_subject_keys',
    `select ${COLUMNS} from vault.subject_key where lookup = any($1::bytea[])`,
    [BINARY.bytea.encode(lookups)],
  )
}

/** The rows of those of `subjectRefs` whose key still exists. */
export function readSubjectKeys(
  db: Database,
  subjectRefs: readonly Buffer[],
): Promise<SubjectKeyRow[]> {
  return run<SubjectKeyRow>(
    db,
    'read_subject_keys',
    `select ${COLUMNS} from vault.subject_key where subject_ref = any($1::uuid[])`,
    [BINARY.uuid.encode(subjectRefs)],
  )
}

/** Stores the candidates whose lookup nobody else stored meanwhile. */
export async function addSubjectKeys(
  db: Database,
  candidates: readonly SubjectKeyCandidate[],
): Promise<void> {
  await run(
    db,
    'add_subject_keys',
    `with made as (
       insert into vault.subject_key (subject_ref, lookup, wrapped_key, wrapping_key_id)
       select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::text[])
       on conflict (lookup) do nothing returning subject_ref
     )
     insert into vault.subject_member (subject_ref, member_lookup)
     select m.subject_ref, m.member_lookup
     from unnest($5::uuid[], $6::bytea[]) as m (subject_ref, member_lookup)
     where m.subject_ref in (select subject_ref from made)`,
    [
      BINARY.uuid.encode(candidates.map((candidate) => candidate.subjectRef)),
      BINARY.bytea.encode(candidates.map((candidate) => candidate.lookup)),
      BINARY.bytea.encode(candidates.map((candidate) => candidate.wrappedKey)),
      candidates.map((candidate) => candidate.wrappingKeyId),
      BINARY.uuid.encode(candidates.flatMap((one) => one.memberLookups.map(() => one.subjectRef))),
      BINARY.bytea.encode(candidates.flatMap((one) => one.memberLookups)),
    ],
  )
}

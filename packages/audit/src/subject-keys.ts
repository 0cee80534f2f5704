// The statements on vault.subject_key, in a database that only the auditor reaches.
import { run } from './database.ts'
import type { Database } from './database.ts'
import { BYTEA, encodeArray, UUID } from './postgres-binary.ts'

export interface SubjectKeyRow {
  readonly subjectRef: string
  readonly lookup: Buffer
  readonly wrappedKey: Buffer
  readonly wrappingKeyId: string
}

/** A row to store unless its lookup is known already. */
export interface SubjectKeyCandidate {
  readonly subjectRef: Buffer
  readonly lookup: Buffer
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
    [encodeArray(BYTEA, lookups)],
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
    [encodeArray(UUID, subjectRefs)],
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
    `insert into vault.subject_key (subject_ref, lookup, wrapped_key, wrapping_key_id)
     select * from unnest($1::uuid[], $2::bytea[], $3::bytea[], $4::text[])
     on conflict (lookup) do nothing`,
    [
      encodeArray(
        UUID,
        candidates.map((candidate) => candidate.subjectRef),
      ),
      encodeArray(
        BYTEA,
        candidates.map((candidate) => candidate.lookup),
      ),
      encodeArray(
        BYTEA,
        candidates.map((candidate) => candidate.wrappedKey),
      ),
      candidates.map((candidate) => candidate.wrappingKeyId),
    ],
  )
}

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

const SUBJECT_KEYS = vault
  .selectFrom('vault.subject_key')
  .select(['subject_ref as subjectRef', 'lookup', 'wrapped_key as wrappedKey'])
  .select('wrapping_key_id as wrappingKeyId')

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
  wrappedKey: BINARY.bytea,
  wrappingKeyId: text,
})
const MEMBERS = columns({ subjectRef: BINARY.uuid, memberLookup: BINARY.bytea })
const ADD_KEYS = `with made as (
    insert into vault.subject_key (subject_ref, lookup, wrapped_key, wrapping_key_id)
    select * from ${KEYS.unnest('k')}
    on conflict (lookup) do nothing returning subject_ref
  )
  insert into vault.subject_member (subject_ref, member_lookup)
  select m.subject_ref, m.member_lookup from ${MEMBERS.unnest('m', { after: KEYS.width })}
  where m.subject_ref in (select subject_ref from made)`

/** Stores the candidates whose lookup nobody else stored meanwhile. */
export async function addSubjectKeys(
  db: Database,
  candidates: readonly SubjectKeyCandidate[],
): Promise<void> {
  const members = candidates.flatMap(({ subjectRef, memberLookups }) =>
    memberLookups.map((memberLookup) => ({ subjectRef, memberLookup })),
  )
  await run(db, 'add_subject_keys', ADD_KEYS, [
    ...KEYS.values(candidates),
    ...MEMBERS.values(members),
  ])
}

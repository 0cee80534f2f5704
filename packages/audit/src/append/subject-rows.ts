// A subject's row in the vault: wrapped with the current key, found under every key of the lookup ring, and put right where it is
// still under an earlier one.
import { createHmac, createSecretKey, randomBytes, randomUUID } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { codeOf, transient } from '@baton/runtime'
import { uuidBytes } from '@baton/ledger'
import type { Pool } from '../database.ts'
import type { KeyRing, LookupKey } from '../rotation/key-ring.ts'
import { openNames, sealNames, unwrapFrom, wrapWith } from '../rotation/subject-crypto.ts'
import type { SubjectNames } from '../rotation/subject-crypto.ts'
import { addSubjectKeys, findSubjectKeys, reindexSubjectKeys } from './subject-keys.ts'
import type {
  Lookup,
  SubjectIndex,
  SubjectKeyCandidate,
  SubjectKeyRow,
  SubjectReindex,
} from './subject-keys.ts'
import type { WrappingKey } from './wrapping-key.ts'

export interface SubjectKey {
  /** Random; says nothing about who the subject is. */
  readonly subjectRef: string
  readonly key: KeyObject
}

const KEY_BYTES = 32
const ROUNDS_MAX = 3

export type SubjectRows = ReturnType<typeof createSubjectRows>

/** How rows are made and opened with these rings; asks no database. */
export function createSubjectRows(wrapping: KeyRing<WrappingKey>, lookups: KeyRing<LookupKey>) {
  const lookupsOf = (name: string): readonly Lookup[] =>
    lookups.all.map((key) => lookupUnder(key, name))
  const unwrapRow = async (row: SubjectKeyRow): Promise<SubjectKey> => ({
    subjectRef: row.subjectRef,
    key: createSecretKey(await unwrapFrom(wrapping, row, row.subjectRef)),
  })

  async function indexOf(
    { subjectRef, key }: SubjectKey,
    names: SubjectNames,
  ): Promise<SubjectIndex> {
    const [own, ...earlier] = lookupsOf(names.name) as [Lookup, ...Lookup[]]
    return {
      ...own,
      subjectRef: uuidBytes(subjectRef),
      sealedNames: await sealNames(key, subjectRef, names),
      members: [...earlier, ...names.members.flatMap(lookupsOf)],
    }
  }

  async function candidate(names: SubjectNames): Promise<SubjectKeyCandidate> {
    const subjectRef = randomUUID()
    const secret = randomBytes(KEY_BYTES)
    const index = await indexOf({ subjectRef, key: createSecretKey(secret) }, names)
    return { ...index, ...(await wrapWith(wrapping.current, secret, subjectRef)) }
  }

  async function indexAgain(
    { lookup }: SubjectKeyRow,
    key: SubjectKey,
    names: SubjectNames,
  ): Promise<SubjectReindex> {
    const index = await indexOf(key, names)
    return { ...index, before: lookup as Buffer, spare: randomBytes(KEY_BYTES) }
  }

  /** Undefined where the row does not open, or keeps no names. */
  async function indexByNames(row: SubjectKeyRow): Promise<SubjectReindex | undefined> {
    const key = await unwrapRow(row).catch(unlessUnreadable)
    const names =
      key && row.sealedNames && (await openNames(key.key, row.subjectRef, row.sealedNames))
    return key && names && row.lookup !== null ? indexAgain(row, key, names) : undefined
  }

  return { lookupsOf, unwrapRow, candidate, indexAgain, indexByNames }
}

interface LoadParts {
  readonly db: Pool
  readonly rows: SubjectRows
  readonly lookups: KeyRing<LookupKey>
}

/**
 * Whoever stores a subject first decides its key, so what was stored is read back. One that stands under an earlier key, or
 * whose names are not kept yet, is put right at this chance: its name is known here. Throws BATON_VAULT_CONTENDED.
 */
export async function loadKeys(
  { db, rows, lookups }: LoadParts,
  names: readonly string[],
  membersOf: ReadonlyMap<string, readonly string[]>,
): Promise<ReadonlyMap<string, SubjectKey>> {
  const loaded = new Map<string, SubjectKey>()
  const missing = new Set(names)
  const stale: SubjectReindex[] = []
  for (let round = 0; round < ROUNDS_MAX && missing.size > 0; round += 1) {
    const nameOf = namesByLookup([...missing], rows.lookupsOf)
    const namesOf = (name: string) => ({ name, members: membersOf.get(name) ?? [] })
    if (round > 0) {
      const made = [...missing].map((name) => rows.candidate(namesOf(name)))
      await addSubjectKeys(db, await Promise.all(made))
    }
    const lookedUp = [...nameOf.keys()].map((lookup) => Buffer.from(lookup, 'hex'))
    const found = await findSubjectKeys(db, lookedUp)
    const keys = await Promise.all(found.map(rows.unwrapRow))
    for (const [at, row] of found.entries()) {
      const key = keys[at] as SubjectKey
      const name = nameOf.get(row.lookup?.toString('hex') ?? '') as string
      const isCurrent = row.lookupKeyId === lookups.current.id && row.sealedNames !== null
      if (!isCurrent) stale.push(await rows.indexAgain(row, key, namesOf(name)))
      // Two rows of one name: the one under the current key is used, and the other stays found as a member.
      if (!missing.has(name) && !isCurrent) continue
      loaded.set(name, key)
      missing.delete(name)
    }
  }
  if (stale.length > 0) await reindexSubjectKeys(db, stale)
  if (missing.size > 0) {
    throw transient('BATON_VAULT_CONTENDED', 'a subject key was erased while it was being made', {
      fix: 'Send the same entries again.',
    })
  }
  return loaded
}

const lookupUnder = ({ id, secret }: LookupKey, name: string): Lookup => ({
  lookupKeyId: id,
  lookup: createHmac('sha256', secret).update(name).digest(),
})

const namesByLookup = (
  names: readonly string[],
  lookupsOf: (name: string) => readonly Lookup[],
): ReadonlyMap<string, string> =>
  new Map(
    names.flatMap((name) =>
      lookupsOf(name).map(({ lookup }) => [lookup.toString('hex'), name] as const),
    ),
  )

/** A row that does not open stops none of the others. */
export function unlessUnreadable(error: unknown): undefined {
  if (codeOf(error) !== 'BATON_VAULT_KEY_UNREADABLE') throw error
  return undefined
}

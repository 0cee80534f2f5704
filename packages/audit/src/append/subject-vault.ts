// Every data subject has one key; here it is found or made, and remembered so that it costs nothing.
import { createHmac, createSecretKey, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { transient } from '@baton/runtime'
import { uuidBytes } from '@baton/ledger'
import type { Pool } from '../database.ts'
import { compareDefinitions } from '../verify/definitions.ts'
import type { DefinitionReport } from '../verify/definitions.ts'
import { addSubjectKeys, findSubjectKeys, readSubjectKeys } from './subject-keys.ts'
import type { SubjectKeyCandidate, SubjectKeyRow } from './subject-keys.ts'
import { readVaultKey } from './wrapping-key.ts'
import type { WrappingKey } from './wrapping-key.ts'

export interface SubjectKey {
  /** Random; says nothing about who the subject is. */
  readonly subjectRef: string
  readonly key: KeyObject
}

interface VaultOptions {
  readonly db: Pool
  readonly wrappingKey: WrappingKey
  /** 32 bytes, base64: finds a subject without storing who it is. */
  readonly lookupKey: string
  /** Milliseconds since 1970; the system clock by default. */
  readonly nowMs?: () => number
}

export interface SubjectVault {
  /** Names the wrapping key in records. */
  readonly wrappingKeyId: string
  /** Keys a hash of a request, so that no digest of message text can be guessed. */
  readonly requestKey: Buffer
  /**
   * The key of each named subject, made on first sight. The values name the members of a set of subjects
   * and are empty for one. No round trip when all are remembered, which is for at most a minute.
   */
  obtain(names: ReadonlyMap<string, readonly string[]>): Promise<ReadonlyMap<string, SubjectKey>>
  /** What stands in the vault instead of a name. */
  lookupOf(name: string): Buffer
  /** Drops every remembered key: one of them may have been erased. */
  forget(): void
  /** The keys that still exist, by subjectRef. */
  keysOf(subjectRefs: ReadonlySet<string>): Promise<ReadonlyMap<string, KeyObject>>
  /** Holds the schema of the vault to what its migrations made. */
  compareDefinitions(): Promise<DefinitionReport>
}

const KEY_BYTES = 32
const REMEMBERED_MAX = 20_000
/** How long a key that another process erased may stay in memory; it opens nothing new before that. */
const REMEMBERED_MS = 60_000
const ROUNDS_MAX = 3

/** Throws BATON_KEY_INVALID when the lookup key is not 32 bytes of base64. */
export function createSubjectVault({ db, nowMs = Date.now, ...keys }: VaultOptions): SubjectVault {
  const { wrappingKey } = keys
  const lookupKey = readVaultKey('lookup', keys.lookupKey)
  const remembered = new Map<string, SubjectKey>()
  let rememberedSinceMs = nowMs()

  const lookupOf = (name: string): Buffer => createHmac('sha256', lookupKey).update(name).digest()
  const unwrapRow = async ({ subjectRef, wrappedKey }: SubjectKeyRow): Promise<SubjectKey> => ({
    subjectRef,
    key: createSecretKey(await wrappingKey.unwrap(wrappedKey, subjectRef)),
  })

  // Whoever stores a subject first decides its key, so what was stored is read back.
  async function load(
    names: readonly string[],
    membersOf: ReadonlyMap<string, readonly string[]>,
  ): Promise<void> {
    const missing = new Map(names.map((name) => [lookupOf(name).toString('hex'), name]))
    for (let round = 0; round < ROUNDS_MAX && missing.size > 0; round += 1) {
      const lookups = [...missing.keys()].map((lookup) => Buffer.from(lookup, 'hex'))
      if (round > 0) {
        const made = [...missing].map(([lookup, name]) =>
          makeKey(wrappingKey, {
            lookup: Buffer.from(lookup, 'hex'),
            memberLookups: (membersOf.get(name) ?? []).map(lookupOf),
          }),
        )
        await addSubjectKeys(db, await Promise.all(made))
      }
      const rows = await findSubjectKeys(db, lookups)
      const keys = await Promise.all(rows.map(unwrapRow))
      for (const [index, key] of keys.entries()) {
        const lookup = rows[index]?.lookup?.toString('hex') ?? ''
        remembered.set(missing.get(lookup) as string, key)
        missing.delete(lookup)
      }
    }
    if (missing.size > 0) {
      throw transient('BATON_VAULT_CONTENDED', 'a subject key was erased while it was being made', {
        fix: 'Send the same entries again.',
      })
    }
  }

  function forget(): void {
    remembered.clear()
    rememberedSinceMs = nowMs()
  }

  return {
    wrappingKeyId: wrappingKey.id,
    requestKey: Buffer.from(hkdfSync('sha256', lookupKey, '', 'baton/request/v1', KEY_BYTES)),
    async obtain(names) {
      if (nowMs() - rememberedSinceMs > REMEMBERED_MS) forget()
      const named = [...names.keys()]
      const unknown = named.filter((name) => !remembered.has(name))
      if (remembered.size + unknown.length > REMEMBERED_MAX) forget()
      const wanted = named.filter((name) => !remembered.has(name))
      if (wanted.length > 0) await load(wanted, names)
      return new Map(named.map((name) => [name, remembered.get(name) as SubjectKey]))
    },
    lookupOf,
    forget,
    compareDefinitions: () => compareDefinitions(db, 'vault'),
    async keysOf(subjectRefs) {
      const rows = await readSubjectKeys(db, [...subjectRefs].map(uuidBytes))
      const keys = await Promise.all(rows.map(unwrapRow))
      return new Map(keys.map(({ subjectRef, key }) => [subjectRef, key]))
    },
  }
}

async function makeKey(
  wrappingKey: WrappingKey,
  lookups: Pick<SubjectKeyCandidate, 'lookup' | 'memberLookups'>,
): Promise<SubjectKeyCandidate> {
  const subjectRef = randomUUID()
  return {
    ...lookups,
    subjectRef: uuidBytes(subjectRef),
    wrappedKey: await wrappingKey.wrap(randomBytes(KEY_BYTES), subjectRef),
    wrappingKeyId: wrappingKey.id,
  }
}

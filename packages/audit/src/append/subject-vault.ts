// Every data subject has one key; here it is found or made, and remembered so that it costs nothing.
import { hkdfSync } from 'node:crypto'
import type { KeyObject } from 'node:crypto'
import { uuidBytes } from '@baton/ledger'
import type { Pool } from '../database.ts'
import { readLookupKeys, ringOf } from '../rotation/key-ring.ts'
import type { KeyRing, LookupKey } from '../rotation/key-ring.ts'
import { keepRequestKeys, openRequestKeys, readRequestKeyRows } from '../rotation/request-keys.ts'
import { compareDefinitions } from '../verify/definitions.ts'
import type { DefinitionReport } from '../verify/definitions.ts'
import type { WrappingKeys } from './open-wrapping-key.ts'
import { readSubjectKeys, reindexSubjectKeys } from './subject-keys.ts'
import type { Lookup, SubjectKeyRow } from './subject-keys.ts'
import { createSubjectRows, loadKeys } from './subject-rows.ts'
import type { SubjectKey } from './subject-rows.ts'
import type { WrappingKey } from './wrapping-key.ts'

export type { SubjectKey } from './subject-rows.ts'

interface VaultOptions {
  readonly db: Pool
  readonly wrappingKey: WrappingKey
  /** Those that something in the vault may still be under. */
  readonly earlierKeys?: WrappingKeys['earlierKeys']
  /** Finds a subject without storing who it is: 32 bytes in base64, and each earlier key behind it, separated by commas. */
  readonly lookupKey: string
  /** Milliseconds since 1970; the system clock by default. */
  readonly nowMs?: () => number
}

export interface SubjectVault {
  /** Names the wrapping key in records. */
  readonly wrappingKeyId: string
  readonly wrapping: KeyRing<WrappingKey>
  readonly lookups: KeyRing<LookupKey>
  /** Keys a hash of a request, so that no digest of message text can be guessed. */
  readonly requestKey: Buffer
  /** That key, and those of every lookup key that there was, also of one that was taken out. */
  requestKeys(): Promise<readonly Buffer[]>
  /** Keeps the request key of every earlier lookup key, for when that key has been taken out. */
  keepRequestKeys(): Promise<void>
  /**
   * The key of each named subject, made on first sight. The values name the members of a set of subjects
   * and are empty for one. No round trip when all are remembered, which is for at most a minute.
   */
  obtain(names: ReadonlyMap<string, readonly string[]>): Promise<ReadonlyMap<string, SubjectKey>>
  /** What stands in the vault instead of a name, under each key of the ring; the current one first. */
  lookupsOf(name: string): readonly Lookup[]
  /** Puts rows that keep their names under the current lookup key; answers how many could be. */
  reindex(rows: readonly SubjectKeyRow[]): Promise<number>
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

/** Throws BATON_KEY_INVALID when a lookup key is not 32 bytes of base64. */
export function createSubjectVault({ db, nowMs = Date.now, ...keys }: VaultOptions): SubjectVault {
  const wrapping = ringOf(keys.wrappingKey, keys.earlierKeys ?? [])
  const lookups = readLookupKeys(keys.lookupKey)
  const remembered = new Map<string, SubjectKey>()
  let rememberedSinceMs = nowMs()

  const rows = createSubjectRows(wrapping, lookups)
  function forget(): void {
    remembered.clear()
    rememberedSinceMs = nowMs()
  }

  const requestKeys = lookups.all.map(requestKeyOf)
  return {
    wrappingKeyId: wrapping.current.id,
    wrapping,
    lookups,
    requestKey: requestKeyOf(lookups.current),
    async requestKeys() {
      const kept = await readRequestKeyRows(db)
      const gone = kept.filter(({ lookupKeyId }) => lookups.find(lookupKeyId) === undefined)
      return [...requestKeys, ...(await openRequestKeys(wrapping, gone))]
    },
    async keepRequestKeys() {
      const kept = (await readRequestKeyRows(db)).map(({ lookupKeyId }) => lookupKeyId)
      const missing = lookups.earlier.filter(({ id }) => !kept.includes(id))
      const own = missing.map((key) => ({ lookupKeyId: key.id, key: requestKeyOf(key) }))
      if (own.length > 0) await keepRequestKeys(db, wrapping.current, own)
    },
    async obtain(names) {
      if (nowMs() - rememberedSinceMs > REMEMBERED_MS) forget()
      const named = [...names.keys()]
      const unknown = named.filter((name) => !remembered.has(name))
      if (remembered.size + unknown.length > REMEMBERED_MAX) forget()
      const wanted = named.filter((name) => !remembered.has(name))
      if (wanted.length > 0) {
        for (const [name, key] of await loadKeys({ db, rows, lookups }, wanted, names)) {
          remembered.set(name, key)
        }
      }
      return new Map(named.map((name) => [name, remembered.get(name) as SubjectKey]))
    },
    lookupsOf: rows.lookupsOf,
    async reindex(stored) {
      const indexes = await Promise.all(stored.map(rows.indexByNames))
      const again = indexes.filter((one) => one !== undefined)
      return again.length === 0 ? 0 : reindexSubjectKeys(db, again)
    },
    forget,
    compareDefinitions: () => compareDefinitions(db, 'vault'),
    async keysOf(subjectRefs) {
      const stored = await readSubjectKeys(db, [...subjectRefs].map(uuidBytes))
      const keys = await Promise.all(stored.map(rows.unwrapRow))
      return new Map(keys.map(({ subjectRef, key }) => [subjectRef, key]))
    },
  }
}

const requestKeyOf = ({ secret }: LookupKey): Buffer =>
  Buffer.from(hkdfSync('sha256', secret, '', 'baton/request/v1', KEY_BYTES))

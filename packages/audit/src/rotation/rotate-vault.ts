// Puts everything in the vault under the current wrapping and lookup key, a bounded set at a time. Every set is a statement of its
// own that changes only what still is what was read: a crash between any two loses nothing, and an erasure always wins.
import { uuidBytes } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { Pool } from '../database.ts'
import { unlessUnreadable } from '../append/subject-rows.ts'
import type { SubjectVault } from '../append/subject-vault.ts'
import type { WrappingKey } from '../append/wrapping-key.ts'
import type { SubjectKeyRow } from '../append/subject-keys.ts'
import type { KeyRing, VaultKey } from './key-ring.ts'
import { readRequestKeyRows, requestContext } from './request-keys.ts'
import {
  adoptRows,
  dropForeignLookups,
  findLookedUpWith,
  findWrappedWith,
  readKeyIds,
  readLookupUse,
  readWrappingUse,
  SET_MAX,
  storeRewrapped,
  storeRewrappedRequestKey,
} from './rotation-rows.ts'
import type { KeyUse, Rewrapped } from './rotation-rows.ts'
import { unwrapFrom, wrapWith } from './subject-crypto.ts'

interface VaultParts {
  /** Connected as vault_keeper. */
  readonly db: Pool
  readonly vault: SubjectVault
}

/** How far the vault has come under one of its keys. */
export interface KeyProgress {
  readonly current: string
  /** Rows under each earlier key of the ring; 0 says that the key can be taken out. */
  readonly earlier: readonly KeyUse[]
  /** Rows under keys that the ring does not have: they open, or are found, nowhere. */
  readonly missing: readonly KeyUse[]
}

export type VaultProgress = Readonly<Record<VaultKey, KeyProgress>>

/** What is left to put under the current keys, and what is under keys that are not there. */
export async function readVaultProgress({ db, vault }: VaultParts): Promise<VaultProgress> {
  const lookupIds = vault.lookups.all.map(({ id }) => id)
  const [wrapping, lookup] = [await readWrappingUse(db), await readLookupUse(db, lookupIds)]
  return {
    wrapping: progressOf(vault.wrapping, wrapping),
    lookup: progressOf(vault.lookups, lookup),
  }
}

function progressOf(ring: KeyRing<{ readonly id: string }>, uses: readonly KeyUse[]): KeyProgress {
  const under = new Map<string, KeyUse>()
  for (const use of uses) {
    // From before ids were kept: under the key that was the only one.
    const keyId = use.keyId === '' ? ring.earliest.id : use.keyId
    const { rows = 0, unnamed = 0 } = under.get(keyId) ?? {}
    under.set(keyId, { keyId, rows: rows + use.rows, unnamed: unnamed + use.unnamed })
  }
  return {
    current: ring.current.id,
    earlier: ring.earlier.map(({ id }) => under.get(id) ?? { keyId: id, rows: 0, unnamed: 0 }),
    missing: [...under.values()].filter(({ keyId }) => ring.find(keyId) === undefined),
  }
}

/** Throws BATON_KEY_MISSING where something is under a key that the ring does not have. */
export async function requireVaultKeys({ db, vault }: VaultParts): Promise<void> {
  const lookupIds = vault.lookups.all.map(({ id }) => id)
  const ids = await readKeyIds(db, lookupIds)
  const isMissing = (ring: KeyRing<{ readonly id: string }>, used: readonly string[]) =>
    used.some((id) => id !== '' && ring.find(id) === undefined)
  if (!isMissing(vault.wrapping, ids.wrapping) && !isMissing(vault.lookups, ids.lookup)) return
  const progress = await readVaultProgress({ db, vault })
  for (const kind of ['wrapping', 'lookup'] as const) {
    const [first] = progress[kind].missing
    if (first !== undefined) throw missing(kind, first)
  }
}

const SETTINGS = {
  wrapping: 'BATON_AUDIT_WRAPPING_KEY',
  lookup: 'BATON_AUDIT_LOOKUP_KEY',
} as const

const missing = (kind: VaultKey, { keyId, rows }: KeyUse) =>
  permanent(
    'BATON_KEY_MISSING',
    `${rows} rows of the vault are under the ${kind} key ${keyId}, which ${SETTINGS[kind]} does not hold`,
    {
      fix: `Put that key back behind the current one, separated by a comma, until \`baton doctor\` says that nothing is under it.`,
    },
  )

export interface VaultRotation {
  /** Moves at most one set of each kind; answers how many rows it moved. 0: nothing more can be done now. */
  step(): Promise<number>
}

/** Rows that do not open are passed over until the next round, so that one of them stops none behind it. */
export function createVaultRotation({ db, vault }: VaultParts): VaultRotation {
  const rewrap = inSets(vault.wrapping, findWrappedWith, async (rows) => {
    const moved = await Promise.all(rows.map((row) => rewrapped(vault.wrapping, row)))
    return storeRewrapped(
      db,
      moved.filter((row) => row !== undefined),
    )
  })
  const reindex = inSets(vault.lookups, findLookedUpWith, (rows) => vault.reindex(rows))

  async function rewrapRequestKeys(): Promise<number> {
    const { current } = vault.wrapping
    const rows = await readRequestKeyRows(db)
    const old = rows.filter(({ wrappingKeyId }) => wrappingKeyId !== current.id)
    for (const row of old) {
      const context = requestContext(row.lookupKeyId)
      const key = await unwrapFrom(vault.wrapping, row, context)
      const wrapped = await wrapWith(current, key, context)
      await storeRewrappedRequestKey(db, { ...row, ...wrapped }, row.wrappedKey)
    }
    return old.length
  }

  /** The ids of keys are few, and a set of one at a time is enough. */
  function inSets(
    { earlier }: KeyRing<{ readonly id: string }>,
    find: (db: Pool, keyId: string, after?: string) => Promise<SubjectKeyRow[]>,
    move: (rows: readonly SubjectKeyRow[]) => Promise<number>,
  ): () => Promise<number> {
    const after = new Map<string, string>()
    return async () => {
      let moved = 0
      for (const { id } of earlier) {
        const rows = await find(db, id, after.get(id))
        if (rows.length < SET_MAX) after.delete(id)
        else after.set(id, rows.at(-1)?.subjectRef as string)
        if (rows.length > 0) moved += await move(rows)
      }
      return moved
    }
  }

  return {
    async step() {
      const adopted = await adoptRows(db, vault.lookups.earliest.id)
      if (adopted > 0) return adopted
      const requestKeys = await rewrapRequestKeys()
      const moved = (await rewrap()) + (await reindex())
      const gone = await dropForeignLookups(
        db,
        vault.lookups.all.map(({ id }) => id),
      )
      return requestKeys + moved + gone
    },
  }
}

/** Undefined where the row does not open: what cannot be read is not this one's work. */
async function rewrapped(
  ring: KeyRing<WrappingKey>,
  row: SubjectKeyRow,
): Promise<Rewrapped | undefined> {
  const key = await unwrapFrom(ring, row, row.subjectRef).catch(unlessUnreadable)
  if (key === undefined) return undefined
  const wrapped = await wrapWith(ring.current, key, row.subjectRef)
  return { ...wrapped, subjectRef: uuidBytes(row.subjectRef), before: row.wrappedKey }
}

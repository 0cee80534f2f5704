// One entry of the seal log: the size and root of every chain at one moment, so none can go missing.
import { decodeUtf8, encodeUtf8, fromBase64 } from './bytes.ts'
import { canonicalJson } from './canonical-json.ts'
import { parseInstant } from './instant.ts'
import { LedgerError } from './ledger-error.ts'

export interface SealedChain {
  readonly origin: string
  readonly size: number
  /** The root at `size` in base64. */
  readonly root: string
}

export interface SealEntry {
  readonly v: 1
  /** When it was sealed, as `formatInstant` writes it. */
  readonly at: string
  /** Every chain there is, sorted by origin. */
  readonly chains: readonly SealedChain[]
}

/** Why one seal cannot follow another. */
export type SealFault = 'EARLIER' | 'CHAIN_MISSING' | 'CHAIN_SHRANK' | 'ROOT_CHANGED'

/** The canonical bytes of an entry. Throws BATON_NOTE_INVALID when it is not one. */
export function formatSealEntry(entry: SealEntry): Uint8Array {
  const bytes = encodeUtf8(canonicalJson(entry))
  if (readSealEntry(bytes) !== undefined) return bytes
  throw new LedgerError('BATON_NOTE_INVALID', 'a seal entry lists each chain once, by origin')
}

/** Reads the exact bytes that `formatSealEntry` writes; undefined for any others. */
export function readSealEntry(bytes: Uint8Array): SealEntry | undefined {
  const text = decodeUtf8(bytes)
  if (text === undefined) return undefined
  let entry: unknown
  try {
    entry = JSON.parse(text)
    if (!isSealEntry(entry) || canonicalJson(entry) !== text) return undefined
  } catch {
    return undefined
  }
  return entry
}

const hasMembers = (value: unknown, names: string): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && Object.keys(value).sort().join() === names

function isSealEntry(value: unknown): value is SealEntry {
  if (!hasMembers(value, 'at,chains,v') || value['v'] !== 1) return false
  const { at, chains } = value
  if (typeof at !== 'string' || parseInstant(at) === undefined) return false
  if (!Array.isArray(chains) || chains.length === 0 || !chains.every(isSealedChain)) return false
  return chains.every(
    (chain, index) => index === 0 || (chains[index - 1] as SealedChain).origin < chain.origin,
  )
}

function isSealedChain(value: unknown): value is SealedChain {
  if (!hasMembers(value, 'origin,root,size')) return false
  const { origin, root, size } = value
  const isRoot = typeof root === 'string' && fromBase64(root)?.length === 32
  return typeof origin === 'string' && origin !== '' && isRoot && isCount(size)
}

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0

/**
 * What keeps `next` from following `previous`; undefined when nothing visible does. Roots of chains
 * that grew are for a consistency proof to compare.
 */
export function sealFault(previous: SealEntry, next: SealEntry): SealFault | undefined {
  if (next.at <= previous.at) return 'EARLIER'
  const chains = new Map(next.chains.map((chain) => [chain.origin, chain]))
  for (const before of previous.chains) {
    const after = chains.get(before.origin)
    if (after === undefined) return 'CHAIN_MISSING'
    if (after.size < before.size) return 'CHAIN_SHRANK'
    if (after.size === before.size && after.root !== before.root) return 'ROOT_CHANGED'
  }
  return undefined
}

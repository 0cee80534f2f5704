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

/** What the map from tasks to their last records says, and how far it reaches. */
export interface SealedTasks {
  /** When the last seal was made whose records the map holds. */
  readonly at: string
  /** The root of the map in base64. */
  readonly root: string
  /** The map holds the records under the first so many seals. */
  readonly seals: number
  /** How many records of each chain those are, in the order of `chains`. */
  readonly sizes: readonly number[]
  /**
   * How many first records of each chain had expired when the map was made anew of what was left: a task all of whose records stood among them is
   * not in it, so it cannot say that there never was such a task. Left out where the map knows every task.
   */
  readonly begins?: readonly number[]
}

/** From which key to which the seal log was handed, in the last entry whose checkpoints the key of before signs. */
export interface Handover {
  /** Verifier keys under the name of the seal log. */
  readonly from: string
  readonly to: string
  /** The new key's signature over `handoverStatement`, in base64. */
  readonly proof: string
}

/** Version 1 has no `tasks`, version 2 has them, and version 3 follows a hand-over or is one. */
export interface SealEntry {
  readonly v: 1 | 2 | 3
  /** When it was sealed, as `formatInstant` writes it. */
  readonly at: string
  /** Every chain there is, sorted by origin. */
  readonly chains: readonly SealedChain[]
  readonly tasks?: SealedTasks
  /** Where in the log its hand-overs stand, this entry's own included: nobody has to search for one. Left out while there was none. */
  readonly handovers?: readonly number[]
  readonly handover?: Handover
}

/** Each is named by every entry behind it: as many as a key that is changed every month has in ten years. */
export const HANDOVERS_MAX = 120

/** Why one seal cannot follow another. */
export type SealFault =
  | 'EARLIER'
  | 'CHAIN_MISSING'
  | 'CHAIN_SHRANK'
  | 'ROOT_CHANGED'
  | 'TASKS_MISSING'
  | 'TASKS_SHRANK'
  | 'HANDOVERS_CHANGED'

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
  if (!hasVersion(value)) return false
  const { at, chains } = value
  if (typeof at !== 'string' || parseInstant(at) === undefined) return false
  if (!Array.isArray(chains) || chains.length === 0 || !chains.every(isSealedChain)) return false
  if ('tasks' in value && !areSealedTasks(value['tasks'], { at, chains })) return false
  if ('handovers' in value && !arePlaces(value['handovers'])) return false
  if ('handover' in value && !isHandover(value['handover'])) return false
  return chains.every(
    (chain, index) => index === 0 || (chains[index - 1] as SealedChain).origin < chain.origin,
  )
}

/** By their members: there is one version for each set of them. */
function hasVersion(value: unknown): value is Readonly<Record<string, unknown>> {
  if (hasMembers(value, 'at,chains,v')) return value['v'] === 1
  if (hasMembers(value, 'at,chains,tasks,v')) return value['v'] === 2
  const isThird =
    hasMembers(value, 'at,chains,handovers,v') ||
    hasMembers(value, 'at,chains,handovers,tasks,v') ||
    hasMembers(value, 'at,chains,handover,handovers,v') ||
    hasMembers(value, 'at,chains,handover,handovers,tasks,v')
  return isThird && value['v'] === 3
}

/** Before the first entry there is no key that could hand anything over. */
const arePlaces = (value: unknown): boolean =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= HANDOVERS_MAX &&
  value.every((place, at) => isCount(place) && place > (at === 0 ? 0 : (value[at - 1] as number)))

function isHandover(value: unknown): value is Handover {
  if (!hasMembers(value, 'from,proof,to')) return false
  const { from, to, proof } = value
  if (typeof from !== 'string' || typeof to !== 'string') return false
  return typeof proof === 'string' && fromBase64(proof)?.length === 64
}

function isSealedChain(value: unknown): value is SealedChain {
  if (!hasMembers(value, 'origin,root,size')) return false
  const { origin, root, size } = value
  const isRoot = typeof root === 'string' && fromBase64(root)?.length === 32
  return typeof origin === 'string' && origin !== '' && isRoot && isCount(size)
}

/** A map reaches no further than its seal. */
function areSealedTasks(
  value: unknown,
  { at: sealedAt, chains }: Pick<SealEntry, 'at' | 'chains'>,
): boolean {
  const isCut = hasMembers(value, 'at,begins,root,seals,sizes')
  if (!isCut && !hasMembers(value, 'at,root,seals,sizes')) return false
  const { at, root, seals, sizes, begins = [] } = value
  if (typeof at !== 'string' || parseInstant(at) === undefined || at > sealedAt) return false
  if (typeof root !== 'string' || fromBase64(root)?.length !== 32 || !isCount(seals)) return false
  if (!Array.isArray(sizes) || sizes.length !== chains.length) return false
  const areSizes = sizes.every((size, at) => {
    return isCount(size) && size <= (chains[at] as SealedChain).size
  })
  return areSizes && (!isCut || areBegins(begins, sizes))
}

/** Some chain begins late, and none behind what the map holds. */
const areBegins = (begins: unknown, sizes: readonly number[]): boolean =>
  Array.isArray(begins) &&
  begins.length === sizes.length &&
  begins.every((begin, at) => isCount(begin) && begin <= (sizes[at] as number)) &&
  begins.some((begin) => begin > 0)

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
  return tasksFault(previous.tasks, next.tasks) ?? handoversFault(previous, next)
}

/** Those of before stay named, and a hand-over adds itself. */
function handoversFault({ handovers: before = [] }: SealEntry, next: SealEntry) {
  const { handovers = [], handover } = next
  const kept = handover === undefined ? handovers : handovers.slice(0, -1)
  return String(kept) === String(before) ? undefined : 'HANDOVERS_CHANGED'
}

function tasksFault(before: SealedTasks | undefined, after: SealedTasks | undefined) {
  if (before === undefined) return undefined
  if (after === undefined) return 'TASKS_MISSING'
  if (after.seals < before.seals) return 'TASKS_SHRANK'
  return after.seals === before.seals && after.root !== before.root ? 'ROOT_CHANGED' : undefined
}

// Reading what is kept: each thing is a handoff, or is named with the reason why it is none.
import { readHandoffBytes } from '@baton/protocol/dialects/handoff-v01'
import type { OfferedHandoff, Validation } from '@baton/protocol/dialects/handoff-v01'
import { ambiguous, unknown } from './refusals.ts'
import type { Entry, OfferStorage } from './storage.ts'

/** Something that is kept among the handoffs and is none. */
export interface ForeignEntry {
  readonly name: string
  /** Why, without a word of what stands there. */
  readonly reason: string
}

export interface ReadEntry {
  readonly name: string
  readonly handoff: OfferedHandoff
  readonly version: string
}

/** Everything that is kept, in the order of names. */
export async function* readAll(
  storage: OfferStorage,
  validation: Validation,
): AsyncIterable<ReadEntry | ForeignEntry> {
  for await (const entry of storage.listAll()) yield readEntry(entry, validation)
}

function readEntry(entry: Entry, validation: Validation): ReadEntry | ForeignEntry {
  const { name } = entry
  if ('unreadable' in entry) return { name, reason: entry.unreadable }
  const read = readHandoffBytes(entry.bytes, validation)
  if (!read.ok) return { name, reason: read.reason }
  if (entry.isPlaceOf(read.handoff.task_id))
    return { name, handoff: read.handoff, version: entry.version }
  return { name, reason: 'is not named after its task_id' }
}

/** The handoff of this id, or the only one whose id begins so. Throws BATON_OFFER_UNKNOWN and BATON_OFFER_AMBIGUOUS. */
export async function findByPrefix(
  storage: OfferStorage,
  { prefix, validation }: { readonly prefix: string; readonly validation: Validation },
): Promise<OfferedHandoff> {
  let found: OfferedHandoff | undefined
  let isAmbiguous = false
  for await (const entry of readAll(storage, validation)) {
    if ('reason' in entry || !entry.handoff.task_id.startsWith(prefix)) continue
    if (entry.handoff.task_id === prefix) return entry.handoff
    isAmbiguous = found !== undefined
    found = entry.handoff
  }
  if (isAmbiguous) throw ambiguous(prefix)
  if (found === undefined) throw unknown(prefix)
  return found
}

// Where v0.1 handoffs are kept: any backend that replaces a text only where nobody else has meanwhile.
import { hash } from 'node:crypto'

/** A handoff's JSON as it is kept. */
export interface StoredText {
  readonly bytes: Uint8Array
  /** Differs whenever the bytes do. */
  readonly version: string
}

/** One thing that is kept: JSON, or what could not even be read. */
export type Entry =
  | (StoredText & {
      readonly name: string
      /** Whether it stands where a handoff of this id is looked for. */
      readonly isPlaceOf: (taskId: string) => boolean
    })
  | { readonly name: string; readonly unreadable: string }

export interface OfferStorage {
  /** Undefined where no handoff of this id is kept. */
  load(taskId: string): Promise<StoredText | undefined>
  /**
   * Keeps the text where what is kept now has the version `expected`, or where nothing is kept and it is undefined;
   * answers false otherwise. Of any number of processes that expect the same version one is answered true. When it
   * resolves the text survives a power cut. A reader sees the text before or the new one, whole.
   */
  save(taskId: string, text: string, expected: string | undefined): Promise<boolean>
  /** Everything that is kept, in the order of names. */
  listAll(): AsyncIterable<Entry>
  /** Calls back when something may have changed, where the backend can tell; answers how to stop. */
  watch?(changed: () => void): () => void
}

/** By their bytes, as every backend has them. */
export const inOrderOfNames = (one: string, other: string): number =>
  Buffer.compare(Buffer.from(one), Buffer.from(other))

export const versionOf = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')

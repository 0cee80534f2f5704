// Where a seal is shown to somebody else: one interface for files, witnesses and locked object stores.
import { openSealNote } from '@baton/ledger'
import type { Checkpoint } from '@baton/ledger'
import { permanent } from '@baton/runtime'
import type { SealLogKeys } from '../read-seal-keys.ts'

/** A signed checkpoint of the seal log, with what it takes to show that it extends an older one. */
export interface AnchoredCheckpoint {
  /** The signed note. */
  readonly note: string
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
  /** Hashes that prove it extends the log's first `fromSize` entries. */
  prove(fromSize: number): Promise<readonly Uint8Array[]>
}

/** What an anchor said to a checkpoint. */
export type AnchorOutcome =
  /** Kept. `note` is the checkpoint as it stands there, with cosignatures where there are any; a witness signs what time it is. */
  | { readonly kind: 'kept'; readonly note: string; readonly atSeconds?: number | null }
  /** It knows a longer log, or another one of the same size: this one must not be signed further. */
  | { readonly kind: 'conflict'; readonly message: string }

export interface Anchor {
  /** Names it in logs and in the sealer's state. */
  readonly name: string
  /** Safe to repeat. Throws transient errors while the anchor does not answer. */
  publish(checkpoint: AnchoredCheckpoint): Promise<AnchorOutcome>
  /** What it has seen last; undefined when it has seen nothing of this log. Throws as `publish` does. */
  latest(): Promise<AnchoredHead | undefined>
}

export interface AnchoredHead {
  readonly size: number
  /** Null where the anchor tells only the size. */
  readonly root: Uint8Array | null
  /** When it was seen there, by the anchor's own word; RFC 3339. */
  readonly at?: string | null
}

/** Which log an anchor keeps. Asked only when its own word was read: what it has seen, the log had before. */
export type AnchoredLog = () => Promise<SealLogKeys>

/**
 * The checkpoint in a note that the key in force at its size signed. Throws BATON_SEAL_FORKED where a key signed that was not in force, and
 * BATON_ANCHOR_FOREIGN for any other note.
 */
export function readAnchored(note: string, { origin, keys }: SealLogKeys): Checkpoint {
  const opened = openSealNote(note, origin, keys)
  if (opened.ok) return opened.checkpoint
  if (opened.reason === 'retired') throw forked(origin)
  throw permanent(
    'BATON_ANCHOR_FOREIGN',
    `an anchor holds what the key of ${origin} did not sign`,
    {
      fix: 'Give the sealer its own key and its own anchors; if they are, the anchor was tampered with.',
    },
  )
}

const forked = (origin: string) =>
  permanent(
    'BATON_SEAL_FORKED',
    `an anchor holds a checkpoint of ${origin} by a key that was not in force at its size`,
    {
      fix: 'Somebody has a key of the seal log that was handed over. Keep both logs as evidence, and ask who held it.',
    },
  )

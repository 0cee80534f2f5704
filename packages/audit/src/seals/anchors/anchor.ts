// Where a seal is shown to somebody else: one interface for files, witnesses and locked object stores.
import { encodeUtf8, openNote, parseCheckpoint } from '@baton/ledger'
import type { Checkpoint, VerifierKey } from '@baton/ledger'
import { permanent } from '@baton/runtime'

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

/** The checkpoint in a note that `key` signed. Throws BATON_ANCHOR_FOREIGN for any other note. */
export function readAnchored(note: string, key: VerifierKey): Checkpoint {
  const opened = openNote(encodeUtf8(note), [key])
  const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined
  if (checkpoint?.origin === key.name) return checkpoint
  throw permanent(
    'BATON_ANCHOR_FOREIGN',
    `an anchor holds what the key of ${key.name} did not sign`,
    {
      fix: 'Give the sealer its own key and its own anchors; if they are, the anchor was tampered with.',
    },
  )
}

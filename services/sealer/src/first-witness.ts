// The witness that decides between sealers: of two seals of one size it cosigns the first, and only that one is published.
import { readWitnessed } from '@baton/audit'
import type { Anchor, AnchorOutcome, Pool } from '@baton/audit'
import { encodeUtf8, equalBytes, openNote, parseCheckpoint } from '@baton/ledger'
import type { Checkpoint, VerifierKey } from '@baton/ledger'
import { checkpointOf } from './anchoring.ts'
import type { SealerState } from './state-file.ts'

export interface FirstWitness {
  readonly anchor: Anchor
  /** Its answer to the newest seal of a state, which no other seal of that size can get any more once it is cosigned. */
  cosign(state: SealerState): Promise<AnchorOutcome>
  /** The newest checkpoint of this log in the database that it cosigned: its signature says so, not the database. */
  seen(): Promise<Checkpoint | undefined>
}

interface FirstWitnessOptions {
  readonly pool: Pool
  readonly anchor: Anchor
  readonly key: VerifierKey
  /** Of the log that is sealed: the same witness may cosign others too. */
  readonly origin: string
}

export function createFirstWitness(options: FirstWitnessOptions): FirstWitness {
  const { pool, anchor, key, origin } = options
  return {
    anchor,
    cosign: (state) => anchor.publish(checkpointOf(state, { pool, anchor })),
    async seen() {
      const witnessed = await readWitnessed(pool)
      const opened = witnessed && openNote(encodeUtf8(witnessed.note), [key])
      const checkpoint = opened?.ok === true ? parseCheckpoint(opened.text) : undefined
      return checkpoint?.origin === origin ? checkpoint : undefined
    },
  }
}

export const isTreeOf = (
  { size, root }: Checkpoint,
  tree: { readonly size: number; root(): Uint8Array },
): boolean => size === tree.size && equalBytes(root, tree.root())

// What the sealer wrote down last, as somebody sees it who only reads: nobody else's word of the seal log is newer.
import { compactRangeFromState, formatSealEntry } from '@baton/ledger'
import type { SealEntry, TreeState } from '@baton/ledger'
import { permanent, readRegularFile } from '@baton/runtime'

export interface SealerKnowledge {
  /** The tree of the seal log, its newest entry included. */
  readonly tree: TreeState
  readonly newest: { readonly body: Uint8Array; readonly entry: SealEntry }
  /** How much of the seal log each anchor has acknowledged, by name of the anchor. */
  readonly acknowledged: ReadonlyMap<string, number>
}

interface Stored {
  readonly tree: TreeState
  readonly seal: { readonly body: SealEntry }
  readonly anchored: Readonly<Record<string, TreeState>>
}

/** Some hundred bytes a chain. */
const STATE_BYTES_MAX = 268_435_456

/** Undefined where there is no such file. Throws BATON_SEALER_STATE_UNREADABLE. */
export async function readSealerKnowledge(path: string): Promise<SealerKnowledge | undefined> {
  try {
    const { tree, seal, anchored } = JSON.parse(
      (await readRegularFile(path, STATE_BYTES_MAX)).toString(),
    ) as Stored
    compactRangeFromState(tree)
    return {
      tree,
      newest: { body: formatSealEntry(seal.body), entry: seal.body },
      acknowledged: new Map(Object.entries(anchored).map(([name, { size }]) => [name, size])),
    }
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw permanent(
      'BATON_SEALER_STATE_UNREADABLE',
      `the sealer's state in ${path} cannot be read`,
      {
        cause,
        fix: 'Give this process the right to read the file, or leave BATON_SEALER_STATE_FILE out here.',
      },
    )
  }
}

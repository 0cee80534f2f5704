// What was signed last, kept where the database cannot reach it: written whole, durable before it counts.
import type { Seal } from '@baton/audit'
import {
  compactRangeFromState,
  formatSealEntry,
  fromBase64,
  readSealEntry,
  toBase64,
} from '@baton/ledger'
import type { ChainStart, SealedTasks, SealEntry, TreeState } from '@baton/ledger'
import { crashPoint, permanent, readRegularFile, replaceFile } from '@baton/runtime'

/** The sealed part of one chain. */
export interface SealedPart extends ChainStart {
  readonly chain: number
  readonly origin: string
  readonly tree: TreeState
}

/** The map of tasks as it was committed to last. */
export interface TaskMapState {
  readonly sealed: SealedTasks
  /** What it holds of each chain; undefined where that is not known any more, and the map has to be made anew. */
  readonly chains: readonly SealedPart[] | undefined
}

export interface SealerState {
  /** The tree of the seal log, its newest entry included. */
  readonly tree: TreeState
  readonly chains: readonly SealedPart[]
  /** The newest seal: published again after a crash, since nobody knows how far it got. */
  readonly seal: Seal
  /** The tree of the seal log as each anchor acknowledged it last, by name of the anchor. */
  readonly anchored: Readonly<Record<string, TreeState>>
  /** Undefined until the map was made for the first time. */
  readonly tasks: TaskMapState | undefined
  /** The seals with which the key was changed: whose signatures count in the log, and in what anchors have of it. */
  readonly handovers: readonly SealEntry[]
}

type StoredPart = Omit<SealedPart, 'lastHash'> & { readonly lastHash: string }

interface Stored {
  readonly v: 1
  readonly tree: TreeState
  readonly chains: readonly StoredPart[]
  readonly tasks?: { readonly sealed: SealedTasks; readonly chains?: readonly StoredPart[] }
  readonly seal: Omit<Seal, 'body'> & { readonly body: SealEntry }
  readonly anchored: Readonly<Record<string, TreeState>>
  /** Left out while the key was never changed. */
  readonly handovers?: readonly SealEntry[]
}

/** Some hundred bytes a chain. */
const STATE_BYTES_MAX = 268_435_456

/** The state, or undefined when there is no such file. Throws BATON_SEALER_STATE_UNREADABLE. */
export async function readState(path: string): Promise<SealerState | undefined> {
  let text: string
  try {
    text = (await readRegularFile(path, STATE_BYTES_MAX)).toString()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw unreadable(path, error)
  }
  try {
    return fromStored(JSON.parse(text) as Stored)
  } catch (error) {
    throw unreadable(path, error)
  }
}

function fromStored(stored: Stored): SealerState {
  const { tree, chains, seal, anchored, tasks, handovers = [], v } = stored
  const body = formatSealEntry(seal.body)
  const trees = [tree, ...Object.values(anchored)]
  for (const one of trees) compactRangeFromState(one)
  const places = handovers.map((entry) => readSealEntry(formatSealEntry(entry))?.handovers?.at(-1))
  const isWhole = String(places) === String(seal.body.handovers ?? [])
  if (v !== 1 || tree.size !== seal.seq + 1 || !isWhole)
    throw new Error('the parts do not fit each other')
  return {
    tree,
    chains: chains.map(partOf),
    seal: { ...seal, body },
    anchored,
    tasks: tasks && { ...tasks, chains: tasks.chains?.map(partOf) },
    handovers,
  }
}

function partOf(part: StoredPart): SealedPart {
  const lastHash = fromBase64(part.lastHash)
  const { size } = compactRangeFromState(part.tree)
  if (lastHash?.length !== 32 || size !== part.size) throw new Error('a chain is torn')
  return { ...part, lastHash }
}

const storedPart = (part: SealedPart): StoredPart => ({
  ...part,
  lastHash: toBase64(part.lastHash),
})

/** Replaces the file. When it resolves the state survives a power cut; before, the old one does. */
export async function writeState(path: string, state: SealerState): Promise<void> {
  const { tree, chains, seal, anchored, tasks, handovers } = state
  const stored: Stored = {
    v: 1,
    tree,
    chains: chains.map(storedPart),
    ...(tasks && {
      tasks: {
        sealed: tasks.sealed,
        ...(tasks.chains && { chains: tasks.chains.map(storedPart) }),
      },
    }),
    seal: { ...seal, body: readSealEntry(seal.body) as SealEntry },
    anchored,
    ...(handovers.length > 0 && { handovers }),
  }
  const text = `${JSON.stringify(stored)}\n`
  await replaceFile(path, text, () => crashPoint('sealer.before_rename'))
}

const unreadable = (path: string, cause: unknown) =>
  (cause as NodeJS.ErrnoException).code === 'EACCES'
    ? forbidden(path, cause)
    : permanent('BATON_SEALER_STATE_UNREADABLE', `the sealer's state in ${path} cannot be read`, {
        cause,
        fix: 'Restore the file from a copy. Without it nothing is signed, because it could be a fork.',
      })

/** It may be whole: nothing is to be restored. */
const forbidden = (path: string, cause: unknown) =>
  permanent('BATON_SEALER_STATE_UNREADABLE', `this process may not read ${path}`, {
    cause,
    fix: 'Give the file, and the way through the folders above it, to the user that this process runs as (an installation of `baton init`: run its install.sh again).',
  })

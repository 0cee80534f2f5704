// Shows the newest seal to every anchor, and keeps what enough witnesses have cosigned.
import { inSnapshot, isWitnessed, scanSeals, storeWitnessed } from '@baton/audit'
import type { Anchor, AnchoredCheckpoint, AnchorOutcome, Pool } from '@baton/audit'
import {
  compactRangeFromState,
  createCompactRange,
  encodeUtf8,
  formatNote,
  fromBase64,
  hashLeaf,
  nodesOfRange,
  proveConsistency,
  splitNote,
} from '@baton/ledger'
import type { Policy, TreeNode, TreeState } from '@baton/ledger'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { SealerState } from './state-file.ts'

interface AnchoringOptions {
  readonly pool: Pool
  readonly anchors: readonly Anchor[]
  /** Whose cosignatures are enough; without it a note that any anchor keeps counts as witnessed. */
  readonly policy: Policy | undefined
  readonly logger: Logger
}

interface Anchored {
  /** The tree that each anchor has acknowledged by now, by name. */
  readonly anchored: SealerState['anchored']
  /** Why nothing more may be signed; undefined when no anchor objects. */
  readonly conflict: string | undefined
  readonly witnessed: boolean
}

/** Shows seals to the anchors in the background, one after the other. */
export function createAnchoring(options: AnchoringOptions & { readonly anchorEveryMs: number }) {
  let shownAt = Number.NEGATIVE_INFINITY
  let showing: Promise<void> = Promise.resolve()
  return {
    /** Whether some anchor lacks the newest seal and the last was shown long enough ago. */
    isDue({ anchored, tree }: SealerState): boolean {
      const isBehind = options.anchors.some(({ name }) => anchored[name]?.size !== tree.size)
      return isBehind && performance.now() - shownAt >= options.anchorEveryMs
    },
    /** `before` has the cosignatures that it has already. */
    show(state: SealerState, before: readonly string[], onShown: (result: Anchored) => void): void {
      shownAt = performance.now()
      showing = showing
        .then(async () => onShown(await anchorSeal(state, { ...options, before })))
        .catch((error: unknown) =>
          options.logger.warn({ event: 'seal.anchor_failed', code: codeOf(error), error }),
        )
    },
    /** Resolves when everything that was shown so far has been. */
    finished: () => showing,
  }
}

/** Anchors that do not answer are logged and asked again with the next seal. */
export async function anchorSeal(
  state: SealerState,
  {
    pool,
    anchors,
    policy,
    logger,
    before = [],
  }: AnchoringOptions & { readonly before?: readonly string[] },
): Promise<Anchored> {
  const anchored: Record<string, TreeState> = {}
  const kept = [...before]
  let conflict: string | undefined
  const outcomes = await Promise.all(anchors.map((anchor) => ask(anchor, state, { pool, logger })))
  outcomes.forEach((outcome, at) => {
    if (outcome?.kind === 'conflict') conflict ??= outcome.message
    if (outcome?.kind !== 'kept') return
    anchored[(anchors[at] as Anchor).name] = state.tree
    kept.push(outcome.note)
  })
  const note = cosignedNote(state.seal.note, kept)
  const witnessed = kept.length > 0 && isWitnessed(note, policy)
  if (witnessed) await storeWitnessed(pool, { size: state.tree.size, note })
  return { anchored, conflict, witnessed }
}

async function ask(
  anchor: Anchor,
  state: SealerState,
  { pool, logger }: { pool: Pool; logger: Logger },
): Promise<AnchorOutcome | undefined> {
  try {
    const outcome = await anchor.publish(checkpointOf(state, { pool, anchor }))
    if (outcome.kind === 'kept') compareClocks(anchor.name, outcome.atSeconds ?? null, logger)
    return outcome
  } catch (error) {
    if (codeOf(error) === 'BATON_SEAL_FORKED') {
      return { kind: 'conflict', message: (error as Error).message }
    }
    logger.warn({ event: 'seal.anchor_failed', anchor: anchor.name, code: codeOf(error), error })
    return undefined
  }
}

/** The newest seal of a state, as an anchor is shown it; it need not be published yet. */
export function checkpointOf(
  state: SealerState,
  { pool, anchor }: { readonly pool: Pool; readonly anchor: Anchor },
): AnchoredCheckpoint {
  const tree = compactRangeFromState(state.tree)
  return {
    note: state.seal.note,
    size: tree.size,
    root: tree.root(),
    prove: (fromSize) => prove(pool, { state, fromSize, known: state.anchored[anchor.name] }),
  }
}

/** Beyond an answer's way and a timestamp's whole seconds. */
const CLOCKS_DIFFER_SECONDS = 5

/** A witness elsewhere has a clock of its own: the only one that a wrong clock of this machine and of its database cannot take along. */
function compareClocks(anchor: string, atSeconds: number | null, logger: Logger): void {
  if (atSeconds === null) return
  const aheadSeconds = Math.round(Date.now() / 1_000 - atSeconds)
  if (Math.abs(aheadSeconds) < CLOCKS_DIFFER_SECONDS) return
  logger.warn({ event: 'seal.clock_differs', anchor, aheadSeconds })
}

interface ProofOptions {
  readonly state: SealerState
  readonly fromSize: number
  /** The tree at the size that the anchor acknowledged last. */
  readonly known: TreeState | undefined
}

// The older tree is remembered for the size that is usual; for any other it is read again.
async function prove(
  pool: Pool,
  { state, fromSize, known }: ProofOptions,
): Promise<readonly Uint8Array[]> {
  if (fromSize === 0 || fromSize === state.tree.size) return []
  const start = known?.size === fromSize ? known : createCompactRange().state()
  const tree = compactRangeFromState(start)
  const hashes = new Map<string, Uint8Array>()
  const name = ({ level, index }: TreeNode): string => `${level}/${index}`
  nodesOfRange(0, start.size).forEach((node, at) =>
    hashes.set(name(node), fromBase64(start.hashes[at] as string) as Uint8Array),
  )
  const append = (body: Uint8Array) =>
    tree.append(hashLeaf(body), (node, hash) => hashes.set(name(node), hash))
  await inSnapshot(pool, async (snapshot) => {
    const range = { fromSeq: start.size, toSeq: state.seal.seq }
    for await (const page of scanSeals(snapshot, range)) page.forEach(({ body }) => append(body))
  })
  append(state.seal.body)
  const read = async (nodes: readonly TreeNode[]) =>
    nodes.map((node) => hashes.get(name(node)) as Uint8Array)
  return proveConsistency(read, { fromSize, toSize: state.tree.size })
}

/** The sealer's note with every cosignature that an anchor added. */
export function cosignedNote(own: string, kept: readonly string[]): string {
  const base = splitNote(encodeUtf8(own))
  if (base === undefined) return own
  const added = kept.flatMap((note) => splitNote(encodeUtf8(note))?.signatures.slice(1) ?? [])
  return formatNote({ text: base.text, signatures: [...base.signatures, ...added] })
}

// One seal out of what was checked: the chains' checkpoints, the entry that lists them, the seal log's checkpoint.
import { CLOCK_AHEAD_MAX_MS } from '@baton/audit/settings'
import type { ChainHead, Seal } from '@baton/audit'
import {
  compactRangeFromState,
  createCompactRange,
  createNoteSigner,
  formatCheckpoint,
  formatInstant,
  formatSealEntry,
  hashLeaf,
  parseInstant,
  readSealEntry,
  sealFault,
  sealLogOrigin,
  signHandover,
  signNote,
  toBase64,
} from '@baton/ledger'
import type { ChainStart, CompactRange, NoteSigner, SealedTasks, SealEntry } from '@baton/ledger'
import { defect } from '@baton/runtime'
import type { SealRing } from './seal-ring.ts'
import type { SealedPart, SealerState, TaskMapState } from './state-file.ts'

/** A chain as it may be sealed now. */
export interface CheckedChain {
  readonly head: ChainHead
  readonly end: ChainStart
  readonly tree: CompactRange
}

interface SignOptions {
  readonly ring: Pick<SealRing, 'current' | 'next'>
  readonly nowMicros: number
  readonly previous: SealerState | undefined
  /** The map of tasks that the seal commits to; undefined before there is one. */
  readonly tasks: TaskMapState | undefined
}

/** Signs `size` and `root` as the log called `origin`. */
function signCheckpoint(signingKey: string, origin: string, tree: CompactRange): string {
  const signer = createNoteSigner({ name: origin, pkcs8: signingKey })
  return signNote(formatCheckpoint({ origin, size: tree.size, root: tree.root() }), [signer])
}

/**
 * The state after one more seal. Every chain is in it, grown or not. Where another key takes over, this seal hands over to it and is the last one
 * that the current key signs. Throws BATON_SEAL_IMPOSSIBLE
 * rather than signing an entry that cannot follow the one before it.
 */
export function signSeal(checked: readonly CheckedChain[], options: SignOptions): SealerState {
  const { ring, previous, tasks } = options
  const origin = sealLogOrigin((checked[0] as CheckedChain).head.origin)
  const listed = {
    at: nextInstant(checked, options),
    chains: checked
      .map(({ head, tree }) => ({
        origin: head.origin,
        size: tree.size,
        root: toBase64(tree.root()),
      }))
      .toSorted((left, right) => (left.origin < right.origin ? -1 : 1)),
  }
  const tree = previous === undefined ? createCompactRange() : compactRangeFromState(previous.tree)
  const entry = entryOf(
    tasks === undefined ? listed : { ...listed, tasks: widened(tasks, listed) },
    { ring, origin, tree, handovers: previous?.handovers ?? [] },
  )
  mustFollow(previous, entry)
  const body = formatSealEntry(entry)
  tree.append(hashLeaf(body))
  const signingKey = ring.current.pkcs8
  const seal: Seal = {
    seq: tree.size - 1,
    at: entry.at,
    body,
    note: signCheckpoint(signingKey, origin, tree),
    chains: signChains(checked, signingKey),
  }
  const chains = checked.map(sealedPart)
  const handovers = [
    ...(previous?.handovers ?? []),
    ...(entry.handover === undefined ? [] : [entry]),
  ]
  return { tree: tree.state(), chains, seal, anchored: previous?.anchored ?? {}, tasks, handovers }
}

interface EntryOptions extends Pick<SignOptions, 'ring'>, Pick<SealerState, 'handovers'> {
  readonly origin: string
  /** The seal log without this entry. */
  readonly tree: CompactRange
}

/** In the lowest version that says all of it. */
function entryOf(
  stated: Omit<SealEntry, 'v'>,
  { ring, origin, tree, handovers: before }: EntryOptions,
): SealEntry {
  const handovers = before.flatMap((entry) => entry.handovers?.at(-1) ?? [])
  if (ring.next !== undefined) {
    const [from, to] = [ring.current, ring.next].map(({ pkcs8 }) => {
      return createNoteSigner({ name: origin, pkcs8 })
    }) as [NoteSigner, NoteSigner]
    const entry = { v: 3, ...stated, handovers: [...handovers, tree.size] } as const
    return signHandover(entry, { from: from.key, to, rootBefore: tree.root() })
  }
  if (handovers.length > 0) return { v: 3, ...stated, handovers }
  return { v: stated.tasks === undefined ? 1 : 2, ...stated }
}

/** Of a chain that came after the map it holds nothing. */
function widened(
  { sealed, chains = [] }: TaskMapState,
  listed: Pick<SealEntry, 'chains'>,
): SealedTasks {
  if (sealed.sizes.length === listed.chains.length) return sealed
  const sizes = new Map(chains.map(({ origin, size }) => [origin, size]))
  const widest = { ...sealed, sizes: listed.chains.map(({ origin }) => sizes.get(origin) ?? 0) }
  if (sealed.begins === undefined) return widest
  const origins = chains.map(({ origin }) => origin).toSorted()
  const begins = new Map(sealed.begins.map((begin, at) => [origins[at], begin]))
  return { ...widest, begins: listed.chains.map(({ origin }) => begins.get(origin) ?? 0) }
}

/** The signed checkpoint of each chain as it stands. */
export const signChains = (chains: readonly CheckedChain[], signingKey: string): Seal['chains'] =>
  chains.map(({ head, tree }) => ({
    chain: head.chain,
    size: tree.size,
    note: signCheckpoint(signingKey, head.origin, tree),
  }))

export const sealedPart = ({ head, end, tree }: CheckedChain): SealedPart => ({
  ...end,
  chain: head.chain,
  origin: head.origin,
  tree: tree.state(),
})

// The time of seals never goes back, also when the clock does; nor is it before the records that are sealed, where a clock
// on another machine was ahead by as little as it may be. Records of a clock that was wrong take no seal with them.
function nextInstant(
  checked: readonly CheckedChain[],
  { nowMicros, previous }: SignOptions,
): string {
  const before = previous === undefined ? 0 : (parseInstant(previous.seal.at) ?? 0)
  const latestMicros = nowMicros + CLOCK_AHEAD_MAX_MS * 1_000
  const times = checked.map(({ end }) => end.lastMicros).filter((one) => one <= latestMicros)
  return formatInstant(Math.max(nowMicros, before + 1, ...times))
}

function mustFollow(previous: SealerState | undefined, entry: SealEntry): void {
  const before = previous === undefined ? undefined : readSealEntry(previous.seal.body)
  const fault = before === undefined ? undefined : sealFault(before, entry)
  if (fault === undefined) return
  throw defect('BATON_SEAL_IMPOSSIBLE', `a seal cannot follow the one before it: ${fault}`, {
    fix: 'Nothing was signed. Keep a copy of the audit database and of the sealer’s state.',
  })
}

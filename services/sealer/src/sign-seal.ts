// One seal out of what was checked: the chains' checkpoints, the entry that lists them, the seal log's checkpoint.
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
  signNote,
  toBase64,
} from '@baton/ledger'
import type { ChainStart, CompactRange, SealEntry } from '@baton/ledger'
import { defect } from '@baton/runtime'
import type { SealedPart, SealerState } from './state-file.ts'

/** A chain as it may be sealed now. */
export interface CheckedChain {
  readonly head: ChainHead
  readonly end: ChainStart
  readonly tree: CompactRange
}

interface SignOptions {
  /** The sealer's own key: PKCS #8 DER in base64. */
  readonly signingKey: string
  readonly nowMicros: number
  readonly previous: SealerState | undefined
}

/** Signs `size` and `root` as the log called `origin`. */
function signCheckpoint(signingKey: string, origin: string, tree: CompactRange): string {
  const signer = createNoteSigner({ name: origin, pkcs8: signingKey })
  return signNote(formatCheckpoint({ origin, size: tree.size, root: tree.root() }), [signer])
}

/**
 * The state after one more seal. Every chain is in it, grown or not. Throws BATON_SEAL_IMPOSSIBLE
 * rather than signing an entry that cannot follow the one before it.
 */
export function signSeal(checked: readonly CheckedChain[], options: SignOptions): SealerState {
  const { signingKey, previous } = options
  const entry: SealEntry = {
    v: 1,
    at: nextInstant(options),
    chains: checked
      .map(({ head, tree }) => ({
        origin: head.origin,
        size: tree.size,
        root: toBase64(tree.root()),
      }))
      .toSorted((left, right) => (left.origin < right.origin ? -1 : 1)),
  }
  mustFollow(previous, entry)
  const body = formatSealEntry(entry)
  const tree = previous === undefined ? createCompactRange() : compactRangeFromState(previous.tree)
  tree.append(hashLeaf(body))
  const origin = sealLogOrigin((checked[0] as CheckedChain).head.origin)
  const seal: Seal = {
    seq: tree.size - 1,
    at: entry.at,
    body,
    note: signCheckpoint(signingKey, origin, tree),
    chains: signChains(checked, signingKey),
  }
  const chains = checked.map(sealedPart)
  return { tree: tree.state(), chains, seal, anchored: previous?.anchored ?? {} }
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

// The time of seals never goes back, also when the clock does.
function nextInstant({ nowMicros, previous }: SignOptions): string {
  const before = previous === undefined ? 0 : (parseInstant(previous.seal.at) ?? 0)
  return formatInstant(Math.max(nowMicros, before + 1))
}

function mustFollow(previous: SealerState | undefined, entry: SealEntry): void {
  const before = previous === undefined ? undefined : readSealEntry(previous.seal.body)
  const fault = before === undefined ? undefined : sealFault(before, entry)
  if (fault === undefined) return
  throw defect('BATON_SEAL_IMPOSSIBLE', `a seal cannot follow the one before it: ${fault}`, {
    fix: 'Nothing was signed. Keep a copy of the audit database and of the sealer’s state.',
  })
}

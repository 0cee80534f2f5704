// What somebody else sealed, made this sealer's own memory: only what the seal key signed, and what the records still hash to.
import { checkConsistency, readArchivePositions, readHeads } from '@baton/audit'
import type { ChainHead, SealRow, Snapshot } from '@baton/audit'
import {
  compactRangeFromState,
  createCompactRange,
  equalBytes,
  fromBase64,
  hashLeaf,
  openSealNote,
  readSealEntry,
  sealFault,
  sealKeysOf,
} from '@baton/ledger'
import type { CompactRange, Finding, SealedChain, SealEntry, SealKeys } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import { GENESIS } from './check-chains.ts'
import { ringOf } from './seal-ring.ts'
import type { SealingKey } from './seal-ring.ts'
import { sealedPart, signChains } from './sign-seal.ts'
import type { CheckedChain } from './sign-seal.ts'
import type { SealedPart, SealerState } from './state-file.ts'

interface FollowOptions {
  readonly state: SealerState | undefined
  readonly origin: string
  readonly signingKeys: readonly SealingKey[]
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** The seals behind `state`, in order. */
  readonly seals: AsyncIterable<SealRow>
  /** What the chains were when so many seals stood, as far as that is remembered: what a map of tasks holds. */
  readonly chainsAt: (seals: number) => readonly SealedPart[] | undefined
}

/** `altered`: these are no seals of this log, or the records are not what was sealed. `gone`: records between have left the database. */
export type Followed =
  | { readonly kind: 'followed'; readonly state: SealerState | undefined }
  | { readonly kind: 'altered'; readonly findings: readonly Finding[] }
  | { readonly kind: 'gone' }

/** Throws BATON_SEAL_KEY_NOT_IN_FORCE where the log was handed over to a key that the settings lack. */
export async function followSeals(snapshot: Snapshot, options: FollowOptions): Promise<Followed> {
  const { state, origin, signingKeys } = options
  const read = await readSeals(options)
  if ('rule' in read) return { kind: 'altered', findings: [read] }
  if (read.last === undefined) return { kind: 'followed', state }
  const { entry, row } = read.last
  const chains = await followChains(snapshot, entry, options)
  if (chains.kind !== 'followed') return chains
  const { seq, body, note } = row
  const { handovers, tree } = read
  const unsigned = { seq, at: entry.at, body, note, chains: [] }
  const { current } = ringOf(signingKeys, origin, { seal: unsigned, handovers })
  const seal = { ...unsigned, chains: signChains(chains.checked, current.pkcs8) }
  return {
    kind: 'followed',
    state: {
      tree: tree.state(),
      chains: chains.checked.map(sealedPart),
      seal,
      anchored: state?.anchored ?? {},
      tasks: tasksOf(entry, options),
      handovers,
    },
  }
}

interface ReadSeals {
  readonly tree: CompactRange
  readonly handovers: readonly SealEntry[]
  readonly last: { readonly row: SealRow; readonly entry: SealEntry } | undefined
}

/** The key in force signed the last one, and each hand-over on the way. */
async function readSeals({
  state,
  origin,
  signingKeys,
  seals,
}: FollowOptions): Promise<ReadSeals | Finding> {
  const tree = state === undefined ? createCompactRange() : compactRangeFromState(state.tree)
  const handovers = [...(state?.handovers ?? [])]
  let { keys } = ringOf(signingKeys, origin, state)
  let previous = state && readSealEntry(state.seal.body)
  let last: ReadSeals['last']
  const found = (message: string): Finding => ({
    origin: 'seals',
    seq: tree.size,
    rule: 'SEAL_LOG',
    message,
  })
  for await (const row of seals) {
    const entry = readSealEntry(row.body)
    if (row.seq !== tree.size || entry === undefined)
      return found('an entry is missing or unreadable')
    const fault = previous && sealFault(previous, entry)
    if (fault !== undefined) return found(`the entry cannot follow the one before it: ${fault}`)
    tree.append(hashLeaf(row.body))
    if (entry.handover !== undefined) {
      if (!isSigned(row, { tree, origin, keys })) return found(UNSIGNED)
      handovers.push(entry)
      keys = sealKeysOf(handovers)
    }
    previous = entry
    last = { row, entry }
  }
  if (last !== undefined && !isSigned(last.row, { tree, origin, keys })) return found(UNSIGNED)
  return { tree, handovers, last }
}

const UNSIGNED = 'the key in force did not sign the seal log that ends here'

function isSigned(
  { note }: SealRow,
  {
    tree,
    origin,
    keys,
  }: { readonly tree: CompactRange; readonly origin: string; readonly keys: SealKeys },
): boolean {
  const opened = openSealNote(note, origin, keys)
  if (!opened.ok) return false
  const { size, root } = opened.checkpoint
  return size === tree.size && equalBytes(root, tree.root())
}

type FollowedChains =
  | { readonly kind: 'followed'; readonly checked: readonly CheckedChain[] }
  | Exclude<Followed, { kind: 'followed' }>

/** Every record up to the sizes of the entry is hashed again and leads to the signed roots. */
async function followChains(
  snapshot: Snapshot,
  { chains }: SealEntry,
  options: FollowOptions,
): Promise<FollowedChains> {
  const heads = new Map((await readHeads(snapshot)).map((head) => [head.origin, head]))
  const positions = await readArchivePositions(snapshot)
  const parts = new Map(options.state?.chains.map((part) => [part.origin, part]))
  const checked: CheckedChain[] = []
  for (const sealed of chains) {
    const [head, part] = [heads.get(sealed.origin), parts.get(sealed.origin)]
    if (head === undefined)
      return altered(sealed, 'CHAIN_MISSING', 'the chain is not in the database')
    const start = part?.size ?? 0
    if (sealed.size > start && start < (positions.get(head.chain)?.hotFrom ?? 0))
      return { kind: 'gone' }
    const followed = await followChain(snapshot, { head, part, sealed }, options)
    if ('findings' in followed) return { kind: 'altered', findings: followed.findings }
    checked.push(followed)
  }
  return { kind: 'followed', checked }
}

interface ChainToFollow {
  readonly head: ChainHead
  readonly part: SealedPart | undefined
  readonly sealed: SealedChain
}

async function followChain(
  snapshot: Snapshot,
  { head, part, sealed }: ChainToFollow,
  { batchKeys }: FollowOptions,
): Promise<CheckedChain | { readonly findings: readonly Finding[] }> {
  const tree = part === undefined ? createCompactRange() : compactRangeFromState(part.tree)
  const start = part ?? GENESIS
  if (head.size < sealed.size) {
    return altered(
      sealed,
      'SEAL_SIZE',
      `the chain has ${head.size} records, ${sealed.size} were sealed`,
    )
  }
  const { findings, end } = await checkConsistency(snapshot, {
    head,
    start,
    batchKeys,
    onLeaves: (hashes) => hashes.forEach((hash) => tree.append(hash)),
    recordsMax: sealed.size - start.size,
  })
  if (findings.length > 0) return { findings }
  const isSame =
    tree.size === sealed.size &&
    equalBytes(tree.root(), fromBase64(sealed.root) ?? new Uint8Array(0))
  return isSame
    ? { head, end, tree }
    : altered(sealed, 'SEAL_ROOT', 'the records are not those that were sealed')
}

const altered = ({ origin, size: seq }: SealedChain, rule: Finding['rule'], message: string) => ({
  kind: 'altered' as const,
  findings: [{ origin, seq, rule, message }],
})

/** What it holds of each chain is known where it is the map of before, or where the seals were followed as they came; else it is made anew. */
function tasksOf({ tasks }: SealEntry, { state, chainsAt }: FollowOptions): SealerState['tasks'] {
  if (tasks === undefined) return state?.tasks
  const known = state?.tasks
  const isSame = known?.sealed.root === tasks.root && known.sealed.seals === tasks.seals
  return { sealed: tasks, chains: isSame ? known.chains : chainsAt(tasks.seals) }
}

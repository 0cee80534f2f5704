// What the sealer reads of its chains: what was sealed, from both tiers and compared with what was signed, and what they gained since.
import type { KeyObject } from 'node:crypto'
import {
  compactRangeFromState,
  createChainVerifier,
  createCompactRange,
  readSealEntry,
} from '@baton/ledger'
import type { ChainStart, CompactRange, Finding, SealedChain, SealKeys } from '@baton/ledger'
import { beginningOf } from '../cold/chain-beginning.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import { scanChain, scanTiers } from './scan-chain.ts'
import type { Snapshot } from '../database.ts'
import type { ChainHead } from '../append/heads.ts'
import { readHeads } from '../append/heads.ts'
import { readLastSeal } from '../seals/seals.ts'
import type { SealRow } from '../seals/seals.ts'
import { createSealedRoots } from './sealed-roots.ts'
import type { SealTarget } from './sealed-roots.ts'
import { askAnchors } from './ask-outside.ts'
import type { SealTrust } from './ask-outside.ts'
import { verifySeals } from './verify-seals.ts'

/** A chain up to its newest seal. */
export interface SealedChainState {
  readonly head: ChainHead
  readonly end: ChainStart
  readonly tree: CompactRange
}

/** The seal log of a database and the chains under its newest entry. */
export interface SealedLog {
  /** Any finding means: this is not what was signed, or not what anchors know. */
  readonly findings: readonly Finding[]
  /** Whose signatures count in it. */
  readonly keys: SealKeys
  /** Undefined where the database has no seal. */
  readonly last: SealRow | undefined
  /** The tree of the seal log. */
  readonly tree: CompactRange
  readonly chains: readonly SealedChainState[]
}

interface SealedLogOptions {
  /** Who signs seals, and what anchors said; neither comes from the database. */
  readonly trust: SealTrust
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  readonly cold?: ColdStore | undefined
}

/** Re-hashes every seal and every sealed record. Chains are read only where the seal log has no finding. */
export async function readSealedLog(
  snapshot: Snapshot,
  options: SealedLogOptions,
): Promise<SealedLog> {
  const heads = await readHeads(snapshot)
  const { trust } = options
  // Of a sealer whose state is lost, nobody knows what its anchors have acknowledged.
  const state = { known: undefined, asked: false, answered: false }
  const outside = { anchors: await askAnchors(trust.anchors), state }
  const { findings, keys, targets, tree } = await verifySeals(snapshot, heads, trust, outside)
  const last = await readLastSeal(snapshot)
  const entry = last && readSealEntry(last.body)
  if (findings.length > 0 || entry === undefined) return { findings, keys, last, tree, chains: [] }
  const found: Finding[] = []
  const chains: SealedChainState[] = []
  for (const sealed of entry.chains) {
    const head = heads.find(({ origin }) => origin === sealed.origin)
    if (head === undefined) found.push(missingChain(sealed))
    else {
      const of = { head, sealed, targets: targets.get(sealed.origin) ?? [] }
      const { state, ...read } = await readSealedChain(snapshot, of, options)
      chains.push(state)
      found.push(...read.findings)
    }
  }
  return { findings: found, keys, last, tree, chains }
}

interface ChainToRead {
  readonly head: ChainHead
  readonly sealed: SealedChain
  readonly targets: readonly SealTarget[]
}

/** Stops at the first page with a finding. */
async function readSealedChain(
  snapshot: Snapshot,
  { head, sealed, targets }: ChainToRead,
  { batchKeys, cold }: SealedLogOptions,
): Promise<{ readonly state: SealedChainState; readonly findings: readonly Finding[] }> {
  const { chain, origin } = head
  const tier = createColdTier(snapshot, cold)
  const beginning = await beginningOf(snapshot, tier, head)
  const tree = copyOf(beginning.tree ?? createCompactRange())
  const roots = createSealedRoots(origin, { targets, tree: copyOf(tree) })
  const signatures = { signedFrom: beginning.signedFrom, signaturesFrom: sealed.size }
  const start = beginning.start && { start: beginning.start }
  const verifier = createChainVerifier({ origin, batchKeys, ...signatures, ...start })
  const findings: Finding[] = [...beginning.findings]
  const range = { chain, fromSeq: 0, toSeq: sealed.size }
  for await (const page of scanTiers(snapshot, tier, range)) {
    for (const record of page) {
      findings.push(...verifier.next(record), ...roots.append(verifier.lastHash))
      tree.append(verifier.lastHash)
    }
    if (findings.length > 0) break
  }
  findings.push(...tier.takeFindings())
  if (findings.length === 0) findings.push(...roots.finish())
  const end = verifier.signedEnd
  if (findings.length === 0 && end.size !== sealed.size) findings.push(unsigned(origin, end.size))
  return { state: { head, end, tree }, findings }
}

const copyOf = (tree: CompactRange): CompactRange => compactRangeFromState(tree.state())

const missingChain = ({ origin, size }: SealedChain): Finding => ({
  origin,
  seq: null,
  rule: 'CHAIN_MISSING',
  message: `a chain with ${size} sealed records is not in the database`,
})

const unsigned = (origin: string, seq: number): Finding => ({
  origin,
  seq,
  rule: 'BATCH_COVER',
  message: 'records from here on were sealed and are in no signed batch',
})

interface ConsistencyOptions {
  readonly head: ChainHead
  /** Where the sealed part ends. */
  readonly start: ChainStart
  /** Trusted public keys of append services, by key id. */
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Takes the leaf hashes of whole batches, in order. */
  readonly onLeaves: (hashes: readonly Uint8Array[]) => void
  /** Records read at most; what is left comes next time. */
  readonly recordsMax: number
}

interface Consistency {
  readonly findings: readonly Finding[]
  /** Where the part ends that may be sealed now: the end of a signed batch. */
  readonly end: ChainStart
}

/** Re-hashes the records that a chain gained. Stops at the first page with a finding: nothing from there on may be sealed. */
export async function checkConsistency(
  snapshot: Snapshot,
  options: ConsistencyOptions,
): Promise<Consistency> {
  const { head, start, batchKeys, onLeaves, recordsMax } = options
  const { chain, origin } = head
  const verifier = createChainVerifier({ origin, batchKeys, start })
  const shrunk = shrinkage(head, start)
  if (shrunk !== undefined) return { findings: [shrunk], end: start }
  if (head.size === start.size) return { findings: verifier.finish(head), end: start }
  const toSeq = Math.min(head.size, start.size + recordsMax)
  let waiting: Uint8Array[] = []
  let read = start.size
  for await (const page of scanChain(snapshot, { chain, fromSeq: start.size, toSeq })) {
    const findings = page.flatMap((record) => verifier.next(record))
    if (findings.length > 0) return { findings, end: start }
    read += page.length
    for (const { recordHash, batch } of page) {
      waiting.push(recordHash)
      if (batch === undefined) continue
      onLeaves(waiting)
      waiting = []
    }
  }
  // A head that is larger than its records is told at once, however much larger it is.
  const isWhole = toSeq === head.size || read < toSeq
  const findings = isWhole ? verifier.finish(head) : []
  return { findings, end: verifier.signedEnd }
}

function shrinkage(head: ChainHead, start: ChainStart): Finding | undefined {
  if (head.size >= start.size) return undefined
  const message = `the chain has ${head.size} records, ${start.size} were sealed`
  return { origin: head.origin, seq: head.size, rule: 'SEAL_SIZE', message }
}

// Re-reads the log piece by piece for ever: bytes, columns, index, batches, payloads and sealed roots.
import type { KeyObject } from 'node:crypto'
import {
  compactRangeFromState,
  createChainVerifier,
  createCompactRange,
  equalBytes,
  fromBase64,
  toBase64,
} from '@baton/ledger'
import type { ChainStart, CompactRange, Finding, TreeState } from '@baton/ledger'
import { beginningOf } from '../cold/chain-beginning.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { checkIndex } from './check-index.ts'
import { scanTiers } from './scan-chain.ts'
import { openChainCheckpoints } from '../read/assurance.ts'
import { readSealKeys } from '../seals/read-seal-keys.ts'
import { audit, inSnapshot, run } from '../database.ts'
import type { Database, Pool, Snapshot } from '../database.ts'
import { createAuthenticatedErasures } from '../erasure/authenticated-erasures.ts'
import { readHeads } from '../append/heads.ts'
import type { ChainHead } from '../append/heads.ts'
import { misplacedSegments, openableSegments, withSegments } from '../read/segments.ts'
import type { SubjectVault } from '../append/subject-vault.ts'

/** Where a pass is. Nothing that is relied on follows from it, so it may stand in the database. */
export interface ScrubPosition {
  readonly chain: number
  readonly size: number
  /** Lower-case hex. */
  readonly lastHash: string
  readonly lastMicros: number
  readonly tree: TreeState
  /** The signed checkpoint of the chain when the pass came to it. */
  readonly target: { readonly size: number; readonly root: string } | null
  readonly passStartedAt: string
  readonly passRecords: number
  readonly passFindings: number
  /** The pass before this one; null in the first. */
  readonly lastPass: ScrubPass | null
}

export interface ScrubPass {
  readonly startedAt: string
  readonly endedAt: string
  readonly records: number
  readonly findings: number
}

interface ScrubOptions {
  /** Connected as audit_reader. */
  readonly pool: Pool
  readonly batchKeys: ReadonlyMap<string, KeyObject>
  /** Opens payload segments. */
  readonly vault: Pick<SubjectVault, 'keysOf' | 'requestKeys'>
  /** Where records stand that are not in the database any more. */
  readonly cold?: ColdStore | undefined
  /** The sealer's; without it roots are not compared. */
  readonly sealKey: KeyObject | undefined
  /** At least twice the largest batch. */
  readonly records: number
  readonly now: () => Date
}

export interface Scrubbed {
  readonly findings: readonly Finding[]
  readonly records: number
  readonly position: ScrubPosition
  /** Whether this piece was the last of a pass. */
  readonly isThrough: boolean
  /** Records of all chains now. */
  readonly total: number
}

/** Where the pass under way stands; undefined before the first. */
export const readScrubPosition = async (db: Database): Promise<ScrubPosition | undefined> => {
  const statement = audit.selectFrom('audit.scrub').select('reached')
  return (await run(db, 'read_scrub', statement.$narrowType<{ reached: ScrubPosition }>()))[0]
    ?.reached
}

/** As audit_writer. */
export const storeScrubPosition = async (db: Database, position: ScrubPosition): Promise<void> => {
  await run(db, 'store_scrub', 'select audit.store_scrub($1::jsonb)', [JSON.stringify(position)])
}

/** Verifies the next piece, `records` records at most, and says where the next one begins. */
export function scrubPiece(
  before: ScrubPosition | undefined,
  options: ScrubOptions,
): Promise<Scrubbed> {
  return inSnapshot(options.pool, async (snapshot) => {
    const heads = await readHeads(snapshot)
    const keys = options.sealKey && (await readSealKeys(snapshot, options.sealKey))
    const targets = await openChainCheckpoints(snapshot, heads, keys)
    const { head, at, advance } = cursorAt(before, { heads, targets, now: options.now })
    const piece = head && (await verifyPiece(snapshot, { head, at, options }))
    const { findings = [], records = 0 } = piece ?? {}
    const total = heads.reduce((sum, { size }) => sum + size, 0)
    return { findings, records, ...advance(piece), total }
  })
}

/** A place in a pass, which goes through the chains in order and then begins again. */
interface Cursor {
  readonly at: ScrubPosition
  /** The chain it stands in; undefined where that is gone. */
  readonly head: ChainHead | undefined
  /** The place behind a piece that was verified here, and whether the piece was the last of the pass. */
  advance(piece: Piece | undefined): Pick<Scrubbed, 'position' | 'isThrough'>
}

interface Piece {
  readonly findings: readonly Finding[]
  readonly records: number
  /** Where its last record stands. */
  readonly reached: ScrubPosition
  readonly isChainThrough: boolean
}

interface Course {
  readonly heads: readonly ChainHead[]
  readonly targets: Awaited<ReturnType<typeof openChainCheckpoints>>
  readonly now: () => Date
}

function cursorAt(before: ScrubPosition | undefined, { heads, targets, now }: Course): Cursor {
  const startOf = (head: ChainHead | undefined) => {
    const target = head && targets.get(head.chain)
    return {
      chain: head?.chain ?? 0,
      size: 0,
      lastHash: '00'.repeat(32),
      lastMicros: 0,
      tree: createCompactRange().state(),
      target: target === undefined ? null : { size: target.size, root: toBase64(target.root) },
    }
  }
  const startPass = (lastPass: ScrubPass | null): ScrubPosition => ({
    ...startOf(heads[0]),
    passStartedAt: now().toISOString(),
    passRecords: 0,
    passFindings: 0,
    lastPass,
  })
  const at = before ?? startPass(null)
  const index = heads.findIndex(({ chain }) => chain === at.chain)
  return {
    at,
    head: heads[index],
    advance(piece) {
      if (piece === undefined) return { position: startPass(at.lastPass), isThrough: false }
      const passRecords = at.passRecords + piece.records
      const passFindings = at.passFindings + piece.findings.length
      const position = { ...piece.reached, passRecords, passFindings }
      if (!piece.isChainThrough) return { position, isThrough: false }
      const next = heads[index + 1]
      if (next !== undefined) {
        return { position: { ...position, ...startOf(next) }, isThrough: false }
      }
      const pass = {
        startedAt: at.passStartedAt,
        endedAt: now().toISOString(),
        records: passRecords,
        findings: passFindings,
      }
      return { position: startPass(pass), isThrough: true }
    },
  }
}

async function verifyPiece(
  snapshot: Snapshot,
  { head, at: before, options }: { head: ChainHead; at: ScrubPosition; options: ScrubOptions },
): Promise<Piece> {
  const { batchKeys, vault } = options
  const { chain, origin } = head
  const tier = createColdTier(snapshot, options.cold)
  const { at, signedFrom, findings } = await pastExpired(snapshot, tier, { head, at: before })
  const erasures = createAuthenticatedErasures(options.pool, batchKeys, options.cold)
  const start: ChainStart = { ...at, lastHash: Buffer.from(at.lastHash, 'hex') }
  const verifier = createChainVerifier({
    origin,
    batchKeys,
    start,
    signedFrom,
    sealedTo: at.target?.size ?? 0,
  })
  const index = checkIndex(snapshot, await vault.requestKeys(), () => Infinity)
  const toSeq = at.size + options.records
  const tree = compactRangeFromState(at.tree)
  let waiting: Uint8Array[] = []
  let records = 0
  for await (const page of scanTiers(snapshot, tier, { chain, fromSeq: at.size, toSeq })) {
    const segments = await openableSegments(snapshot, { chain, page, vault, erasures, tier })
    for (const scanned of page) {
      findings.push(...verifier.next(withSegments(scanned, segments)))
      findings.push(...misplacedSegments(scanned, segments), ...index.next(head, scanned))
      waiting.push(verifier.lastHash)
      records += 1
      if (scanned.batch === undefined) continue
      for (const hash of waiting) findings.push(...appendLeaf(tree, hash, { origin, at }))
      waiting = []
    }
  }
  findings.push(...tier.takeFindings())
  const isChainThrough = toSeq >= head.size || verifier.signedEnd.size === at.size
  if (toSeq >= head.size) findings.push(...verifier.finish(head))
  if (isChainThrough) findings.push(...shortOfTarget(tree, { origin, at }))
  const { size, lastHash, lastMicros } = verifier.signedEnd
  const end = { size, lastMicros, lastHash: Buffer.from(lastHash).toString('hex') }
  return { findings, records, reached: { ...at, ...end, tree: tree.state() }, isChainThrough }
}

/** What has expired since is not looked for: the chain begins behind it. */
async function pastExpired(
  snapshot: Snapshot,
  tier: ColdTier,
  { head, at }: { readonly head: ChainHead; readonly at: ScrubPosition },
): Promise<{ at: ScrubPosition; signedFrom: number; findings: Finding[] }> {
  const { minIndex } = await tier.position(head.chain)
  if (at.size >= minIndex) return { at, signedFrom: at.size, findings: [] }
  const { start, signedFrom, tree, findings } = await beginningOf(snapshot, tier, head)
  if (start === undefined) return { at, signedFrom: at.size, findings: [...findings] }
  const { size, lastMicros } = start
  const lastHash = Buffer.from(start.lastHash).toString('hex')
  const moved = { ...at, size, lastHash, lastMicros }
  const behind =
    tree === undefined
      ? { ...moved, tree: createCompactRange().state(), target: null }
      : { ...moved, tree: tree.state() }
  return { at: behind, signedFrom, findings: [...findings] }
}

interface Target {
  readonly origin: string
  readonly at: ScrubPosition
}

function appendLeaf(tree: CompactRange, hash: Uint8Array, { origin, at }: Target): Finding[] {
  tree.append(hash)
  if (at.target === null || tree.size !== at.target.size) return []
  const root = fromBase64(at.target.root)
  if (root !== undefined && equalBytes(root, tree.root())) return []
  const message = `records 0 to ${tree.size - 1} do not have the root that was sealed`
  return [{ origin, seq: 0, rule: 'SEAL_ROOT', message }]
}

function shortOfTarget(tree: CompactRange, { origin, at }: Target): Finding[] {
  if (at.target === null || tree.size >= at.target.size) return []
  const message = `the chain has ${tree.size} signed records, ${at.target.size} were sealed`
  return [{ origin, seq: tree.size, rule: 'SEAL_SIZE', message }]
}

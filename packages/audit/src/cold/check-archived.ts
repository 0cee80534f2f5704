// Re-reads what stands in the cold store before the hot copy may go: bundles, payloads, tiles, and the signed root.
import {
  equalBytes,
  hashLeaf,
  LedgerError,
  proveInclusion,
  TILE_WIDTH,
  verifyInclusion,
} from '@baton/ledger'
import type { Finding, FindingRule } from '@baton/ledger'
import type { Database } from '../database.ts'
import { readSegments } from '../read/segments.ts'
import type { ColdLog } from './cold-log.ts'
import type { LogArchive } from './log-archive.ts'
import { bundleOf } from './objects.ts'

interface CheckOptions {
  /** Connected as audit_archiver. */
  readonly db: Database
  readonly chain: number
  /** Its root extends to a signed checkpoint: `archiveLog` ended without a finding. */
  readonly archive: LogArchive
  /** The records that must stand there, both included. */
  readonly first: number
  readonly last: number
}

/** Stops at the first bundle that is not whole. Nothing comes from memory: every object is read. */
export async function checkArchived(options: CheckOptions): Promise<readonly Finding[]> {
  const root = options.archive.root()
  const log = options.archive.reread()
  for (let index = bundleOf(options.first); index <= bundleOf(options.last); index += 1) {
    const findings = [
      ...(await checkBundle(log, { index, root, size: options.archive.size })),
      ...(await checkPayloads(log, { ...options, index })),
    ]
    if (findings.length > 0) return findings
  }
  return []
}

async function checkBundle(
  log: ColdLog,
  tree: { readonly index: number; readonly root: Uint8Array; readonly size: number },
): Promise<readonly Finding[]> {
  const { index, root, size } = tree
  const report = reporter(log.origin, index)
  const bundle = await log.bundle(index)
  if (bundle.kind !== 'found') return report(faultOf(bundle.kind), 'the bundle')
  const tile = await log.tile(0, index, TILE_WIDTH)
  if (tile.kind !== 'found') return report(faultOf(tile.kind), 'the hash tile')
  const wrong = bundle.content.findIndex(
    (entry, at) => !equalBytes(hashLeaf(entry), tile.content[at] as Uint8Array),
  )
  if (wrong >= 0) return report('TILE_HASH', 'the bundle and its hash tile differ', wrong)
  // The siblings of the first leaf are hashed from all others of its tile.
  const leaf = index * TILE_WIDTH
  const leafHash = tile.content[0] as Uint8Array
  try {
    const proof = await proveInclusion(log.nodes(size), { index: leaf, size })
    if (verifyInclusion({ index: leaf, size, leafHash, proof, root })) return []
  } catch (error) {
    if (!(error instanceof LedgerError)) throw error
    return report('TILE_MISSING', error.message)
  }
  return report('TILE_HASH', 'the hash tiles do not lead to the signed root')
}

async function checkPayloads(
  log: ColdLog,
  { db, chain, index }: Pick<CheckOptions, 'db' | 'chain'> & { readonly index: number },
): Promise<readonly Finding[]> {
  const report = reporter(log.origin, index)
  const from = index * TILE_WIDTH
  const range = { chain, firstSeq: from, lastSeq: from + TILE_WIDTH - 1 }
  const hot = await readSegments(db, range)
  if (hot.length === 0) return []
  const cold = await log.segments(index)
  if (cold.kind !== 'found') return report(faultOf(cold.kind), 'the object of payloads')
  const keyOf = (one: { seq: number; segment: number }) => `${one.seq}/${one.segment}`
  const stored = new Map(cold.content.map((segment) => [keyOf(segment), segment]))
  const lost = hot.find((segment) => {
    const copy = stored.get(keyOf(segment))
    return (
      copy === undefined ||
      copy.subjectRef !== segment.subjectRef ||
      !copy.nonce.equals(segment.nonce) ||
      !copy.ciphertext.equals(segment.ciphertext)
    )
  })
  return lost === undefined
    ? []
    : report('TILE_HASH', 'a payload segment is not the one that is archived', lost.seq - from)
}

const faultOf = (kind: 'missing' | 'unreadable'): FindingRule =>
  kind === 'missing' ? 'TILE_MISSING' : 'TILE_UNREADABLE'

const SENTENCES: Partial<Record<FindingRule, string>> = {
  TILE_MISSING: 'is missing from the cold store',
  TILE_UNREADABLE: 'cannot be decoded',
}

const reporter =
  (origin: string, index: number) =>
  (rule: FindingRule, what: string, at = 0): readonly Finding[] => {
    const message = [what, SENTENCES[rule]].filter((part) => part !== undefined).join(' ')
    return [{ origin, seq: index * TILE_WIDTH + at, rule, message }]
  }

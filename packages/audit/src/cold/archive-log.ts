// Moves one log forward in the cold store, never past its signed root and never with bytes that do not lead to it.
import type { KeyObject } from 'node:crypto'
import { equalBytes, hashLeaf, sealLogOrigin, TILE_WIDTH } from '@baton/ledger'
import type { Finding, SealKeys } from '@baton/ledger'
import { crashPoint } from '@baton/runtime'
import { readHeads } from '../append/heads.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { openChainCheckpoints, openCheckpoint } from '../read/assurance.ts'
import { readSealKeys, sealLogKeys } from '../seals/read-seal-keys.ts'
import type { SealLogKeys } from '../seals/read-seal-keys.ts'
import { readLastSeal, readWitnessed } from '../seals/seals.ts'
import { markArchived, positionOf, readArchivePositions, SEAL_LOG } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import type { SignedNote } from './cold-head.ts'
import type { LogArchive } from './log-archive.ts'
import { readBundles, readEntries } from './read-bundles.ts'
import type { ArchivedLog } from './read-bundles.ts'

export interface ArchiveTarget extends ArchivedLog, SignedNote {
  /** Whose heads of the log count, as of now. */
  readonly signers: () => Promise<SealLogKeys>
  readonly position: ArchivePosition
}

/** How far each log may be archived now: the newest head of it that the sealer signed. The seal log first, then the chains. Logs without a signed head are left out. */
export const readArchiveTargets = (
  pool: Pool,
  publicKey: KeyObject,
): Promise<readonly ArchiveTarget[]> =>
  inSnapshot(pool, async (db) =>
    targetsUnder(db, await readSealKeys(db, publicKey), sealLogKeys(pool, publicKey)),
  )

async function targetsUnder(
  db: Snapshot,
  sealKeys: SealKeys,
  signers: ArchiveTarget['signers'],
): Promise<readonly ArchiveTarget[]> {
  const heads = await readHeads(db)
  const positions = await readArchivePositions(db)
  const checkpoints = await openChainCheckpoints(db, heads, sealKeys)
  const sealOrigin = sealLogOrigin(heads[0]?.origin ?? '')
  const seals = { origin: sealOrigin, head: await openSealLogHead(db, sealOrigin, sealKeys) }
  const logs = heads.map(({ chain, origin }) => ({
    log: chain,
    origin,
    head: checkpoints.get(chain),
  }))
  return [{ log: SEAL_LOG, origin: seals.origin, head: seals.head }, ...logs].flatMap(
    ({ log, origin, head }) =>
      head === undefined
        ? []
        : [{ ...head, log, origin, signers, position: positionOf(positions, log) }],
  )
}

/** The newest; with its cosignatures where it has them. */
async function openSealLogHead(db: Snapshot, origin: string, keys: SealKeys) {
  const last = await readLastSeal(db)
  const head = last && openCheckpoint(last.note, origin, keys)
  if (last === undefined || head === undefined) return undefined
  const witnessed = await readWitnessed(db)
  const cosigned = witnessed && openCheckpoint(witnessed.note, origin, keys)
  const isSame = cosigned?.size === head.size && equalBytes(cosigned.root, head.root)
  return { ...head, note: isSame && witnessed !== undefined ? witnessed.note : last.note }
}

interface ArchiveOptions {
  /** Connected as audit_archiver. */
  readonly pool: Pool
  readonly log: ArchivedLog
  readonly archive: LogArchive
  /** A signed head of the log: nothing beyond it is archived. */
  readonly target: { readonly size: number; readonly root: Uint8Array }
  /** Also stores what does not fill a bundle, as partial tiles. */
  readonly withTail: boolean
  readonly onArchived: (records: number) => void
  /** Ends it early, between two pieces. */
  readonly isStopped: () => boolean
}

const PIECE_BUNDLES = 16
const PIECE_RECORDS = PIECE_BUNDLES * TILE_WIDTH

/**
 * Hashes everything up to the target first, and stores it only when that is what was signed. Safe to
 * repeat after a crash at any point. A finding means that nothing more may be archived.
 */
export async function archiveLog(options: ArchiveOptions): Promise<readonly Finding[]> {
  const { log, archive, target, withTail } = options
  if (target.size < archive.size) return [shrunk(log.origin, target.size, archive.size)]
  const fault = await compareRoot(options)
  if (fault !== undefined) return [fault]
  const full = target.size - (target.size % TILE_WIDTH)
  while (archive.size < full && !options.isStopped()) {
    const to = Math.min(full, archive.size + PIECE_RECORDS)
    const findings = await archivePiece(options, to)
    if (findings.length > 0) return findings
  }
  if (!withTail || archive.size !== full || full === target.size) return []
  return archiveTail(options)
}

async function compareRoot(options: ArchiveOptions): Promise<Finding | undefined> {
  const { pool, log, archive, target } = options
  const tree = archive.tree()
  for (let from = archive.size; from < target.size; from += PIECE_RECORDS) {
    const to = Math.min(target.size, from + PIECE_RECORDS)
    const entries = await inSnapshot(pool, (snapshot) => readEntries(snapshot, log, { from, to }))
    if ('rule' in entries) return entries
    for (const entry of entries) tree.append(hashLeaf(entry))
  }
  if (equalBytes(tree.root(), target.root)) return undefined
  const message = `records up to ${target.size - 1} hold what was not sealed, in the hot store or the cold one`
  return { origin: log.origin, seq: archive.size, rule: 'SEAL_ROOT', message }
}

async function archivePiece(options: ArchiveOptions, to: number): Promise<readonly Finding[]> {
  const { pool, log, archive, target, onArchived } = options
  const from = archive.size
  const bundles = await readBundles(pool, log, { from, to })
  if ('rule' in bundles) return [bundles]
  for (const bundle of bundles) {
    const findings = await archive.append(bundle)
    if (findings.length > 0) return findings
    crashPoint('archiver.after_put')
  }
  if (to === target.size) {
    const findings = await archive.appendTail()
    if (findings.length > 0) return findings
  }
  crashPoint('archiver.before_mark')
  await markArchived(pool, { log: log.log, size: to, tail: to })
  onArchived(to - from)
  return []
}

async function archiveTail({ pool, log, archive, target }: ArchiveOptions) {
  const bundles = await readBundles(pool, log, { from: archive.size, to: target.size })
  if ('rule' in bundles) return [bundles]
  for (const bundle of bundles) {
    const findings = await archive.appendTail(bundle)
    if (findings.length > 0) return findings
  }
  await markArchived(pool, { log: log.log, size: archive.size, tail: target.size })
  return []
}

const shrunk = (origin: string, sealed: number, archived: number): Finding => ({
  origin,
  seq: sealed,
  rule: 'SEAL_SIZE',
  message: `${archived} records are archived, the newest checkpoint covers ${sealed}`,
})

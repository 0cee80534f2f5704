// How far each log may be archived now: the newest head of it that the sealer signed.
import type { KeyObject } from 'node:crypto'
import { encodeUtf8, openNote, parseCheckpoint, sealLogOrigin } from '@baton/ledger'
import { openChainCheckpoints, sealerKey } from '../read/assurance.ts'
import type { Database } from '../database.ts'
import { readHeads } from '../append/heads.ts'
import { readLastSeal } from '../seals/seals.ts'
import { positionOf, readArchivePositions, SEAL_LOG } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import type { ArchivedLog } from './read-bundles.ts'

export interface ArchiveTarget extends ArchivedLog {
  readonly size: number
  readonly root: Uint8Array
  readonly position: ArchivePosition
}

/** The seal log first, then the chains. Logs without a signed head are left out. */
export async function readArchiveTargets(
  db: Database,
  publicKey: KeyObject,
): Promise<readonly ArchiveTarget[]> {
  const heads = await readHeads(db)
  const positions = await readArchivePositions(db)
  const checkpoints = await openChainCheckpoints(db, heads, publicKey)
  const seals = await openSealLogHead(db, sealLogOrigin(heads[0]?.origin ?? ''), publicKey)
  const logs = heads.map(({ chain, origin }) => ({
    log: chain,
    origin,
    head: checkpoints.get(chain),
  }))
  return [{ log: SEAL_LOG, origin: seals.origin, head: seals.head }, ...logs].flatMap(
    ({ log, origin, head }) =>
      head === undefined
        ? []
        : [{ log, origin, size: head.size, root: head.root, position: positionOf(positions, log) }],
  )
}

async function openSealLogHead(db: Database, origin: string, publicKey: KeyObject) {
  const last = await readLastSeal(db)
  if (last === undefined) return { origin, head: undefined }
  const opened = openNote(encodeUtf8(last.note), [sealerKey(origin, publicKey)])
  const head = opened.ok ? parseCheckpoint(opened.text) : undefined
  return { origin, head: head?.origin === origin ? head : undefined }
}

// The cold store compared with the database while that still has the same records: each object as it is there now.
import { TILE_WIDTH } from '@baton/ledger'
import type { Finding } from '@baton/ledger'
import type { ArchivePosition } from '../cold/archive-positions.ts'
import { checkBundle, checkTail } from '../cold/check-archived.ts'
import type { ArchivedCopy } from '../cold/check-archived.ts'
import { checkHead } from '../cold/cold-head.ts'
import { createColdLog } from '../cold/cold-log.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import type { Snapshot } from '../database.ts'
import type { SealLogKeys } from '../seals/read-seal-keys.ts'

interface CopyOptions {
  readonly store: ColdStore
  readonly origin: string
  readonly position: ArchivePosition
  /** Over the full bundles, of the records as the database has them; undefined where it has fewer. */
  readonly root: Uint8Array | undefined
  /** Undefined where nobody is known who seals. */
  readonly signers: (() => Promise<SealLogKeys>) | undefined
}

export interface VerifiedCopies {
  /** Bundles that were read again, the last one that is not full included. */
  readonly bundles: number
  readonly findings: readonly Finding[]
}

/** Of one log. What the database has no more is read with the chain itself. */
export async function verifyCopies(
  db: Snapshot,
  { store, origin, position, root, signers }: CopyOptions,
): Promise<VerifiedCopies> {
  const { log, size, tail, hotFrom, minIndex } = position
  const cold = createColdLog(store, origin)
  const copy: ArchivedCopy & { readonly db: Snapshot } = { db, log, cold, size, root, minIndex }
  const findings: Finding[] = []
  const [from, to] = [Math.floor(hotFrom / TILE_WIDTH), size / TILE_WIDTH]
  for (let index = from; index < to; index += 1) findings.push(...(await checkBundle(copy, index)))
  findings.push(...(await checkTail(copy, tail)))
  if (signers !== undefined && findings.length === 0) {
    findings.push(...(await checkHead({ store, origin, signers }, createColdLog(store, origin))))
  }
  return { bundles: Math.max(0, to - from) + (tail > size ? 1 : 0), findings }
}

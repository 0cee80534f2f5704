// The copies of the chains' signed heads compared with the newest seal, which lists the same heads: labels rest on them.
import { equalBytes } from '@baton/ledger'
import type { Checkpoint, Finding } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import type { ChainHead } from '../append/heads.ts'
import type { Database } from '../database.ts'
import { openChainCheckpoints } from '../read/assurance.ts'
import type { SealTarget } from './sealed-roots.ts'

interface Signed {
  readonly publicKey: KeyObject
  /** By origin, in order of size; the newest seal's is the last. */
  readonly targets: ReadonlyMap<string, readonly SealTarget[]>
}

/** Both are stored at once, so that a copy that says less than the newest seal was set back or taken away. */
export async function checkCheckpoints(
  db: Database,
  heads: readonly ChainHead[],
  { publicKey, targets }: Signed,
): Promise<readonly Finding[]> {
  const copies = await openChainCheckpoints(db, heads, publicKey)
  return heads.flatMap(({ chain, origin }): Finding[] => {
    const target = targets.get(origin)?.at(-1)
    const message = target && faultOf(copies.get(chain), target)
    return message === undefined ? [] : [{ origin, seq: null, rule: 'SEAL_LOG', message }]
  })
}

function faultOf(copy: Checkpoint | undefined, { size, root }: SealTarget): string | undefined {
  if (copy === undefined) return 'the copy of the chain’s signed head is gone, or not signed'
  if (copy.size !== size)
    return `the copy of the chain’s signed head covers ${copy.size} records, the newest seal ${size}`
  return equalBytes(copy.root, root)
    ? undefined
    : 'the copy of the chain’s signed head has another root than the newest seal'
}

// Which signed checkpoint was seen outside the database, by the best word that this process can have: of witnesses, of an anchor file, or else of
// the database, whose superuser can write what they like there.
import type { Policy } from '@baton/ledger'
import { readRegularFile } from '@baton/runtime'
import { lastNote } from '../seals/anchors/file-anchor.ts'
import { readWitnessUrls } from '../seals/anchors/witness-anchor.ts'
import type { SeenOutsideSettings } from '../settings.ts'
import { isWitnessed } from './quorum.ts'

/** By whose word a checkpoint counts as seen outside. */
export type SeenBy = 'witnesses' | 'anchor file' | 'database'

export interface SeenOutside {
  readonly by: SeenBy
  /** What was seen outside: a note in the database counts, or it does not. Undefined where the database is not asked. */
  readonly counts: ((note: string) => boolean) | undefined
  /** The newest note of the anchor file, not opened yet; undefined where it holds none, or is not asked. */
  readonly anchoredNote: string | undefined
}

/**
 * Witnesses count where a policy names a quorum of them, an anchor file otherwise. A policy or an anchor that cannot be read vouches for
 * nothing. The file is read before the database, which has had every checkpoint that stands in it.
 */
export async function askSeenOutside({
  BATON_SEAL_POLICY_FILE: policyFile,
  BATON_SEAL_ANCHOR_FILE: file,
}: SeenOutsideSettings): Promise<SeenOutside> {
  const policy = policyFile === undefined ? undefined : await readPolicy(policyFile)
  if (policyFile !== undefined && policy?.quorum !== null) {
    const counts = (note: string) => policy !== undefined && isWitnessed(note, policy)
    return { by: 'witnesses', counts, anchoredNote: undefined }
  }
  if (file === undefined) return { by: 'database', counts: () => true, anchoredNote: undefined }
  const anchoredNote = await lastNote(file).catch(() => undefined)
  return { by: 'anchor file', counts: undefined, anchoredNote }
}

async function readPolicy(file: string): Promise<Policy | undefined> {
  try {
    return readWitnessUrls(await readRegularFile(file)).policy
  } catch {
    return undefined
  }
}

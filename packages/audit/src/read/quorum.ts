// Whether enough witnesses cosigned a checkpoint: who they are and how many is said by a policy, never by the database.
import { readFile } from 'node:fs/promises'
import { encodeUtf8, meetsQuorum, openNote } from '@baton/ledger'
import type { Policy } from '@baton/ledger'
import { readWitnessUrls } from '../seals/anchors/witness-anchor.ts'

/** Without a policy a note that any anchor kept counts as witnessed. */
export function isWitnessed(note: string, policy: Policy | undefined): boolean {
  if (policy === undefined) return true
  const opened = openNote(encodeUtf8(note), [...policy.witnesses.values()])
  const signed = opened.ok ? opened.signatures : []
  return meetsQuorum(policy, ({ name, keyId }) =>
    signed.some((signature) => signature.name === name && signature.keyId === keyId),
  )
}

/** The same by the policy in a file. One that cannot be read vouches for nothing. */
export async function isWitnessedByFile(note: string, file: string | undefined): Promise<boolean> {
  if (file === undefined) return true
  try {
    return isWitnessed(note, readWitnessUrls(await readFile(file)).policy)
  } catch {
    return false
  }
}

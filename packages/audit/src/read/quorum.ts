// Whether enough witnesses cosigned a checkpoint: who they are and how many is said by a policy, never by the database.
import { encodeUtf8, meetsQuorum, openNote } from '@baton/ledger'
import type { Policy } from '@baton/ledger'

/** Without a policy a note that any anchor kept counts as witnessed. */
export function isWitnessed(note: string, policy: Policy | undefined): boolean {
  if (policy === undefined) return true
  const opened = openNote(encodeUtf8(note), [...policy.witnesses.values()])
  const signed = opened.ok ? opened.signatures : []
  return meetsQuorum(policy, ({ name, keyId }) =>
    signed.some((signature) => signature.name === name && signature.keyId === keyId),
  )
}

// Makes a hand-over: the new key signs what stood in the log before, and the entry that hands it over.
import { toBase64 } from './bytes.ts'
import { formatVerifierKey } from './note/key.ts'
import type { VerifierKey } from './note/key.ts'
import type { NoteSigner } from './note/signer.ts'
import type { SealEntry } from './seal-entry.ts'
import { handoverStatement } from './seal-keys.ts'
import type { UnsignedHandover } from './seal-keys.ts'

interface HandoverOptions {
  /** The key in force. */
  readonly from: VerifierKey
  /** Signs from the next entry on. */
  readonly to: NoteSigner
  /** Of the seal log without this entry. */
  readonly rootBefore: Uint8Array
}

/** The entry as a hand-over; its own place is the last of its `handovers`. */
export function signHandover(
  entry: Omit<UnsignedHandover, 'handover'>,
  { from, to, rootBefore }: HandoverOptions,
): SealEntry {
  const keys = { from: formatVerifierKey(from), to: formatVerifierKey(to.key) }
  const { bytes } = to.sign(handoverStatement({ ...entry, handover: keys }, rootBefore))
  return { ...entry, handover: { ...keys, proof: toBase64(bytes) } }
}

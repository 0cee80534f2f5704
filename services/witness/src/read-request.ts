// The body of C2SP tlog-witness add-checkpoint: the old size, a consistency proof and the note.
import { decodeUtf8, fromBase64, readDecimal } from '@baton/ledger'

export interface AddCheckpoint {
  readonly oldSize: number
  readonly proof: readonly Uint8Array[]
  readonly note: string
}

/** A proof of a log of 2^63 entries has 63 hashes. */
const PROOF_HASHES_MAX = 63

/** Undefined when the bytes are not such a body. */
export function readAddCheckpoint(bytes: Uint8Array): AddCheckpoint | undefined {
  const text = decodeUtf8(bytes) ?? ''
  const end = text.indexOf('\n\n')
  if (end < 0) return undefined
  const [first = '', ...hashes] = text.slice(0, end).split('\n')
  const oldSize = first.startsWith('old ') ? readDecimal(first.slice('old '.length)) : undefined
  if (oldSize === undefined || hashes.length > PROOF_HASHES_MAX) return undefined
  const proof = hashes.map(fromBase64)
  if (!proof.every((hash) => hash?.length === 32)) return undefined
  return { oldSize, proof: proof as Uint8Array[], note: text.slice(end + 2) }
}

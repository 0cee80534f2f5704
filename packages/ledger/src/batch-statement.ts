// What the append service signs about a batch, and how its key is named; without node:crypto's keys, so
// that the page of a bundle can check it too.
import { encodeUtf8, toHex } from './bytes.ts'
import { sha256 } from './sha256.ts'

/** One contiguous run of a chain, appended together. `lastHash` is lower-case hex. */
export interface BatchStatement {
  readonly origin: string
  readonly firstSeq: number
  readonly lastSeq: number
  readonly lastHash: string
}

export const batchStatementBytes = (statement: BatchStatement): Uint8Array => {
  const { origin, firstSeq, lastSeq, lastHash } = statement
  return encodeUtf8(`baton/batch/v1\n${origin}\n${firstSeq}\n${lastSeq}\n${lastHash}\n`)
}

/** The name of a raw 32-byte public key in records and signatures. */
export const batchKeyIdOf = (publicKey: Uint8Array): string => toHex(sha256(publicKey)).slice(0, 16)

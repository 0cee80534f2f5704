// The hash of a record is also its RFC 6962 leaf hash: one hash serves the chain and the tree.
import { createHash } from 'node:crypto'

const LEAF_PREFIX = Buffer.of(0)

/** What the first record of a chain, and the first record of a task, link to. */
export const GENESIS_HASH = Buffer.alloc(32)

/** SHA-256(0x00 || body): 32 bytes. */
export function recordHash(body: Uint8Array): Buffer {
  return createHash('sha256').update(LEAF_PREFIX).update(body).digest()
}

// The hash of a record is also its RFC 6962 leaf hash: one hash serves the chain and the tree.
import { hash } from 'node:crypto'

/** What the first record of a chain, and the first record of a task, link to. */
export const GENESIS_HASH = Buffer.alloc(32)

/** Its first byte stays 0; the rest is written anew for each record. */
const LEAF = new Uint8Array(65_536)

/** SHA-256(0x00 || body): 32 bytes. */
export function recordHash(body: Uint8Array): Buffer {
  const leaf = body.length < LEAF.length ? LEAF : new Uint8Array(1 + body.length)
  leaf.set(body, 1)
  // Node makes a text much faster than a new Buffer.
  return Buffer.from(hash('sha256', leaf.subarray(0, 1 + body.length), 'latin1'), 'latin1')
}

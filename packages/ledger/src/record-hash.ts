// The hash of a record is also its RFC 6962 leaf hash: one hash serves the chain and the tree.
import { hash } from 'node:crypto'

/** What the first record of a chain, and the first record of a task, link to. */
export const GENESIS_HASH = Buffer.alloc(32)

/** SHA-256(0x00 || body): 32 bytes. */
export function recordHash(body: Uint8Array): Buffer {
  const leaf = Buffer.allocUnsafe(1 + body.length)
  leaf[0] = 0
  leaf.set(body, 1)
  return hash('sha256', leaf, 'buffer')
}

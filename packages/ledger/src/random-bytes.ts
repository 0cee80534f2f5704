// Random bytes drawn from the system in blocks: one call serves hundreds of salts and nonces.
import { randomFillSync } from 'node:crypto'

const BLOCK_BYTES = 16_384

let block = Buffer.alloc(0)
let used = 0

/** `length` fresh random bytes, at most a block; no byte is ever handed out twice. */
export function takeRandomBytes(length: number): Buffer {
  if (used + length > block.length) {
    block = randomFillSync(Buffer.allocUnsafeSlow(BLOCK_BYTES))
    used = 0
  }
  used += length
  return block.subarray(used - length, used)
}

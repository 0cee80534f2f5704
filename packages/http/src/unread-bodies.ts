// A refusal that is sent while the body still comes would be lost: the system resets a connection that is closed with bytes unread.
import type { IncomingMessage } from 'node:http'

/** What is read of such a body, and for how long, before the answer is sent all the same. */
const DROPPED_BYTES_MAX = 16 * 1_048_576
const DROPPING_MS = 1_000

/** Drops what still comes of a body that nobody reads; resolves once it is over, or was enough. */
export function dropBody(raw: IncomingMessage): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let dropped = 0
  const count = (chunk: Buffer): void => {
    dropped += chunk.byteLength
    if (dropped > DROPPED_BYTES_MAX) resolve()
  }
  const timer = setTimeout(resolve, DROPPING_MS)
  raw.on('data', count).once('end', resolve).once('close', resolve)
  return promise.finally(() => {
    clearTimeout(timer)
    raw.off('data', count).off('end', resolve).off('close', resolve)
  })
}

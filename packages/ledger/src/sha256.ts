// The one place that asks node:crypto for a digest; the browser's verifier puts its own in its place.
import { hash } from 'node:crypto'

/** SHA-256: 32 bytes. Goes by way of a string, which costs node:crypto a third of a new Buffer. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const text = hash('sha256', bytes, 'binary')
  const digest = new Uint8Array(32)
  for (let at = 0; at < 32; at += 1) digest[at] = text.charCodeAt(at)
  return digest
}

/** The same in lower-case hex. */
export const sha256Hex = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')

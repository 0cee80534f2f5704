// The one place that asks node:crypto for a digest; the browser's verifier puts its own in its place.
import { hash } from 'node:crypto'

/** SHA-256: 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const digest = new Uint8Array(32)
  putSha256(bytes, digest, 0)
  return digest
}

/** Puts the 32 bytes into `target`. By way of a string: a Buffer costs node:crypto three times as much. */
export function putSha256(bytes: Uint8Array, target: Uint8Array, from: number): void {
  const text = hash('sha256', bytes, 'binary')
  for (let at = 0; at < 32; at += 1) target[from + at] = text.charCodeAt(at)
}

/** The same in lower-case hex. */
export const sha256Hex = (bytes: Uint8Array): string => hash('sha256', bytes, 'hex')

// The one place that asks node:crypto for a digest; the browser's verifier puts its own in its place.
import { hash } from 'node:crypto'

/** SHA-256: 32 bytes. */
export const sha256 = (bytes: Uint8Array): Uint8Array => hash('sha256', bytes, 'buffer')

// What vouches for a manifest: the text that an exporter signs, and the digest beside it.
import { concatBytes, encodeUtf8, toBase64 } from '../bytes.ts'
import { sha256, sha256Hex } from '../sha256.ts'
import { BUNDLE_FORMAT } from './format.ts'

/** The text of the note that an exporter signs about the bytes of a manifest. */
export const exporterText = (manifest: Uint8Array): string =>
  `${BUNDLE_FORMAT}\n${toBase64(sha256(manifest))}\n`

/** Over what no list covers: the manifest and its note. A line of hex. */
export const manifestDigest = (manifest: Uint8Array, note: Uint8Array | undefined): Uint8Array =>
  encodeUtf8(`${sha256Hex(concatBytes([manifest, note ?? new Uint8Array(0)]))}\n`)

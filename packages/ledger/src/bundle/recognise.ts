// Whether a file is a bundle at all, whole or damaged: only then can anything of it have been changed.
import { encodeUtf8 } from '../bytes.ts'
import { FILES } from './format.ts'

/** What every header of the container holds, and where its name begins before it. */
const MAGIC = encodeUtf8('ustar')
const MAGIC_AT = 257
const NAMES = Object.values(FILES).map((name) => encodeUtf8(`${name}\u0000`))
const FIRST = encodeUtf8(`${FILES.manifest}\u0000`)

/** True where the file begins as a bundle does, or any header of a bundle's file stands in it, wherever bytes were added or lost. */
export function isBundleLike(bytes: Uint8Array): boolean {
  if (standsAt(bytes, FIRST, 0)) return true
  for (let at = bytes.indexOf(MAGIC[0] as number); at >= 0;) {
    const start = at - MAGIC_AT
    if (standsAt(bytes, MAGIC, at) && NAMES.some((name) => standsAt(bytes, name, start)))
      return true
    at = bytes.indexOf(MAGIC[0] as number, at + 1)
  }
  return false
}

const standsAt = (bytes: Uint8Array, part: Uint8Array, at: number): boolean =>
  at >= 0 && part.every((byte, index) => bytes[at + index] === byte)

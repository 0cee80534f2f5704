// Objects of the cold store as they are stored: zstd, and never larger than what they may hold.
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompress } from 'node:zlib'
import { isCompressed } from './cold-store.ts'

const compress = promisify(zstdCompress)
const decompress = promisify(zstdDecompress)

/** Higher levels gain nothing on records and cost several times as much. */
const LEVEL = 3

export const encodeObject = async (name: string, bytes: Uint8Array): Promise<Uint8Array> =>
  isCompressed(name)
    ? compress(bytes, {
        params: {
          [constants.ZSTD_c_compressionLevel]: LEVEL,
          [constants.ZSTD_c_checksumFlag]: 1,
        },
      })
    : bytes

/** Undefined when the bytes are cut off, changed, or more than `bytesMax` once decompressed. */
export async function decodeObject(
  name: string,
  bytes: Uint8Array,
  bytesMax: number,
): Promise<Uint8Array | undefined> {
  if (!isCompressed(name)) return bytes
  try {
    return await decompress(bytes, { maxOutputLength: bytesMax })
  } catch {
    return undefined
  }
}

// How the bytes of an object are packed while they are kept: as they are, or smaller.
import { promisify } from 'node:util'
import { constants, gunzip, gzip, zstdCompress, zstdDecompress } from 'node:zlib'

export type Packing = 'plain' | 'gzip' | 'zstd'

/** Larger than any object that is made here. */
export const OBJECT_BYTES_MAX = 1_073_741_824
/** Higher levels gain nothing on records and cost several times as much. */
const ZSTD = {
  params: { [constants.ZSTD_c_compressionLevel]: 3, [constants.ZSTD_c_checksumFlag]: 1 },
}

type Limit = { readonly maxOutputLength: number }
type Unpack = (bytes: Uint8Array, limit: Limit) => Promise<Uint8Array>

const zstd = promisify(zstdCompress)
const UNPACK: Readonly<Record<Packing, Unpack>> = {
  plain: async (bytes) => bytes,
  gzip: promisify<Uint8Array, Limit, Uint8Array>(gunzip),
  zstd: promisify<Uint8Array, Limit, Uint8Array>(zstdDecompress),
}

const PACK: Readonly<Record<Packing, (bytes: Uint8Array) => Promise<Uint8Array>>> = {
  plain: async (bytes) => bytes,
  gzip: promisify<Uint8Array, Uint8Array>(gzip),
  zstd: (bytes) => zstd(bytes, ZSTD),
}

export const pack = (packing: Packing, bytes: Uint8Array): Promise<Uint8Array> =>
  PACK[packing](bytes)

/** Null when the bytes are cut off, changed, or more than `bytesMax` once unpacked. */
export async function unpack(
  packing: Packing,
  bytes: Uint8Array,
  bytesMax: number,
): Promise<Uint8Array | null> {
  try {
    return await UNPACK[packing](bytes, { maxOutputLength: bytesMax })
  } catch {
    return null
  }
}

// A context in the message that carries it: byte for byte as it came, packed where it is large, and unpacked within bounds.
import { createHash } from 'node:crypto'
import { gunzipSync, gzipSync } from 'node:zlib'
import type { ContextSnapshot } from '../../generated/handoff.ts'
import { DEFAULT_LIMITS } from '../../limits.ts'
import { CONTEXT_BYTES_MAX } from './handoff-context.ts'
import { Sw4rmError } from './sw4rm-error.ts'

const CONTEXT_MEDIA_TYPE = 'application/vnd.sw4rm.handoff-context+json'
const PACKED_MEDIA_TYPE = 'application/vnd.sw4rm.handoff-context+gzip'

/** Larger contexts travel packed. */
const PACK_FROM_BYTES = 102_400

/** Bytes of a context, packed where they are many. Throws where they are too many for one message even so. */
export function snapshotOf(bytes: Uint8Array): ContextSnapshot {
  const already = isPacked(bytes)
  const packs = !already && bytes.length > PACK_FROM_BYTES
  const carried = packs ? gzipSync(bytes) : bytes
  const text = Buffer.from(carried).toString('base64')
  if (text.length > DEFAULT_LIMITS.stringMax)
    throw new Sw4rmError(
      `context_snapshot takes ${carried.length} bytes packed; ${DEFAULT_LIMITS.stringMax * 0.75} are allowed`,
    )
  return {
    encoding: packs ? 'gzip+base64' : 'base64',
    mediaType: already ? PACKED_MEDIA_TYPE : CONTEXT_MEDIA_TYPE,
    bytes: text,
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}

/** The bytes as they came. Throws where they are not the ones that were carried. */
export function snapshotBytes(snapshot: ContextSnapshot): Uint8Array {
  const carried = Buffer.from(snapshot.bytes, 'base64')
  const bytes = snapshot.encoding === 'gzip+base64' ? unpack(carried) : carried
  if (createHash('sha256').update(bytes).digest('hex') === snapshot.sha256) return bytes
  throw new Sw4rmError('context_snapshot does not have the digest it was sent with')
}

/** Whether bytes are gzip; no JSON begins like it. */
const isPacked = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** The JSON bytes of a context that may be packed, at most `bytesMax`: what would unpack to more is refused while it does. */
export const unpackContext = (bytes: Uint8Array, bytesMax = CONTEXT_BYTES_MAX): Uint8Array =>
  isPacked(bytes) ? unpack(bytes, bytesMax) : bytes

function unpack(bytes: Uint8Array, bytesMax = CONTEXT_BYTES_MAX): Uint8Array {
  try {
    return gunzipSync(bytes, { maxOutputLength: bytesMax })
  } catch (error) {
    const tooLarge = (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE'
    throw new Sw4rmError(
      `Failed to deserialize HandoffContext: ${tooLarge ? `unpacks to more than ${bytesMax} bytes` : 'not a gzip stream'}`,
    )
  }
}

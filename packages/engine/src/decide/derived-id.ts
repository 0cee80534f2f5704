// Ids that come out the same each time they are derived: whatever is repeated finds what it made before.
import { createHash } from 'node:crypto'
import { formatUuid } from '@baton/ledger'

/** A version 4 shaped id that is the same each time it is derived from the same name. */
export function derivedId(name: string): string {
  const digest = createHash('sha256').update(`baton/derived-id/v1\n${name}`).digest()
  digest[6] = ((digest[6] ?? 0) & 0x0f) | 0x40
  digest[8] = ((digest[8] ?? 0) & 0x3f) | 0x80
  return formatUuid(digest.subarray(0, 16))
}

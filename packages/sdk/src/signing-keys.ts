// The signing keys as one setting, so that rotating is changing one line (E10).
import { createKeyRing } from '@baton/protocol'
import type { KeyRing, KeyStatus } from '@baton/protocol'
import { permanent } from '@baton/runtime'

const ENTRY =
  /^(?<id>[A-Za-z0-9._-]{1,64}):(?<status>active|verify-only|revoked):(?<secret>[A-Za-z0-9+/=_-]+)$/

/**
 * Parses `BATON_SIGNING_KEYS`: comma-separated `id:status:base64-secret`, exactly one `active`.
 * Throws BATON_SIGNING_KEYS_INVALID without showing any secret.
 */
export function parseSigningKeys(setting: string): KeyRing {
  const keys = setting.split(',').map((entry, index) => {
    const groups = ENTRY.exec(entry.trim())?.groups
    if (groups === undefined) throw invalid(`entry ${index + 1} is not id:status:base64-secret`)
    return {
      id: groups['id'] ?? '',
      status: groups['status'] as KeyStatus,
      secret: Buffer.from(groups['secret'] ?? '', 'base64'),
    }
  })
  const active = keys.find((key) => key.status === 'active')
  if (active === undefined) throw invalid('no key is active')
  return createKeyRing({ active: active.id, keys })
}

const invalid = (problem: string) =>
  permanent('BATON_SIGNING_KEYS_INVALID', `BATON_SIGNING_KEYS: ${problem}`, {
    fix: 'Write k1:active:<base64 of 32 random bytes>, and older keys as k0:verify-only:<...>, separated by commas.',
  })

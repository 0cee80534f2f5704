// Which receivers are called directly, as a setting lists them.
import { permanent } from '@baton/runtime'

/**
 * Reads `http://host:port`, for all agent types, or `type=http://host:port,other=https://...`. Throws
 * BATON_SYNC_RECEIVERS_INVALID.
 */
export function parseReceivers(text: string): ReadonlyMap<string, string> {
  const entries = text.split(',').map((entry) => {
    const [, type = '*', url = ''] = /^(?:([^=]+)=)?(https?:\/\/.+)$/.exec(entry.trim()) ?? []
    if (!URL.canParse(url)) throw INVALID
    return [type, url] as const
  })
  const receivers = new Map(entries)
  if (receivers.size < entries.length) throw INVALID
  return receivers
}

const INVALID = permanent(
  'BATON_SYNC_RECEIVERS_INVALID',
  'BATON_SYNC_RECEIVERS is no list of receivers',
  { fix: 'Give http://host:port for all agent types, or type=http://host:port, comma-separated.' },
)

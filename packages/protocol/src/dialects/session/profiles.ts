// What is known of peers from their announcements: the latest one counts, for a while (S02).
import type { SessionAnnounce } from './announce.ts'

interface Known {
  readonly announce: SessionAnnounce
  readonly atMs: number
}

export interface ProfileCache {
  /** An announcement that came at this time; an older one than the known one changes nothing. */
  keep(peer: string, announce: SessionAnnounce, atMs: number): void
  find(peer: string, nowMs: number): SessionAnnounce | undefined
}

/**
 * Holds one profile of each peer. `expiryMs` after it was announced, a profile is not known any more. `onChanged` is told of each peer that
 * announces something else than what is known of it, its tasks aside.
 */
export function createProfileCache(
  expiryMs: number,
  onChanged: (peer: string) => void = () => undefined,
): ProfileCache {
  const known = new Map<string, Known>()
  return {
    keep(peer, announce, atMs) {
      const before = known.get(peer)
      if (before !== undefined && before.atMs > atMs) return
      known.set(peer, { announce, atMs })
      if (before === undefined || hasOf(before.announce) !== hasOf(announce)) onChanged(peer)
    },
    find(peer, nowMs) {
      const one = known.get(peer)
      if (one === undefined) return undefined
      if (nowMs - one.atMs < expiryMs) return one.announce
      known.delete(peer)
      return undefined
    },
  }
}

const hasOf = ({ worker, capabilities, mcp_health: health }: SessionAnnounce): string =>
  JSON.stringify([worker, capabilities, health])

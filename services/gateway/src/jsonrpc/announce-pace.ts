// How often what a session peer announces may end the waiting for work: one that announces something else without end, by a
// fault or on purpose, keeps no other from work.

/** So many at once, and one more each second: a worker has not so many news. */
const AT_ONCE = 10
const EVERY_MS = 1_000

export interface AnnouncePace {
  /** Acts for this peer now, or as soon as it may again; those that wait are one. */
  announced(peer: string): void
  stop(): void
}

/** Peers are as many as there are in their file. */
export function createAnnouncePace(act: (peer: string) => void): AnnouncePace {
  /** When a peer would have used up all that it may do at once. */
  const usedUntil = new Map<string, number>()
  const waiting = new Map<string, NodeJS.Timeout>()

  function use(peer: string): void {
    waiting.delete(peer)
    usedUntil.set(peer, Math.max(usedUntil.get(peer) ?? 0, performance.now()) + EVERY_MS)
    act(peer)
  }

  return {
    announced(peer) {
      if (waiting.has(peer)) return
      const ahead = (usedUntil.get(peer) ?? 0) - performance.now()
      const waitMs = ahead - (AT_ONCE - 1) * EVERY_MS
      if (waitMs <= 0) return use(peer)
      waiting.set(
        peer,
        setTimeout(() => use(peer), waitMs),
      )
    },
    stop() {
      for (const timer of waiting.values()) clearTimeout(timer)
    },
  }
}

// Which of several processes that do the same is asked: the first of the list that answers, and the first one again once it may be back,
// so that all who ask come to the same one.

export interface ServersInTurn {
  /** Which one is asked now. */
  current(): number
  /** It did not answer: the next one is asked from now on. */
  leave(server: number): void
}

/** How long after one was left the list is gone through from its beginning. */
const AGAIN_MS = 30_000

export function serversInTurn(servers: number, now = () => performance.now()): ServersInTurn {
  let at = 0
  let leftAtMs = 0
  return {
    current() {
      if (at !== 0 && now() - leftAtMs >= AGAIN_MS) at = 0
      return at
    },
    leave(server) {
      if (server !== at) return
      at = (at + 1) % servers
      leftAtMs = now()
    },
  }
}

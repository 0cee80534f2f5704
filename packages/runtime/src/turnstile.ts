// Lets so many through at once; others wait in order, for as long as they like.

/** Rejects with the reason of `signal` where that is aborted before it is its turn; the work is then not begun. */
export type Turnstile = <Result>(
  work: () => Promise<Result>,
  signal?: AbortSignal,
) => Promise<Result>

export function createTurnstile(insideMax: number): Turnstile {
  const waiting = new Set<() => void>()
  let inside = 0

  const turn = (signal: AbortSignal | undefined): Promise<void> =>
    new Promise((resolve, reject) => {
      const enter = (): void => {
        waiting.delete(enter)
        signal?.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = (): void => {
        waiting.delete(enter)
        reject(signal?.reason as Error)
      }
      waiting.add(enter)
      signal?.addEventListener('abort', giveUp, { once: true })
    })

  return async (work, signal) => {
    signal?.throwIfAborted()
    if (inside >= insideMax) await turn(signal)
    else inside += 1
    try {
      return await work()
    } finally {
      // Whoever comes next takes this place, so that nobody overtakes those that wait.
      const [next] = waiting
      if (next === undefined) inside -= 1
      else next()
    }
  }
}

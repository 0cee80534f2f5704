// Counts handlers under way, so that a stop can wait for the last one.

export interface RunningHandlers {
  /** Runs `work`; whatever it does, it is counted until it has ended. */
  track(work: () => Promise<void>): Promise<void>
  readonly count: number
  /** Resolves when none is under way. */
  idle(): Promise<void>
}

export function createRunningHandlers(): RunningHandlers {
  let count = 0
  let waiters: (() => void)[] = []
  const ended = (): void => {
    count -= 1
    if (count > 0) return
    for (const wake of waiters) wake()
    waiters = []
  }
  return {
    get count() {
      return count
    },
    async track(work) {
      count += 1
      try {
        await work()
      } finally {
        ended()
      }
    },
    idle: () =>
      count === 0 ? Promise.resolve() : new Promise<void>((resolve) => waiters.push(resolve)),
  }
}

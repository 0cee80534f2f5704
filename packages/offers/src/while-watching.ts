// Looking again and again at what is kept: at once where the backend says that it changed, otherwise after a while.
import type { OfferStorage } from './storage.ts'

interface Watching {
  readonly storage: OfferStorage
  /** Between two looks where nobody says that something changed: not every file system does. */
  readonly everyMs: number
  /** Ends it after the look under way. */
  readonly signal: AbortSignal
}

/** Resolves once the signal has aborted. A change during a look leads to another one. Throws what `look` throws. */
export async function whileWatching(
  { storage, everyMs, signal }: Watching,
  look: () => Promise<void>,
): Promise<void> {
  let isChanged = false
  let wake = (): void => undefined
  const changed = (): void => {
    isChanged = true
    wake()
  }
  const stop = storage.watch?.(changed)
  signal.addEventListener('abort', changed)
  try {
    while (!signal.aborted) {
      isChanged = false
      await look()
      if (isChanged) continue
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, everyMs)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  } finally {
    signal.removeEventListener('abort', changed)
    stop?.()
  }
}

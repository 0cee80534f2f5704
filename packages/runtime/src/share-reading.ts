// One reading for all who ask at about the same time: what many may ask for costs what one does.

/** A failure is shared as well, or a server that is overloaded would be asked again by everybody. */
const FAILED_MS = 1_000

/** Answers what `read` answered last, for `freshMs` from its end; nobody begins another while one is under way. */
export function shareReading<Answer>(
  read: () => Promise<Answer>,
  freshMs: number,
): () => Promise<Answer> {
  let latest: Promise<Answer> | undefined
  let staleAtMs = 0
  const keepFor = (ms: number) => () => void (staleAtMs = performance.now() + ms)
  return () => {
    if (latest === undefined || performance.now() >= staleAtMs) {
      staleAtMs = Infinity
      latest = read()
      latest.then(keepFor(freshMs), keepFor(Math.min(freshMs, FAILED_MS)))
    }
    return latest
  }
}

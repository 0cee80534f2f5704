// Retry waits that spread a crowd instead of marching it in step.

interface BackoffBounds {
  readonly baseMs: number
  readonly capMs: number
}

/** Full jitter: a uniform wait in [0, min(cap, base * 2^attempt)), attempt counted from 0. */
export function fullJitterMs(
  attempt: number,
  { baseMs, capMs }: BackoffBounds,
  random: () => number = Math.random,
): number {
  const ceilingMs = Math.min(capMs, baseMs * 2 ** Math.min(attempt, 30))
  return Math.floor(random() * ceilingMs)
}

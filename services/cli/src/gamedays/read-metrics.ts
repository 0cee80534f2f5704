// One number from what the processes of a game day show at /metrics; what does not answer is left out.
import type { Watched } from './game-day.ts'

/** Where a process shows its numbers, and with which key. */
export interface Target {
  /** As Prometheus calls it: `baton-relay`. */
  readonly job: string
  readonly url: string
  readonly key?: string
}

const ANSWER_MAX_MS = 2_000

/** Null where nobody shows the metric. */
export async function readWatched(
  targets: readonly Target[],
  watched: Watched,
): Promise<number | null> {
  const texts = await Promise.all(targets.map(shown))
  return valueOf(
    watched,
    texts.flatMap((text) => text.split('\n')),
  )
}

async function shown({ url, key }: Target): Promise<string> {
  try {
    const answer = await fetch(new URL('/metrics', url), {
      headers: key === undefined ? {} : { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(ANSWER_MAX_MS),
    })
    return answer.ok ? await answer.text() : ''
  } catch {
    return ''
  }
}

/** Of lines in the text format of Prometheus. */
export function valueOf(
  { metric, where = {}, how }: Watched,
  lines: readonly string[],
): number | null {
  const wanted = Object.entries(where).map(([label, value]) => `${label}="${value}"`)
  const values = lines
    .filter((line) => line.startsWith(`${metric}{`) || line.startsWith(`${metric} `))
    .filter((line) => wanted.every((pair) => line.includes(pair)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
  if (values.length === 0) return null
  if (how === 'sum') return values.reduce((sum, value) => sum + value, 0)
  return how === 'max' ? Math.max(...values) : Math.min(...values)
}

// Why a task ended without a result, in words: the reason, the places, and what happens now.
import type { EndedTask } from './run-one-task.ts'

interface End {
  readonly reason: string | null
  readonly details: unknown
  readonly text: string
}

const PLACES_MAX = 5

const AFTERWARDS: Readonly<Record<string, string>> = {
  DEAD_LETTERED: 'It waits for a person and is not tried again.',
  ROLLED_BACK: 'The task stands at its sender’s checkpoint again.',
  REJECTED: 'It was not executed.',
  EXPIRED: 'Its time was over before it could be executed.',
}

export function describeEnd({ task, handoffs }: EndedTask): End {
  const last = handoffs.at(-1)
  const reason = last?.reason ?? null
  const state = last?.state ?? task.status
  const places = placesOf(last?.details).map((place) => `\n    ${place}`)
  const text = `${state}${reason === null ? '' : `: ${reason}`}. ${AFTERWARDS[state] ?? ''}${places.join('')}`
  return { reason, details: last?.details ?? null, text: `  ✗ ${text.trimEnd()}` }
}

function placesOf(details: unknown): string[] {
  if (!Array.isArray(details)) return []
  return (details as { pointer?: string; rule?: string; message?: string }[])
    .slice(0, PLACES_MAX)
    .map(
      ({ pointer = '', rule = '', message = '' }) =>
        `${pointer || '(whole message)'}: ${message} (${rule})`,
    )
}

// How long after each fault's end the first handoff was accepted within the service level again.
import type { Evidence } from './evidence.ts'

/** The service level's bound from send to accept. */
const IN_TIME_MS = 2_000

export interface Recovery {
  readonly kind: string
  readonly tookMs: number
}

/** One figure for each fault that ended while there was traffic to judge by. */
export function recoveriesMs({ faults, handoffs }: Evidence): readonly Recovery[] {
  const acceptedInTime = handoffs
    .flatMap(({ acceptedAt, createdAt }) =>
      acceptedAt !== null && acceptedAt - createdAt <= IN_TIME_MS ? [acceptedAt] : [],
    )
    .toSorted((one, other) => one - other)
  const lastSent = handoffs.at(-1)?.createdAt ?? 0
  return faults
    .filter((fault) => fault.failure === undefined && fault.endedAt < lastSent)
    .flatMap(({ kind, endedAt }) => {
      const first = acceptedInTime.find((at) => at >= endedAt)
      return first === undefined ? [] : [{ kind, tookMs: first - endedAt }]
    })
}

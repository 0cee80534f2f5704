// The service levels of a handoff and the histogram edges that make them measurable (E17).

/** How a handoff reached its receiver, as the `transport` label and the service levels name it. */
export type HandoffTransport = 'http' | 'queue' | 'temporal'

export interface LatencyTarget {
  /** 99 of 100 handoffs are accepted within this time. */
  readonly p99Ms: number
  /** No handoff takes longer; one that does is a breach by itself. */
  readonly maxMs: number
}

/** Latency from dispatch to accept, per transport (E17). */
export const LATENCY_TARGETS = {
  http: { p99Ms: 200, maxMs: 500 },
  queue: { p99Ms: 500, maxMs: 2_000 },
  temporal: { p99Ms: 1_000, maxMs: 5_000 },
} as const satisfies Record<HandoffTransport, LatencyTarget>

/**
 * Upper bucket edges in seconds for every latency histogram. Each target above is an edge, so that
 * the share within a target is exact and never interpolated.
 */
export const LATENCY_EDGES_SECONDS: readonly number[] = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10,
]

// The published targets are kept, and each is an edge of the buckets.
import { describe, expect, it } from 'vitest'
import { LATENCY_EDGES_SECONDS, LATENCY_TARGETS } from './slo.ts'

describe('latency targets (E17)', () => {
  it('are the published ones', () => {
    expect(LATENCY_TARGETS).toEqual({
      http: { p99Ms: 200, maxMs: 500 },
      queue: { p99Ms: 500, maxMs: 2_000 },
      temporal: { p99Ms: 1_000, maxMs: 5_000 },
    })
  })

  it('are all bucket edges, so that the share within a target is exact', () => {
    const edges = new Set(LATENCY_EDGES_SECONDS)
    for (const { p99Ms, maxMs } of Object.values(LATENCY_TARGETS)) {
      expect(edges.has(p99Ms / 1_000)).toBe(true)
      expect(edges.has(maxMs / 1_000)).toBe(true)
    }
    expect(LATENCY_EDGES_SECONDS).toEqual(LATENCY_EDGES_SECONDS.toSorted((a, b) => a - b))
  })
})

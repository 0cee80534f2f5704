// Rises are answered once, by series, with the buckets of the latency and one number for all label sets of a rate.
import { describe, expect, it } from 'vitest'
import { takeRises } from './level-rises.ts'
import { createMetrics } from './metrics.ts'

const PAIR = { transport: 'queue', from_agent: 'a', to_agent: 'b' }
const find = (rises: Awaited<ReturnType<typeof takeRises>>, metric: string) =>
  rises.filter((rise) => rise.metric === metric)

describe('takeRises', () => {
  it('answers nothing before anything was counted', async () => {
    expect(await takeRises(createMetrics().registry)).toEqual([])
  })

  it('answers the buckets of each pair, each with those below it', async () => {
    const { registry, handoffLatencySeconds } = createMetrics()
    const pair = handoffLatencySeconds.with(PAIR)
    pair.observe(0.15)
    pair.observe(0.4)
    pair.observe(60)
    const [rise] = find(await takeRises(registry), 'baton_handoff_latency_seconds')
    expect(rise).toEqual({
      metric: 'baton_handoff_latency_seconds',
      labels: '{"from_agent":"a","to_agent":"b","transport":"queue"}',
      counts: [0, 0, 0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2, 3],
    })
  })

  it('adds up every label set that a rate takes in, and leaves the others out', async () => {
    const { registry, safetyVerdictsTotal, handoffsTotal, hopSeconds } = createMetrics()
    safetyVerdictsTotal.with({ decision: 'allow', category: 'none' }).inc(5)
    safetyVerdictsTotal.with({ decision: 'reject', category: 'injection' }).inc(2)
    handoffsTotal.with({ outcome: 'QUEUED', reason: '' }).inc(3)
    handoffsTotal.with({ outcome: 'COMPLETED', reason: '' }).inc(9)
    hopSeconds.validate.observe(0.01)
    hopSeconds.settle.observe(0.01)
    const rises = await takeRises(registry)
    expect(
      find(rises, 'baton_safety_verdicts_total').map(({ labels, counts }) => [labels, counts]),
    ).toEqual(
      expect.arrayContaining([
        ['{"decision":"reject"}', [2]],
        ['{}', [7]],
      ]),
    )
    expect(find(rises, 'baton_handoffs_total')[0]?.counts).toEqual([3])
    expect(find(rises, 'baton_hop_seconds_count')[0]?.counts).toEqual([1])
  })

  it('answers every rise to exactly one of those who read at the same time', async () => {
    const { registry, rollbacksTotal } = createMetrics()
    let taken = 0
    for (let round = 0; round < 20; round += 1) {
      rollbacksTotal.inc()
      const both = await Promise.all([takeRises(registry), takeRises(registry)])
      for (const { counts } of both.flat()) taken += counts[0] ?? 0
    }
    expect(taken).toBe(20)
  })
})

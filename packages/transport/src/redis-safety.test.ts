// A Redis that could lose jobs silently is recognised, with what to do about it.
import { describe, expect, it } from 'vitest'
import { judgeRedis, judgeReplicas } from './redis-safety.ts'
import type { RedisFacts } from './redis-safety.ts'

const SAFE: RedisFacts = {
  version: '7.0.15',
  appendOnly: true,
  evictionPolicy: 'noeviction',
  memoryLimitBytes: 268_435_456,
  replicas: 0,
}
const codes = (changes: Partial<RedisFacts>): string[] =>
  judgeRedis({ ...SAFE, ...changes }).map((finding) => `${finding.severity} ${finding.code}`)

describe('Redis safety', () => {
  it('finds nothing wrong with a durable, bounded Redis', () => {
    expect(codes({})).toEqual([])
  })

  it.each([
    [{ appendOnly: false }, ['unsafe BATON_REDIS_NOT_DURABLE']],
    [{ evictionPolicy: 'allkeys-lru' }, ['unsafe BATON_REDIS_EVICTS']],
    [{ memoryLimitBytes: 0 }, ['advice BATON_REDIS_UNBOUNDED']],
    [{ version: '4.0.14' }, ['unsafe BATON_REDIS_TOO_OLD']],
    [{ appendOnly: null }, ['advice BATON_REDIS_UNREADABLE']],
    [{ evictionPolicy: null, version: null }, ['advice BATON_REDIS_UNREADABLE']],
    [
      { appendOnly: false, evictionPolicy: 'volatile-ttl', memoryLimitBytes: 0 },
      [
        'unsafe BATON_REDIS_NOT_DURABLE',
        'unsafe BATON_REDIS_EVICTS',
        'advice BATON_REDIS_UNBOUNDED',
      ],
    ],
  ])('judges %j', (changes, expected) => {
    expect(codes(changes)).toEqual(expected)
  })

  it('of a primary that others take over from needs somebody who can', () => {
    const found = (replicas: number | null) =>
      judgeReplicas({ ...SAFE, replicas }).map(({ severity, code }) => `${severity} ${code}`)
    expect(found(0)).toEqual(['advice BATON_REDIS_ALONE'])
    expect([found(1), found(null)]).toEqual([[], []])
  })

  it('says what to do about each finding', () => {
    const findings = judgeRedis({ ...SAFE, appendOnly: false, evictionPolicy: 'allkeys-lru' })
    for (const { fix } of findings) expect(fix).toMatch(/^Set `/)
  })
})

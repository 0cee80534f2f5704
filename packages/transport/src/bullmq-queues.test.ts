// Every agent type has a queue name of its own that BullMQ and Redis can take.
import { describe, expect, it } from 'vitest'
import { queueNameOf } from './bullmq-queues.ts'

describe('queue names', () => {
  it('keep ordinary agent types readable, inside a hash tag', () => {
    expect(queueNameOf('risk-scoring')).toBe('{risk-scoring}')
    expect(queueNameOf('Team_A.v2')).toBe('{Team_A.v2}')
  })

  it.each([
    ['a:b', '{a%003ab}'],
    ['{a}', '{%007ba%007d}'],
    ['a%003ab', '{a%0025003ab}'],
    ['ü', '{%00fc}'],
    ['😀', '{%d83d%de00}'],
    ['\ud83d', '{%d83d}'],
  ])('escape %j', (agentType, name) => {
    expect(queueNameOf(agentType)).toBe(name)
  })

  it('differ for every two agent types, short of none', () => {
    const units = ['a', '%', ':', '{', '}', '0', '3', ' ', 'ü', '\ud83d', '\ude00']
    const types = units.flatMap((first) =>
      units.flatMap((second) => [first + second, ...units.map((third) => first + second + third)]),
    )
    expect(new Set(types.map(queueNameOf)).size).toBe(new Set(types).size)
  })

  it('hold nothing that BullMQ or a Redis Cluster would trip over', () => {
    for (const agentType of ['a:b', 'x{y}z', '}{', '::', 'a b\n']) {
      expect(queueNameOf(agentType)).toMatch(/^\{[A-Za-z0-9._%-]+\}$/)
    }
  })
})

// What is wrong with the end of a task stands in the line about its end, and blames no record that is there.
import type { TaskTrace } from '@baton/audit'
import type { FindingRule } from '@baton/ledger'
import { describe, expect, test } from 'vitest'
import { taskChecks, taskVerdict } from './task-verification.ts'

const cost = { totalSpentMicroUSD: 0, finalExecutionsMicroUSD: 0, hops: [] } as unknown
const end = { proof: 'witnessed', until: '2026-11-22T10:00:00.000000Z', records: 2 } as const

function trace(records: number, ...rules: readonly FindingRule[]): TaskTrace {
  return {
    taskId: '0001d56c-2248-428c-b5ec-3bfdcea4b8c4',
    records: Array.from({ length: records }, () => ({ assurance: 'archived', tier: 'hot' })),
    expired: 0,
    gaps: [],
    findings: rules.map((rule) => ({ origin: 'o', seq: null, rule, message: `of ${rule}` })),
    ends: rules.length === 0 ? [end] : [],
    verified: rules.length === 0,
    cost,
  } as unknown as TaskTrace
}

const notPassed = (found: TaskTrace) =>
  taskChecks(found).flatMap(({ name, mark, text }) =>
    mark === 'passed' ? [] : [[name, mark, text]],
  )

describe('verify TASK', () => {
  test('passes a task of which nothing is wrong', () => {
    expect(notPassed(trace(2))).toEqual([])
    expect(taskVerdict(trace(2))).toEqual(['passed', expect.stringContaining('Verified OK')])
  })

  test.each(['TASK_MAP', 'TASK_END'] as const)('says of %s in the line about the end', (rule) => {
    expect(notPassed(trace(2, rule))).toEqual([['end', 'failed', `of ${rule}`]])
  })

  test('says of a damaged map of tasks that the end is unknown, not that records were altered', () => {
    const [mark, words] = taskVerdict(trace(2, 'TASK_MAP'))
    expect(mark).toBe('failed')
    expect(words).toContain('nothing is wrong with those that are there')
    for (const rule of ['TASK_END', 'RECORD_HASH'] as const) {
      const [, altered] = taskVerdict(trace(2, 'TASK_MAP', rule))
      expect(altered).toContain('are not what was recorded')
    }
  })

  test('counts nothing where no record is left', () => {
    const texts = taskChecks(trace(0, 'TASK_END')).map(({ text }) => text)
    expect(texts.filter((text) => text === 'no record is there')).toHaveLength(2)
    expect(texts.join()).not.toContain('-1')
  })
})

// The state machine of protocol v0.1, pair by pair.
import { describe, expect, it } from 'vitest'
import { isStatus, mayBecome, nextStatuses, STATUSES } from './transitions.ts'
import type { Status } from './transitions.ts'

const LEGAL: readonly string[] = [
  'offered>accepted',
  'offered>rejected',
  'accepted>completed',
  'accepted>failed',
  'failed>offered',
]

const PAIRS = STATUSES.flatMap((from) => STATUSES.map((to): [Status, Status] => [from, to]))

it('P02 knows these five statuses and no other', () => {
  expect(STATUSES).toEqual(['offered', 'accepted', 'completed', 'failed', 'rejected'])
  for (const other of ['', 'Offered', 'pending', 'toString', 0, null, undefined, ['offered']])
    expect(isStatus(other)).toBe(false)
})

describe('P03', () => {
  it.each(PAIRS)('%s to %s is what the protocol says', (from, to) => {
    expect(mayBecome(from, to)).toBe(LEGAL.includes(`${from}>${to}`))
    expect(nextStatuses(from).includes(to)).toBe(mayBecome(from, to))
  })
  it('has five legal pairs of twenty-five', () => {
    expect(PAIRS.filter(([from, to]) => mayBecome(from, to))).toHaveLength(5)
  })
})

// The legend of a trace names what occurs in it, and nothing else.
import { expect, test } from 'vitest'
import { describeEnd, keptLegend, summariseKept } from './describe-kept.ts'

const records = [
  { assurance: 'archived', tier: 'cold' },
  { assurance: 'archived', tier: 'hot' },
  { assurance: 'committed', tier: 'hot' },
] as const

test('levels are counted best first, and only those that occur', () => {
  expect(summariseKept(records)).toBe('2 archived, 1 committed')
  expect(keptLegend(records)).toEqual([
    'archived   signed, seen outside, and copied to the cold store',
    'committed  durable in the audit database; not signed yet',
    'cold       1 record read from the cold store, which alone has them',
  ])
})

test('nothing is said of the cold store where every record stands in the database', () => {
  expect(keptLegend(records.slice(1)).join('\n')).not.toContain('alone')
})

test('that something was seen outside is told with whose word that is, where it is the database’s', () => {
  const until = '2026-11-22T00:00:00.000000Z'
  const trace = {
    records: [],
    expired: 1,
    ends: [{ proof: 'witnessed', until, records: 1 }],
  } as const
  expect(describeEnd({ ...trace, seenBy: 'anchor file' }).words).toContain('(seen outside)')
  expect(describeEnd({ ...trace, seenBy: 'database' }).words).toContain(
    '(signed; that it was seen outside is the database’s word alone)',
  )
})

// One declaration of a set gives the statement and its parameters the same order, and its bytes are Postgres' own.
import { describe, expect, it } from 'vitest'
import { BINARY } from './binary-columns.ts'
import { columns, int4, nullable, text, uuid } from './columns.ts'
import type { RowOf } from './columns.ts'

const SET = columns({ handoffId: uuid, fencingToken: int4, costMicroUSD: nullable(text) })
const ROW: RowOf<typeof SET> = { handoffId: 'a', fencingToken: 1, costMicroUSD: null }

describe('a set as columns', () => {
  it('names its columns as tables do, each as an array parameter', () => {
    expect(SET.unnest('i')).toBe(
      'unnest($1::uuid[], $2::integer[], $3::text[]) as i (handoff_id, fencing_token, cost_micro_usd)',
    )
  })
  it('stands behind the parameters that come before it', () => {
    expect(SET.parameters({ after: 4 })).toBe('$5::uuid[], $6::integer[], $7::text[]')
    expect(SET.width).toBe(3)
  })
  it('numbers its rows where their order counts', () => {
    expect(columns({ id: uuid }).unnest('i', { after: 1, ordinality: 'nth' })).toBe(
      'unnest($2::uuid[]) with ordinality as i (id, nth)',
    )
  })
  it('gives the values of every row in the order of its columns, whatever else a row has', () => {
    const more = { costMicroUSD: 'x', handoffId: 'b', extra: 1, fencingToken: 2 }
    expect(SET.values([ROW, more])).toEqual([
      ['a', 'b'],
      [1, 2],
      [null, 'x'],
    ])
    expect(SET.values([])).toEqual([[], [], []])
  })
})

describe('a column in binary form', () => {
  it('writes dimensions, element type, and each value behind its length', () => {
    const encoded = BINARY.int4.encode([7, null]) as Buffer
    expect(encoded.toString('hex')).toBe(
      [
        '00000001',
        '00000001',
        '00000017',
        '00000002',
        '00000001',
        '00000004',
        '00000007',
        'ffffffff',
      ].join(''),
    )
  })
  it('is an array without dimensions where it is empty', () => {
    expect((BINARY.uuid.encode([]) as Buffer).toString('hex')).toBe('000000000000000000000b86')
  })
})

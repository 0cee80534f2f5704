// One bad item fails alone; an outage fails the whole set, because nothing is known then.
import { permanent, transient } from '@baton/runtime'
import { describe, expect, it } from 'vitest'
import { inSetOrSingly } from './in-set-or-singly.ts'

const commitExcept = (bad: number, error: Error) => {
  const sets: (readonly number[])[] = []
  return {
    sets,
    commit: async (set: readonly number[]) => {
      sets.push(set)
      if (set.includes(bad)) throw error
      return set.map((item) => item * 2)
    },
  }
}

describe('inSetOrSingly', () => {
  it('commits a good set at once', async () => {
    const { commit, sets } = commitExcept(-1, new Error('never'))
    expect(await inSetOrSingly([1, 2], commit)).toEqual([2, 4])
    expect(sets).toEqual([[1, 2]])
  })

  it('commits one by one where one item is refused for good, and only that one fails', async () => {
    const refused = permanent('BATON_DATABASE_REFUSED', 'no')
    const { commit } = commitExcept(2, refused)
    expect(await inSetOrSingly([1, 2, 3], commit)).toEqual([2, refused, 6])
  })

  it('commits one by one after a deadlock', async () => {
    const deadlock = transient('BATON_DATABASE_UNAVAILABLE', 'no', {
      cause: Object.assign(new Error('deadlock'), { code: '40P01' }),
    })
    let first = true
    const answer = await inSetOrSingly([1, 2], async (set) => {
      if (first) {
        first = false
        throw deadlock
      }
      return set
    })
    expect(answer).toEqual([1, 2])
  })

  it('fails the whole set in an outage', async () => {
    const outage = transient('BATON_DATABASE_UNAVAILABLE', 'down')
    const { commit, sets } = commitExcept(2, outage)
    await expect(inSetOrSingly([1, 2, 3], commit)).rejects.toBe(outage)
    expect(sets).toHaveLength(1)
  })

  it('does not repeat a single refused item', async () => {
    const refused = permanent('BATON_X', 'no')
    const { commit, sets } = commitExcept(1, refused)
    await expect(inSetOrSingly([1], commit)).rejects.toBe(refused)
    expect(sets).toHaveLength(1)
  })
})

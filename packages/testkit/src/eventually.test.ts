// Waiting returns at once when the condition holds and explains itself when it never does; seeds repeat.
import { describe, expect, it, vi } from 'vitest'
import { eventually, pollAfterMs } from './eventually.ts'
import { uniqueDatabaseName } from './names.ts'
import { seededRandom } from './random.ts'

describe('eventually', () => {
  it('returns what the condition returned', async () => {
    let asked = 0
    const value = await eventually(() => (asked++ < 3 ? null : 'here'), {
      deadlineMs: 2_000,
      describe: 'it is here',
    })
    expect(value).toBe('here')
  })

  it('says what was awaited and why it failed', async () => {
    const cause = new Error('refused')
    const attempt = eventually(() => Promise.reject(cause), {
      deadlineMs: 30,
      describe: () => 'the server answers',
    })
    await expect(attempt).rejects.toMatchObject({
      message: 'not within 30 ms: the server answers',
      cause,
    })
  })

  it('asks soon at first, and at most a tenth late', () => {
    expect([0, 99, 500, 60_000].map(pollAfterMs)).toEqual([10, 10, 50, 100])
  })
})

describe('names and seeds', () => {
  it('makes database names that fit and never meet', () => {
    const name = uniqueDatabaseName('Store, claims & a very long purpose that nobody would write')
    expect(name).toMatch(/^test_[a-z0-9_]{1,58}$/)
    expect(uniqueDatabaseName('store')).not.toBe(uniqueDatabaseName('store'))
  })

  it('repeats a run from its seed', () => {
    const draw = () => {
      const random = seededRandom('repeat', 7)
      return [random.next(), random.integer(1, 6), random.pick(['a', 'b', 'c'])]
    }
    expect(draw()).toEqual(draw())
  })

  it('has the same seed in every run, another one by name, and any on demand', () => {
    const seedOf = (named: string | undefined) => {
      vi.stubEnv('BATON_TEST_SEED', named)
      return seededRandom('which').seed
    }
    expect(seedOf(undefined)).toBe(seedOf(undefined))
    expect(seedOf('17')).toBe(17)
    expect(seedOf('random')).not.toBe(seedOf('random'))
    vi.unstubAllEnvs()
  })
})

// Each claim is shared out between tenants and by priority, and starts near where the last one ended.
import type { OutboxRow } from '@baton/store'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BATCH_MAX, createClassQuotas, createTurns, isFilled } from './claim-shares.ts'

const priorityClass = (priority: number, queue = 'q', tenant = 'default') => ({
  tenant,
  queue,
  priority,
})
const row = (seq: number, priority: 0 | 1 | 2 | 3) =>
  ({ ...priorityClass(priority), seq }) as OutboxRow

describe('the shares of a claim', () => {
  it('are 8, 4, 2 and 1 parts for priorities 0 to 3', () => {
    const quotas = createClassQuotas().of([0, 1, 2, 3].map((priority) => priorityClass(priority)))
    expect(quotas.map((quota) => quota.limit)).toEqual([106, 53, 26, 13])
  })

  it('leave every priority class at least one row, and a lone priority class the whole claim', () => {
    expect(createClassQuotas().of([priorityClass(3)])[0]?.limit).toBe(BATCH_MAX)
    const priority = fc.integer({ min: 0, max: 3 })
    fc.assert(
      fc.property(fc.array(priority, { minLength: 1, maxLength: 500 }), (priorities) => {
        const classes = priorities.map((one, index) => priorityClass(one, `q${index}`))
        const limits = createClassQuotas()
          .of(classes)
          .map((quota) => quota.limit)
        expect(Math.min(...limits)).toBeGreaterThanOrEqual(1)
        const sum = limits.reduce((total, limit) => total + limit, 0)
        expect(sum).toBeLessThanOrEqual(Math.max(BATCH_MAX, 2 * classes.length))
      }),
    )
  })
})

describe('the share of a tenant', () => {
  it('is that of any other, however many classes it has and whatever their priority', () => {
    const flood = Array.from({ length: 50 }, (_, nth) => priorityClass(0, `q${nth}`, 'acme'))
    const quotas = createClassQuotas().of([...flood, priorityClass(3, 'q', 'globex')])
    const shareOf = (wanted: string) =>
      quotas.reduce((sum, { tenant, limit }) => sum + (tenant === wanted ? limit : 0), 0)
    expect([shareOf('acme'), shareOf('globex')]).toEqual([BATCH_MAX / 2, BATCH_MAX / 2])
  })

  it('goes through its classes in turn where it has more than one pass serves, and lets no other wait', () => {
    const turns = createTurns(4)
    const all = ['a', 'b', 'c', 'd', 'e'].map((queue) => priorityClass(2, queue, 'acme'))
    const other = { ...priorityClass(2, 'z', 'globex'), granted: false }
    const pass = () => {
      const { perTenantMax, after } = turns.listing()
      const own = all.filter(({ queue }) => queue > (after.get('acme') ?? ''))
      const listed = own.slice(0, perTenantMax).map((one) => ({ ...one, granted: false }))
      const { classes, skipped } = turns.of([...listed, other])
      return [classes.map(({ queue }) => queue).join(''), skipped]
    }
    expect([pass(), pass(), pass()]).toEqual([
      ['abcz', true],
      ['dez', true],
      ['abcz', true],
    ])
  })

  it('serves every priority of one agent type that fills a pass', () => {
    const turns = createTurns(4)
    const own = [0, 1, 2, 3].map((priority) => ({ ...priorityClass(priority), granted: false }))
    expect(turns.of(own)).toEqual({ classes: own, skipped: true })
    expect(turns.of([])).toEqual({ classes: [], skipped: true })
    expect(turns.of([])).toEqual({ classes: [], skipped: false })
  })
})

describe('a claim', () => {
  it('is filled when one priority class gave all it was asked for, whatever the others gave', () => {
    const quotas = [
      { ...priorityClass(0), afterSeq: 0, limit: 2 },
      { ...priorityClass(2), afterSeq: 0, limit: 3 },
    ]
    expect(isFilled(quotas, [row(1, 0), row(2, 2), row(3, 2)])).toBe(false)
    expect(isFilled(quotas, [row(1, 0), row(4, 0)])).toBe(true)
    expect(isFilled(quotas, [])).toBe(false)
  })
})

describe('where a claim starts', () => {
  it('is shortly before the last row seen, and the beginning every ten seconds', () => {
    let now = 0
    const quotas = createClassQuotas(() => now)
    const startOf = (priority: number) => quotas.of([priorityClass(priority)])[0]?.afterSeq
    expect(startOf(0)).toBe(0)
    quotas.seen([row(20_000, 0), row(19_000, 0), row(100, 1)])
    expect(startOf(0)).toBe(15_000)
    expect(startOf(1)).toBe(0)
    now = 10_001
    expect(startOf(0)).toBe(0)
    expect(startOf(0)).toBe(15_000)
  })
})

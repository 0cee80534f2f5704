// What several tenants share, each has its part of: one that takes all it can leaves the others theirs, and alone a tenant has everything.
import { codeOf } from '@baton/runtime'
import { describe, expect, it } from 'vitest'
import {
  createLateRefusals,
  createMeter,
  createRunningBound,
  createShares,
} from './back-pressure.ts'

/** Work that goes on until it is told to end, and what it was refused with. */
function workshop(shared: { readonly tenants: number; readonly runningMax: number } | undefined) {
  let acting = 'acme'
  const bounded = createRunningBound({ runningMax: 10, tenant: () => acting, shared: () => shared })
  const { promise, resolve } = Promise.withResolvers<void>()
  return {
    end: resolve,
    /** Begins so much for a tenant; answers how much was taken, and why no more. */
    async begin(tenant: string, count: number) {
      acting = tenant
      const refusals: string[] = []
      const begun = Array.from({ length: count }, () =>
        bounded(() => promise).catch((error: unknown) => refusals.push(codeOf(error))),
      )
      await Promise.race([Promise.all(begun), new Promise((later) => setImmediate(later))])
      return [count - refusals.length, ...new Set(refusals)]
    },
  }
}

describe('what is under way', () => {
  it('is bounded for all together where one tenant is alone', async () => {
    expect(await workshop(undefined).begin('acme', 12)).toEqual([10, 'BATON_OVERLOADED'])
  })

  it('leaves every tenant its equal part, however many others fill it, and none more than its own bound', async () => {
    const { begin } = workshop({ tenants: 5, runningMax: 6 })
    expect(await begin('acme', 9)).toEqual([6, 'BATON_TENANT_OVERLOADED'])
    expect(await begin('globex', 9)).toEqual([4, 'BATON_OVERLOADED'])
    expect(await begin('initech', 3)).toEqual([2, 'BATON_OVERLOADED'])
  })

  it('is given back', async () => {
    const { begin, end } = workshop({ tenants: 2, runningMax: 5 })
    expect(await begin('acme', 6)).toEqual([5, 'BATON_TENANT_OVERLOADED'])
    end()
    await begin('globex', 1)
    expect(await begin('acme', 5)).toEqual([5])
  })
})

it('nothing is shared before a second tenant calls, whosever keys there are', () => {
  const { shared, meter } = createShares({ rateMax: 1, runningMax: 5, bytesPerSecondMax: 1 }, [])
  for (let nth = 0; nth < 9; nth += 1) meter('acme', 9)
  expect(shared()).toBeUndefined()
  meter('globex', 0)
  expect(shared()).toMatchObject({ tenants: 2, runningMax: 5 })
  meter('acme', 0)
  expect(() => meter('acme', 0)).toThrow('all keys of your tenant')
})

describe('a refusal for load', () => {
  const BUSY = { headers: { 'retry-after': '1' } }
  const held = (tenants: number | undefined) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const shared = () =>
      tenants === undefined
        ? undefined
        : { tenants, rateMax: 1, runningMax: 1, bytesPerSecondMax: 1 }
    const late = createLateRefusals({ shared, wait: () => promise })
    const waits = async (problem: Parameters<typeof late>[0]) =>
      await Promise.race([
        late(problem).then(() => false),
        new Promise<boolean>((answer) => setImmediate(() => answer(true))),
      ])
    return { waits, resolve }
  }

  it('is answered late where tenants share the gateway, and others at once', async () => {
    const { waits } = held(2)
    expect(await waits(BUSY)).toBe(true)
    expect(await waits({ headers: {} })).toBe(false)
    expect(await held(undefined).waits(BUSY)).toBe(false)
  })

  it('is answered at once while as many wait as may', async () => {
    const { waits, resolve } = held(2)
    const all = await Promise.all(Array.from({ length: 300 }, () => waits(BUSY)))
    expect(all.filter(Boolean)).toHaveLength(256)
    resolve()
    await new Promise((later) => setImmediate(later))
    expect(await held(2).waits(BUSY)).toBe(true)
  })
})

describe('a meter', () => {
  const metered = () => {
    let now = 0
    const meter = createMeter({ rateMax: 3, bytesPerSecondMax: 100 }, () => now)
    const ask = (tenant: string, bytes = 0): string => {
      try {
        meter(tenant, bytes)
        return ''
      } catch (error) {
        return codeOf(error)
      }
    }
    return { ask, at: (ms: number) => void (now = ms) }
  }

  it('counts the requests of each tenant in a minute', () => {
    const { ask, at } = metered()
    const codes = Array.from({ length: 4 }, () => ask('acme'))
    expect(codes).toEqual(['', '', '', 'BATON_TENANT_RATE_LIMITED'])
    expect(ask('globex')).toBe('')
    at(60_000)
    expect(ask('acme')).toBe('')
  })

  it('gives the requests of a minute evenly, five seconds’ worth of them at once', () => {
    let now = 0
    const meter = createMeter({ rateMax: 6_000, bytesPerSecondMax: 100 }, () => now)
    const taken = (): number => {
      for (let count = 0; ; count += 1) {
        try {
          meter('acme', 0)
        } catch {
          return count
        }
      }
    }
    expect(taken()).toBe(500)
    now = 1_000
    expect(taken()).toBe(100)
    now = 120_000
    expect(taken()).toBe(500)
  })

  it('gives each tenant its bytes of a second, and takes one larger body that is paid off after', () => {
    const { ask, at } = metered()
    expect([ask('acme', 60), ask('acme', 60), ask('globex', 60)]).toEqual([
      '',
      'BATON_TENANT_BYTES_LIMITED',
      '',
    ])
    at(60_000)
    expect([ask('acme', 250), ask('acme', 1)]).toEqual(['', 'BATON_TENANT_BYTES_LIMITED'])
    at(61_000)
    expect(ask('acme', 1)).toBe('BATON_TENANT_BYTES_LIMITED')
    at(120_000)
    expect([ask('acme', 100), ask('globex')]).toEqual(['', ''])
  })
})

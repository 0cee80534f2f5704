// The windows of receivers are asked for once in a while, for all who ask together, and stand while Postgres is away.
import type { Pool } from '@baton/store'
import { expect, it, vi } from 'vitest'
import { createKnownReceivers } from './known-receivers.ts'

function registered(windows: Readonly<Record<string, number>>) {
  const asked: (readonly string[])[] = []
  let away: Error | undefined
  const query = async ({ values: [types] }: { values: [string[]] }) => {
    asked.push(types)
    if (away !== undefined) throw away
    return { rows: types.map((type) => ({ type, windowTokens: windows[type] ?? null })) }
  }
  const fail = (code: string) => (away = Object.assign(new Error('no'), { code }))
  return { asked, fail, pool: { query } as unknown as Pool }
}

it('asks once for all who ask within five seconds, and again after them', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { asked, pool } = registered({ small: 2_000 })
    const receivers = createKnownReceivers({ pool, compression: { threshold: 0.5 } })
    const bounds = await receivers.boundsOf(['small', 'unheard-of'])
    expect(bounds.threshold).toBe(0.5)
    expect(bounds.windowTokensOf('small')).toBe(2_000)
    expect(bounds.windowTokensOf('unheard-of')).toBeUndefined()
    const before = asked.length
    vi.advanceTimersByTime(4_999)
    await receivers.boundsOf(['small', 'unheard-of'])
    expect(asked).toHaveLength(before)
    vi.advanceTimersByTime(1)
    await receivers.boundsOf(['small'])
    expect(asked).toHaveLength(before + 1)
  } finally {
    vi.useRealTimers()
  }
})

it('shares a statement among those who ask at the same time', async () => {
  const { asked, pool } = registered({})
  const receivers = createKnownReceivers({ pool })
  await Promise.all(Array.from({ length: 50 }, (_, at) => receivers.boundsOf([`type-${at}`])))
  expect(asked.length).toBeLessThanOrEqual(2)
})

it('goes on with what it knows while Postgres is away, and hides no defect', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  try {
    const { fail, pool } = registered({ small: 2_000 })
    const receivers = createKnownReceivers({ pool })
    await receivers.boundsOf(['small'])
    vi.advanceTimersByTime(6_000)
    fail('ECONNREFUSED')
    const bounds = await receivers.boundsOf(['small', 'other'])
    expect(bounds.windowTokensOf('small')).toBe(2_000)
    expect(bounds.windowTokensOf('other')).toBeUndefined()
    fail('42501')
    await expect(receivers.boundsOf(['small'])).rejects.toThrow()
  } finally {
    vi.useRealTimers()
  }
})

it('remembers the latest thousand types', async () => {
  const { asked, pool } = registered({})
  const receivers = createKnownReceivers({ pool })
  await receivers.boundsOf(['first'])
  await receivers.boundsOf(Array.from({ length: 1_000 }, (_, at) => `type-${at}`))
  const before = asked.length
  await receivers.boundsOf(['type-999'])
  expect(asked).toHaveLength(before)
  await receivers.boundsOf(['first'])
  expect(asked).toHaveLength(before + 1)
})

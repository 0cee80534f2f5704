// A breaker opens on outages only, fails fast while open, and closes by itself.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { createBreaker } from './breaker.ts'
import { BatonError, permanent, transient } from './errors.ts'

afterEach(() => vi.useRealTimers())

const down = () => Promise.reject(transient('BATON_DOWN', 'down'))

async function codes(calls: number, fire: () => Promise<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  for (let call = 0; call < calls; call += 1) {
    seen.push(await fire().catch((error: unknown) => (error as BatonError).code))
  }
  return seen
}

describe('a breaker', () => {
  it('opens after five failures and then answers BATON_BREAKER_OPEN without calling', async () => {
    const action = vi.fn(down)
    const breaker = createBreaker('auditor', action, { timeoutMs: 1_000 })
    const changes: boolean[] = []
    breaker.onChange((open) => changes.push(open))
    expect(await codes(5, () => breaker.fire())).toEqual(Array(5).fill('BATON_DOWN'))
    expect(breaker.open).toBe(true)
    expect(await codes(2, () => breaker.fire())).toEqual(Array(2).fill('BATON_BREAKER_OPEN'))
    expect(action).toHaveBeenCalledTimes(5)
    expect(changes).toEqual([true])
    breaker.close()
  })

  it('does not take a permanent refusal for an outage', async () => {
    const breaker = createBreaker('auditor', () => Promise.reject(permanent('BATON_NO', 'no')), {
      timeoutMs: 1_000,
    })
    expect(await codes(20, () => breaker.fire())).toEqual(Array(20).fill('BATON_NO'))
    expect(breaker.open).toBe(false)
    breaker.close()
  })

  it('tries again after the reset time and closes on success', async () => {
    vi.useFakeTimers()
    let broken = true
    const breaker = createBreaker('auditor', async () => (broken ? await down() : 'up'), {
      timeoutMs: 1_000,
      resetMs: 500,
    })
    await codes(5, () => breaker.fire())
    broken = false
    await vi.advanceTimersByTimeAsync(501)
    await expect(breaker.fire()).resolves.toBe('up')
    expect(breaker.open).toBe(false)
    breaker.close()
  })

  it('answers transient BatonErrors for a time-out and for too many calls at once', async () => {
    vi.useFakeTimers()
    const breaker = createBreaker('auditor', () => new Promise(() => undefined), {
      timeoutMs: 100,
      capacity: 1,
    })
    const slow = breaker.fire().catch((error: unknown) => error)
    const second = await breaker.fire().catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(101)
    expect(await slow).toMatchObject({ code: 'BATON_TIMEOUT', kind: 'transient' })
    expect(second).toBeInstanceOf(BatonError)
    expect(second).toMatchObject({ code: 'BATON_OVERLOADED', kind: 'transient' })
    breaker.close()
  })
})

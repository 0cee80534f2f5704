// Work is waited for as long as it may take, and its timer holds up no process afterwards.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { within } from './within.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const late = () => new Error('too late')
const never = new Promise<never>(() => undefined)

it('answers what the work comes to, and leaves no timer', async () => {
  await expect(within(10, Promise.resolve('done'), late)).resolves.toBe('done')
  await expect(within(10, Promise.reject(new Error('failed')), late)).rejects.toThrow('failed')
  expect(vi.getTimerCount()).toBe(0)
})

it('gives up after its time, and not before', async () => {
  const waiting = within(10, never, late)
  let isOver = false
  waiting.catch(() => (isOver = true))
  await vi.advanceTimersByTimeAsync(9)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  await expect(waiting).rejects.toThrow('too late')
})

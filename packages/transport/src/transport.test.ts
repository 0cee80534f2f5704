// A pointer names one publication of one handoff, and nothing else counts as one.
import { describe, expect, it } from 'vitest'
import { reconnectDelayMs } from './redis-connection.ts'
import { isPointer, jobIdOf } from './transport.ts'

const POINTER = {
  v: 1,
  handoffId: '0193b3f0-0000-7000-8000-000000000001',
  taskId: '0193b3f0-0000-7000-8000-000000000002',
  publishAttempt: 3,
  sha256: 'ab',
  bytes: 10,
  traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
} as const

describe('pointers', () => {
  it('have a job id of handoff and publish attempt', () => {
    expect(jobIdOf(POINTER)).toBe('h-0193b3f0-0000-7000-8000-000000000001-3')
  })

  it('are recognised with and without tracestate', () => {
    expect(isPointer(POINTER)).toBe(true)
    expect(isPointer({ ...POINTER, tracestate: 'a=b' })).toBe(true)
  })

  it.each([
    undefined,
    null,
    'text',
    [],
    {},
    { ...POINTER, v: 2 },
    { ...POINTER, handoffId: 7 },
    { ...POINTER, handoffId: 'not an id' },
    { ...POINTER, publishAttempt: 2 ** 31 },
    { ...POINTER, publishAttempt: 1.5 },
    { ...POINTER, bytes: '10' },
    { ...POINTER, tracestate: 1 },
    { ...POINTER, traceparent: undefined },
  ])('are not taken for %j', (data) => {
    expect(isPointer(data)).toBe(false)
  })
})

it('reconnects after at most a second, spread at random', () => {
  const delays = Array.from({ length: 200 }, (_, attempt) => reconnectDelayMs(attempt))
  expect(Math.max(...delays)).toBeLessThanOrEqual(1_000)
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(50)
  expect(new Set(delays).size).toBeGreaterThan(50)
})

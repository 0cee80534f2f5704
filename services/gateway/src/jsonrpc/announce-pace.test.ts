// News of a peer count at once, and a flood of them counts once a second; the last of them counts.
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createAnnouncePace } from './announce-pace.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('acts ten times at once, then once a second, and for another peer as before', () => {
  const acted: string[] = []
  const pace = createAnnouncePace((peer) => acted.push(peer))
  for (let count = 0; count < 1_000; count += 1) pace.announced('flood')
  expect(acted).toHaveLength(10)
  pace.announced('calm')
  expect(acted.at(-1)).toBe('calm')
  // The last of the flood is not lost.
  vi.advanceTimersByTime(1_001)
  expect(acted.filter((peer) => peer === 'flood')).toHaveLength(11)
  for (let ms = 0; ms < 10_000; ms += 10) {
    pace.announced('flood')
    vi.advanceTimersByTime(10)
  }
  expect(acted.filter((peer) => peer === 'flood').length).toBeLessThanOrEqual(22)
  pace.stop()
})

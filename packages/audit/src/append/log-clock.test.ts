// One wrong second reaches no record, whichever clock had it; what is right again goes on by itself.
import { describe, expect, it } from 'vitest'
import type { BatonError } from '@baton/runtime'
import { createLogClock } from './log-clock.ts'

const REFUSED = 'BATON_AUDIT_CLOCK transient'
const START = 1_800_000_000_000_000
const FIVE_DAYS_MS = 432_000_000

/** Two clocks that anybody may set, and time that passes all the same. */
function openClocks() {
  let elapsed = 0
  const offsets = { system: 0, database: 0 }
  const at = (offsetMs: number) => START + (elapsed + offsetMs) * 1_000
  const clock = createLogClock({
    ask: async () => at(offsets.database),
    systemMicros: () => at(offsets.system),
    elapsedMs: () => elapsed,
  })
  return {
    clock,
    set: (which: 'system' | 'database', ms: number) => void (offsets[which] = ms),
    pass: (ms: number) => void (elapsed += ms),
    /** The error's code and kind; null where a time was answered. */
    refusal: (): string | null => {
      try {
        clock.nowMicros()
        return null
      } catch (error) {
        const { code, kind } = error as BatonError
        return `${code} ${kind}`
      }
    },
  }
}

async function compared() {
  const clocks = openClocks()
  await clocks.clock.compare()
  return clocks
}

describe('the clock of the log', () => {
  it('refuses nothing before it could compare, and nothing while clocks agree', async () => {
    const clocks = openClocks()
    clocks.set('system', FIVE_DAYS_MS)
    expect(clocks.refusal()).toBeNull()
    clocks.set('system', 1_900)
    expect(await clocks.clock.compare()).toEqual({ aheadMs: 1_900 })
    for (let seconds = 0; seconds < 100; seconds += 2) {
      clocks.pass(2_000)
      await clocks.clock.compare()
      expect(clocks.refusal()).toBeNull()
    }
    expect(clocks.clock.nowMicros()).toBe(START + 101_900_000)
  })

  it('refuses one wrong second at once, without asking, and goes on after it', async () => {
    const clocks = await compared()
    clocks.pass(700)
    clocks.set('system', FIVE_DAYS_MS)
    expect(clocks.refusal()).toBe(REFUSED)
    clocks.pass(1_000)
    clocks.set('system', 0)
    expect(clocks.refusal()).toBeNull()
  })

  it('refuses it too where the database’s clock has the same wrong second', async () => {
    const clocks = await compared()
    clocks.set('system', FIVE_DAYS_MS)
    clocks.set('database', FIVE_DAYS_MS)
    for (const ms of [300, 2_000, 2_000, 2_000]) {
      clocks.pass(ms)
      await clocks.clock.compare()
      expect(clocks.refusal()).toBe(REFUSED)
    }
    clocks.set('system', 0)
    clocks.set('database', 0)
    expect(clocks.refusal()).toBeNull()
    await clocks.clock.compare()
    expect(clocks.refusal()).toBeNull()
  })

  it('believes both clocks once they have kept to a later time for ten seconds', async () => {
    const clocks = await compared()
    clocks.set('system', FIVE_DAYS_MS)
    clocks.set('database', FIVE_DAYS_MS)
    const refused: boolean[] = []
    for (let seconds = 0; seconds <= 12; seconds += 2) {
      await clocks.clock.compare()
      refused.push(clocks.refusal() === REFUSED)
      clocks.pass(2_000)
    }
    expect(refused).toEqual([true, true, true, true, true, false, false])
  })

  it('does not believe a second source that jumps to and fro', async () => {
    const clocks = await compared()
    clocks.set('system', FIVE_DAYS_MS)
    for (let round = 0; round < 10; round += 1) {
      clocks.set('database', FIVE_DAYS_MS + (round % 2) * 3_600_000)
      await clocks.clock.compare()
      expect(clocks.refusal()).toBe(REFUSED)
      clocks.pass(2_000)
    }
  })

  it('lets a clock that is behind go on: the chain keeps the order', async () => {
    const clocks = await compared()
    clocks.set('system', -3_600_000)
    expect(await clocks.clock.compare()).toEqual({ aheadMs: -3_600_000 })
    expect(clocks.refusal()).toBeNull()
  })

  it('takes a database’s clock that goes back at its word', async () => {
    const clocks = await compared()
    clocks.set('database', -60_000)
    expect(clocks.refusal()).toBeNull()
    await clocks.clock.compare()
    expect(clocks.refusal()).toBe(REFUSED)
  })
})

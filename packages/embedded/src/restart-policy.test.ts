// Who dies now and then is started again at once, who keeps dying is left, and who is kept from running is tried for ever.
import { describe, expect, it } from 'vitest'
import { decideRestart, ENDINGS_MAX, recentEndings } from './restart-policy.ts'
import type { Decision, Ending } from './restart-policy.ts'

/** What is decided at each end, where each life lasts so long. */
function decisions(lives: readonly { readonly ms: number; readonly isItsOwn?: boolean }[]) {
  let atMs = 0
  let endings: readonly Ending[] = []
  return lives.map(({ ms, isItsOwn = true }): Decision => {
    atMs += ms
    endings = recentEndings([...endings, { atMs, isItsOwn }])
    return decideRestart(endings)
  })
}

const times = <Life>(count: number, life: Life): Life[] => Array.from({ length: count }, () => life)

describe('decideRestart', () => {
  it('waits longer each time, then leaves what keeps dying', () => {
    const waits = [250, 500, 1_000, 2_000].map((waitMs) => ({ waitMs }))
    expect(decisions(times(ENDINGS_MAX, { ms: 3_000 }))).toEqual([...waits, 'leave'])
  })

  it('never leaves what lives for a while each time', () => {
    const seen = decisions(times(100, { ms: 20_000 }))
    expect(seen).not.toContain('leave')
    expect(seen.at(-1)).toEqual({ waitMs: 1_000 })
  })

  it('forgets after a minute', () => {
    const seen = decisions([...times(4, { ms: 1_000 }), { ms: 60_000 }])
    expect(seen.at(-1)).toEqual({ waitMs: 250 })
  })

  it('tries for ever, every ten seconds, what something else keeps from running', () => {
    const seen = decisions(times(1_000, { ms: 500, isItsOwn: false }))
    expect(seen).not.toContain('leave')
    expect(seen.at(-1)).toEqual({ waitMs: 10_000 })
  })

  it('counts only its own ends', () => {
    const kept = { ms: 1_000, isItsOwn: false }
    const own = { ms: 1_000 }
    const seen = decisions([own, kept, own, kept, own, kept, own, kept, own])
    expect(seen.map((one) => one === 'leave')).toEqual([...times(8, false), true])
  })
})

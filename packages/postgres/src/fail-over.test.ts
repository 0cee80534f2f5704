// Whatever the course of fail-overs, no process writes to a server that was replaced, and each finds the one that takes writes.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { followFailOver } from './fail-over.ts'

const on = (timeline: number, isWritable = true) => ({ systemId: 'one', timeline, isWritable })

describe('followFailOver', () => {
  it('goes from a server that is left to the next, and stays with the one that takes writes', () => {
    const failOver = followFailOver(3)
    failOver.leave(0)
    expect(failOver.first()).toBe(1)
    expect(failOver.judge(1, on(0, false))).toBe('standby')
    expect(failOver.judge(2, on(1))).toBeUndefined()
    expect(failOver.first()).toBe(2)
  })

  it('refuses a primary that was replaced and came back', () => {
    const failOver = followFailOver(2)
    expect(failOver.judge(0, on(1))).toBeUndefined()
    expect(failOver.judge(1, on(2))).toBeUndefined()
    expect(failOver.judge(0, on(1))).toBe('replaced')
    expect(failOver.first()).toBe(1)
  })

  it('refuses a server that holds another database', () => {
    const failOver = followFailOver(2)
    failOver.judge(0, on(1))
    expect(failOver.judge(1, { ...on(9), systemId: 'two' })).toBe('stranger')
  })

  it('leaves no server that it has already left', () => {
    const failOver = followFailOver(2)
    failOver.leave(1)
    expect(failOver.first()).toBe(0)
  })

  it('never goes back in time, and comes to every server when all are left in turn', () => {
    const event = fc.record({
      server: fc.nat(3),
      timeline: fc.nat(5),
      isWritable: fc.boolean(),
      isLeft: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(event), (events) => {
        const failOver = followFailOver(4)
        let newest = -1
        for (const { server, isLeft, ...standing } of events) {
          if (isLeft) failOver.leave(server)
          if (failOver.judge(server, { systemId: 'one', ...standing }) !== undefined) continue
          expect(standing.timeline).toBeGreaterThanOrEqual(newest)
          newest = standing.timeline
          expect(failOver.first()).toBe(server)
        }
        const seen = new Set<number>()
        for (let at = 0; at < 4; at += 1) {
          seen.add(failOver.first())
          failOver.leave(failOver.first())
        }
        expect(seen.size).toBe(4)
      }),
    )
  })
})

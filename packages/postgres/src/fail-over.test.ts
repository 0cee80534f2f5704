// Whatever the course of fail-overs and restarts, no process writes to a server of which any other one knows that it was replaced.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { followFailOver } from './fail-over.ts'

const on = (timeline: number, isWritable = true) => ({ systemId: 'one', timeline, isWritable })
const following = (timeline: number) => on(timeline, false)

describe('followFailOver', () => {
  it('asks all until one takes writes, and again once that one is left', () => {
    const failOver = followFailOver()
    expect(failOver.primary()).toBeUndefined()
    expect(failOver.choose([undefined, following(1)])).toEqual(['silent', 'standby'])
    expect(failOver.primary()).toBeUndefined()
    expect(failOver.choose([undefined, on(2)])).toEqual(['silent', undefined])
    expect(failOver.primary()).toBe(1)
    failOver.leave(0)
    expect(failOver.primary()).toBe(1)
    failOver.leave(1)
    expect(failOver.primary()).toBeUndefined()
  })

  it('chooses, when it knows nothing yet, the newest of two that take writes', () => {
    const failOver = followFailOver()
    expect(failOver.choose([on(1), on(2)])).toEqual(['replaced', undefined])
    expect(failOver.primary()).toBe(1)
  })

  it('writes to none where a standby proves that the only one was replaced', () => {
    expect(followFailOver().choose([on(1), undefined, following(2)])).toEqual([
      'replaced',
      'silent',
      'standby',
    ])
  })

  it('refuses a primary that was replaced and came back', () => {
    const failOver = followFailOver()
    failOver.choose([on(1), following(1)])
    failOver.choose([undefined, on(2)])
    expect(failOver.refuse(on(1))).toBe('replaced')
    expect(failOver.choose([on(1), undefined])).toEqual(['replaced', 'silent'])
  })

  it('refuses a server that holds another database', () => {
    const failOver = followFailOver()
    const stranger = { ...on(9), systemId: 'two' }
    expect(failOver.choose([on(1), stranger])).toEqual([undefined, 'stranger'])
    expect(failOver.choose([undefined, stranger])).toEqual(['silent', 'stranger'])
  })

  it('never goes back in time, and never writes to what takes no writes', () => {
    const standing = fc.record({ timeline: fc.nat(5), isWritable: fc.boolean() })
    const asked = fc.array(fc.option(standing, { nil: undefined }), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(asked), (rounds) => {
        const failOver = followFailOver()
        let newest = 0
        for (const round of rounds) {
          failOver.choose(round.map((one) => one && { systemId: 'one', ...one }))
          newest = Math.max(newest, ...round.map((one) => one?.timeline ?? 0))
          const chosen = failOver.primary()
          const writable = round.findIndex((one) => one?.isWritable && one.timeline === newest)
          expect(chosen).toBe(writable === -1 ? undefined : writable)
        }
      }),
    )
  })
})

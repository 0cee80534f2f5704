// The decision table: one class R finding or two suspect rules close together reject; a lone suspect never does.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { decide, NEARBY } from './decision.ts'
import type { Evidence } from './decision.ts'

const suspect: Evidence = {
  ruleId: 'a',
  effect: 'suspect',
  weight: 0.5,
  trust: 'data',
  at: 0,
  quoted: false,
}
const other: Evidence = { ...suspect, ruleId: 'b', at: 100 }

describe('decide', () => {
  it('allows nothing found, flags a lone suspect, rejects two', () => {
    expect(decide([])).toEqual({ decision: 'allow', score: 0 })
    expect(decide([suspect]).decision).toBe('flag')
    expect(decide([suspect, other])).toEqual({ decision: 'reject', score: 0.75 })
  })

  it('does not count the same rule twice, a quoted rule, a note, or a rule far away', () => {
    expect(decide([suspect, { ...other, ruleId: 'a' }]).decision).toBe('flag')
    expect(decide([suspect, { ...other, quoted: true }]).decision).toBe('flag')
    expect(decide([suspect, { ...other, effect: 'note', weight: 0.2 }]).decision).toBe('flag')
    expect(decide([suspect, { ...other, at: NEARBY + 1 }]).decision).toBe('flag')
  })

  it('rejects class R in every field, also when quoted', () => {
    for (const trust of ['data', 'dialogue', 'instruction'] as const) {
      expect(
        decide([{ ...suspect, effect: 'reject', weight: 0.9, trust, quoted: true }]).decision,
      ).toBe('reject')
    }
  })

  it('asks for three suspects in instructions', () => {
    const inOrders = [suspect, other, { ...suspect, ruleId: 'c' }].map((evidence) => ({
      ...evidence,
      trust: 'instruction' as const,
    }))
    expect(decide(inOrders.slice(0, 2)).decision).toBe('flag')
    expect(decide(inOrders).decision).toBe('reject')
  })

  it('takes the finding of a model as one more rule', () => {
    expect(decide([suspect, { ...other, ruleId: 'model', weight: 0.45 }]).decision).toBe('reject')
  })

  it('never rejects on one suspect rule, whatever the weights, and ignores the order', () => {
    const evidence = fc.record<Evidence>({
      ruleId: fc.constant('a'),
      effect: fc.constantFrom('suspect', 'note'),
      weight: fc.double({ min: 0, max: 1, noNaN: true }),
      trust: fc.constantFrom('data', 'dialogue', 'instruction'),
      at: fc.nat(5000),
      quoted: fc.boolean(),
    })
    fc.assert(
      fc.property(fc.array(evidence, { maxLength: 12 }), (list) => {
        expect(decide(list).decision).not.toBe('reject')
        expect(decide(list.toReversed())).toEqual(decide(list))
      }),
    )
  })
})

// Every rule is explained in words of its own or of its category, and with what each of its forms may cause.
import { describe, expect, it } from 'vitest'
import { explainRule, RULE_IDS } from './explain.ts'

describe('explainRule', () => {
  it.each(RULE_IDS)('says what %s looks for', (id) => {
    const explained = explainRule(id)
    expect(explained?.looksFor).toMatch(/^[A-Z].*\.$/)
    expect(explained?.effects.length).toBeGreaterThan(0)
  })

  it('names every form of the model', () => {
    const effects = explainRule('model')?.effects.map(({ effect }) => effect)
    expect(effects).toEqual(['suspect', 'note', 'reject'])
  })

  it('knows no other rules', () => {
    expect(explainRule('overrid')).toBeUndefined()
    expect(new Set(RULE_IDS).size).toBe(RULE_IDS.length)
  })
})

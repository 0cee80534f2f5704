// An agent is checked when it is defined, and the error says what is wrong and how to mend it.
import { describe, expect, it } from 'vitest'
import { defineAgent } from './agent.ts'

const good = { type: 'reader', version: '1.0.0', requires: ['text'], execute: async () => null }

describe('defineAgent', () => {
  it('answers what it was given, frozen', () => {
    const agent = defineAgent(good as never)
    expect(agent).toEqual(good)
    expect(Object.isFrozen(agent)).toBe(true)
  })

  it.each([
    ['an empty type', { type: '' }, 'type must be'],
    ['a type with a control character', { type: 'a\nb' }, 'type must be'],
    ['a version that is none', { version: '1.0' }, 'not a semantic version'],
    ['a version with a leading zero', { version: '01.0.0' }, 'not a semantic version'],
    ['no list of required state', { requires: undefined }, 'requires must list'],
    ['nothing to execute', { execute: 'run' }, 'execute must be a function'],
  ])('refuses %s', (_, wrong, words) => {
    expect(() => defineAgent({ ...good, ...wrong } as never)).toThrow(
      expect.objectContaining({
        code: 'BATON_AGENT_INVALID',
        message: expect.stringContaining(words),
        fix: expect.stringContaining('defineAgent({'),
      }),
    )
  })
})

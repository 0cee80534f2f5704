// Version ranges as senders write them, and hostile ones.
import { describe, expect, it } from 'vitest'
import { isAgentRange, satisfiesAgentRange } from './agent-range.ts'

describe('agent version ranges', () => {
  it.each([
    ['1.6.0', '>=1.5.0', true],
    ['1.4.9', '>=1.5.0', false],
    ['2.0.0', '^1.5.0', false],
    ['1.9.9', '^1.5.0', true],
    ['1.5.9', '~1.5.0', true],
    ['1.6.0', '1.x || >=2.5.0 <3', true],
    ['0.0.1', '*', true],
    ['2.0.0-rc.1', '>=1.5.0', false],
    ['2.0.0-rc.1', '>=2.0.0-rc.0', true],
    ['1.6.0+build.7', '1.6.0', true],
    ['not a version', '*', false],
    ['1.6.0', 'latest please', false],
  ])('%s in %s: %s', (version, range, expected) => {
    expect(satisfiesAgentRange(version, range)).toBe(expected)
  })

  it('tells a malformed range', () => {
    expect(isAgentRange('>=1.5.0')).toBe(true)
    expect(isAgentRange('latest please')).toBe(false)
  })

  it('stays correct when more ranges are seen than it remembers', () => {
    for (let minor = 0; minor < 2500; minor += 1)
      expect(satisfiesAgentRange(`1.${minor}.0`, `1.${minor}.x`)).toBe(true)
  })
})

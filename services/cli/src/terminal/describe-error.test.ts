// Errors say what is wrong, by which code, and how to mend it; the exit code follows from the code.
import { permanent, transient } from '@baton/runtime'
import { describe, expect, it } from 'vitest'
import { describeError } from './describe-error.ts'

describe('describeError', () => {
  it('shows message, code, cause and fix', () => {
    const cause = new Error('connection refused\nsecond line')
    const error = transient('BATON_DATABASE_UNAVAILABLE', 'no answer', { cause, fix: 'Start it.' })
    expect(describeError(error)).toMatchObject({
      text: 'baton: no answer (BATON_DATABASE_UNAVAILABLE)\n  because: connection refused\n  Start it.',
      exitCode: 1,
    })
  })

  it.each([
    ['BATON_USAGE', 2],
    ['BATON_SETTINGS_INVALID', 2],
    ['BATON_TASK_NOT_FOUND', 5],
    ['BATON_INSTANCE_MISSING', 5],
    ['BATON_FILE_NOT_ALLOWED', 6],
    ['BATON_INTERRUPTED', 130],
    ['BATON_ANYTHING_ELSE', 1],
  ] as const)('%s ends with %i', (code, exitCode) => {
    expect(describeError(permanent(code, 'x')).exitCode).toBe(exitCode)
  })

  it('takes coded errors of pure packages as what they are', () => {
    const error = Object.assign(new Error('bad'), {
      code: 'BATON_HANDOFF_INVALID',
      fix: 'Mend it.',
    })
    expect(describeError(error).text).toBe('baton: bad (BATON_HANDOFF_INVALID)\n  Mend it.')
  })

  it('shows where a bug is', () => {
    const { text, exitCode } = describeError(new TypeError('x is undefined'))
    expect(text).toContain('describe-error.test.ts')
    expect(text).toContain('bug in Baton')
    expect(exitCode).toBe(1)
  })
})

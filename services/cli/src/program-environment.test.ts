// What `env` printed into a shell is for programs; a command that stands in it finds its instance by itself.
import { describe, expect, it } from 'vitest'
import { dotenvValue, withoutPrinted } from './program-environment.ts'

describe('the environment of a command', () => {
  const given = {
    PATH: '/bin',
    BATON_HOME: '/home/one',
    BATON_GATEWAY_URL: 'http://127.0.0.1:8420',
    BATON_API_KEY_FILE: '/home/one/env/program/BATON_API_KEY',
  }

  it('is without what `env` printed', () => {
    expect(withoutPrinted({ ...given, BATON_PRINTED_BY_ENV: '1' })).toEqual({
      PATH: '/bin',
      BATON_HOME: '/home/one',
      BATON_PRINTED_BY_ENV: '1',
    })
  })

  it('is as it was given where somebody set it', () => expect(withoutPrinted(given)).toBe(given))
})

describe('a value for a file of settings', () => {
  it.each([
    ['/home/one', '/home/one'],
    ['/home/$(id)', "'/home/$(id)'"],
    ["/home/it's", `"/home/it's"`],
  ])('is quoted so that nothing in it is expanded: %s', (value, quoted) => {
    expect(dotenvValue('BATON_HOME', value)).toBe(quoted)
  })

  it.each(["it's $(id)", "it's `id`", `it's "`, "it's \\", "it's\nPATH=/tmp"])(
    'is refused where no quotes hold it: %j',
    (value) => {
      expect(() => dotenvValue('BATON_HOME', value)).toThrow(
        expect.objectContaining({ code: 'BATON_USAGE' }),
      )
    },
  )
})

// Wrong settings are all reported at once, and no secret is ever shown.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatonError } from './errors.ts'
import {
  describeSettings,
  flag,
  integer,
  maskPassword,
  oneOf,
  optionalText,
  optionalUrl,
  readSettings,
  secret,
  text,
  url,
} from './settings.ts'

const SPEC = {
  BATON_NAME: text({ help: 'what it is called' }),
  BATON_PLACE: text({ default: 'here', pattern: /^[a-z]+$/, bounds: 'letters', help: 'where' }),
  BATON_TOKEN: secret({ help: 'who may' }),
  BATON_COUNT: integer({ min: 1, max: 10, default: 3, help: 'how many' }),
  BATON_FLAG: flag({ default: false, help: 'whether' }),
  BATON_MODE: oneOf(['fast', 'safe'], { default: 'safe', help: 'how' }),
  BATON_URL: url(['postgres'], { help: 'where' }),
  BATON_NOTE: optionalText({ help: 'why' }),
  BATON_PEER: optionalUrl(['http', 'https'], { help: 'whom' }),
}
const GOOD = { BATON_NAME: 'a', BATON_TOKEN: 't', BATON_URL: 'postgres://u:p@h/d' }

function refused(environment: Record<string, string>): BatonError {
  try {
    readSettings(SPEC, environment)
  } catch (error) {
    if (error instanceof BatonError) return error
  }
  throw new Error('the settings were accepted')
}

describe('readSettings', () => {
  it('gives typed values, defaults, and undefined for what is optional', () => {
    const values = readSettings(SPEC, { ...GOOD, BATON_COUNT: '7', BATON_FLAG: 'yes' })
    expect(values).toEqual({
      ...GOOD,
      BATON_PLACE: 'here',
      BATON_COUNT: 7,
      BATON_FLAG: true,
      BATON_MODE: 'safe',
      BATON_NOTE: undefined,
      BATON_PEER: undefined,
    })
  })

  it('counts an empty value as absent', () => {
    expect(readSettings(SPEC, { ...GOOD, BATON_COUNT: '' }).BATON_COUNT).toBe(3)
    expect(refused({ ...GOOD, BATON_NAME: '' }).message).toContain('BATON_NAME is missing')
  })

  it('reports every problem in one error with a code and a fix', () => {
    const error = refused({
      BATON_PLACE: 'Nowhere 7',
      BATON_COUNT: '11',
      BATON_FLAG: 'perhaps',
      BATON_MODE: 'slow',
      BATON_URL: 'mysql://u:hunter2@h/d',
      BATON_PEER: 'nonsense',
    })
    expect(error).toMatchObject({ code: 'BATON_SETTINGS_INVALID', kind: 'permanent' })
    expect(error.fix).toContain('baton settings')
    for (const part of [
      'BATON_NAME is missing: what it is called',
      'BATON_TOKEN is missing: who may',
      'BATON_COUNT is "11": expected a whole number, 1 to 10',
      'BATON_FLAG is "perhaps": expected 1 or 0',
      'BATON_MODE is "slow": expected one of fast, safe',
      'BATON_URL is "mysql://u:***@h/d": expected a URL that starts with postgres://',
      'BATON_PEER is "nonsense": expected a URL that starts with http:// or https://',
    ]) {
      expect(error.message).toContain(part)
    }
  })

  it.each(['1.5', '1e1', ' 2', '0x3', '', 'NaN'])('takes %j for no whole number', (raw) => {
    if (raw === '') return
    expect(refused({ ...GOOD, BATON_COUNT: raw }).message).toContain('BATON_COUNT')
  })
})

describe('a secret', () => {
  const password = fc.string({ minLength: 6, maxLength: 30 }).filter((word) => !/^\s*$/.test(word))

  it('in a URL is masked wherever it is shown, also when it holds an @ or a slash', () => {
    fc.assert(
      fc.property(password, fc.constantFrom('mysql://u:', 'u:', 'redis+tls://:'), (word, start) => {
        const shown = maskPassword(`${start}S3CRET${word}@host/db`)
        expect(shown).not.toContain('S3CRET')
        expect(shown.endsWith(':***@host/db')).toBe(true)
      }),
    )
  })

  it('is never part of a problem', () => {
    const spec = { BATON_TOKEN: secret({ help: 'h' }), BATON_COUNT: SPEC.BATON_COUNT }
    const error = (() => {
      try {
        return readSettings(spec, { BATON_TOKEN: 'hunter2', BATON_COUNT: 'x' })
      } catch (thrown) {
        return thrown as BatonError
      }
    })()
    expect(String((error as BatonError).message)).not.toContain('hunter2')
  })
})

it('refuses the former name of a setting, and says what it is called now', () => {
  const spec = {
    BATON_COUNT: integer({ min: 1, max: 10, default: 3, formerly: 'BATON_NUMBER', help: 'many' }),
  }
  expect(() => readSettings(spec, { BATON_NUMBER: '4' })).toThrow(
    'BATON_NUMBER is called BATON_COUNT now',
  )
  expect(readSettings(spec, { BATON_NUMBER: '', BATON_COUNT: '4' })).toEqual({ BATON_COUNT: 4 })
})

it('describes every setting with its default and bounds', () => {
  const rows = describeSettings(SPEC)
  expect(rows.map((row) => row.name)).toEqual(Object.keys(SPEC))
  expect(rows.find((row) => row.name === 'BATON_NAME')?.default).toBe('required')
  expect(rows.find((row) => row.name === 'BATON_NOTE')?.default).toBe('-')
  expect(rows.find((row) => row.name === 'BATON_COUNT')).toMatchObject({
    default: '3',
    bounds: '1 to 10',
    kind: 'integer',
  })
})

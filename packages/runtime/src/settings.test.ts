// Wrong settings are all reported at once, and no secret is ever shown.
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, describe, expect, it } from 'vitest'
import { BatonError } from './errors.ts'
import {
  describeSettings,
  flag,
  integer,
  maskPassword,
  oneOf,
  optionalForeignSecret,
  optionalSecret,
  optionalText,
  optionalUrl,
  readSettings,
  readVariable,
  secret,
  text,
  url,
  urls,
  withFilesRead,
} from './settings.ts'
import type { SettingsSpec } from './settings.ts'

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
const STRONG = 'FjR2vXo0bqW9sT4kLz7mYc1hNe8dUa3G'
const GOOD = { BATON_NAME: 'a', BATON_TOKEN: STRONG, BATON_URL: 'postgres://u:p@h/d' }

function refused(environment: Record<string, string>, spec: SettingsSpec = SPEC): BatonError {
  try {
    readSettings(spec, environment)
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

describe('a variable that is no setting', () => {
  it.each([
    ['BATON_REJECT_FLAGED', 'BATON_REJECT_FLAGGED'],
    ['BATON_REJECT_FALGGED', 'BATON_REJECT_FLAGGED'],
    ['BATON_REJECTFLAGED', 'BATON_REJECT_FLAGGED'],
    ['BATON_REJECT_FLAGGED_FIL', 'BATON_REJECT_FLAGGED_FILE'],
    ['BATON_DRAINMS', 'BATON_DRAIN_MS'],
    ['BATON_PEOPEL', 'BATON_PEOPLE'],
    ['BATON_PLACES', 'BATON_PLACE'],
  ])('and is spelled nearly as one of any process is refused: %s', (name, meant) => {
    expect(refused({ ...GOOD, [name]: 'x' }).message).toContain(
      `${name} is not a setting; did you mean ${meant}?`,
    )
  })

  it.each([
    'BATON_REJECT_FLAGGED',
    'BATON_REJECT_FLAGGED_FILE',
    'BATON_OWN_TOKEN',
    'BATON_TEST_SEED',
    'BATON_HOLD',
    // Kubernetes names a service called baton-api so.
    'BATON_API_PORT',
    'BATON_',
    'REJECT_FLAGED',
    'OTHER_REJECT_FLAGED',
  ])(
    'of this process and is another one’s, an installation’s own or nobody’s passes: %s',
    (name) => {
      expect(readSettings(SPEC, { ...GOOD, [name]: 'x' })).toMatchObject({ BATON_NAME: 'a' })
    },
  )

  it('and is empty passes, as it counts as absent', () => {
    expect(readSettings(SPEC, { ...GOOD, BATON_REJECT_FLAGED: '' })).toMatchObject(GOOD)
  })

  it('is told with all other problems, and its value never', () => {
    const { message } = refused({ BATON_NAME: 'a', BATON_PEOPEL: 'hunter2', BATON_COUNT: '11' })
    expect(message).toMatch(
      /BATON_TOKEN is missing[^]*BATON_COUNT[^]*BATON_PEOPEL is not a setting/,
    )
    expect(message).not.toContain('hunter2')
  })
})

it('says which URL of a list is wrong', () => {
  const spec = { BATON_AUDIT_URL: urls(['http', 'https'], { help: 'Where auditors are.' }) }
  const read = (BATON_AUDIT_URL: string) => () => readSettings(spec, { BATON_AUDIT_URL })
  expect(read('http://a,ftp://b,http://c')).toThrow(/as URL 2 of 3/)
  expect(read('http://a,http://b,')).toThrow(/as URL 3 of 3/)
  expect(read('ftp://b')).not.toThrow(/as URL/)
})

it('refuses the former name of a setting, and says what it is called now', () => {
  const spec = {
    BATON_COUNT: integer({ min: 1, max: 10, default: 3, formerly: 'BATON_NUMBER', help: 'many' }),
  }
  expect(() => readSettings(spec, { BATON_NUMBER: '4' })).toThrow(
    'BATON_NUMBER is called BATON_COUNT now',
  )
  expect(() => readSettings(spec, { BATON_NUMBER_FILE: '/run/secrets/number' })).toThrow(
    'BATON_NUMBER_FILE is called BATON_COUNT_FILE now',
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

describe('a setting in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'baton-settings-'))
  afterAll(() => {
    rmSync(folder, { recursive: true })
  })
  function file(content: string | Buffer, mode = 0o600): string {
    const path = join(folder, randomBytes(8).toString('hex'))
    writeFileSync(path, content)
    chmodSync(path, mode)
    return path
  }
  const { BATON_TOKEN: _, ...OTHERS } = GOOD

  it('is read whatever its kind, without one newline at the end', () => {
    const environment = {
      BATON_NAME_FILE: file(' a\n\n', 0o644),
      BATON_TOKEN_FILE: file(`${STRONG}\r\n`, 0o440),
      BATON_URL_FILE: file('postgres://u:p@h/d\n'),
      BATON_COUNT_FILE: file('7', 0o644),
      BATON_PEER_FILE: file('http://peer\n', 0o644),
      BATON_NOTE: '',
      BATON_NOTE_FILE: file('why'),
    }
    expect(readSettings(SPEC, environment)).toMatchObject({
      BATON_NAME: ' a\n',
      BATON_TOKEN: STRONG,
      BATON_URL: 'postgres://u:p@h/d',
      BATON_COUNT: 7,
      BATON_PEER: 'http://peer',
      BATON_NOTE: 'why',
    })
  })

  it('is found behind the links of a Kubernetes mount', () => {
    const link = join(folder, 'link')
    symlinkSync(file(STRONG, 0o440), link)
    expect(readSettings(SPEC, { ...OTHERS, BATON_TOKEN_FILE: link }).BATON_TOKEN).toBe(STRONG)
  })

  it('is refused beside the variable itself', () => {
    expect(refused({ ...GOOD, BATON_TOKEN_FILE: file(STRONG) }).message).toContain(
      'BATON_TOKEN and BATON_TOKEN_FILE are both set: take one of them away',
    )
  })

  it('is checked like any other, and a wrong secret is not shown', () => {
    const message = refused({
      ...OTHERS,
      BATON_COUNT_FILE: file('eleven'),
      BATON_TOKEN_FILE: file('hunter2'),
    }).message
    expect(message).toMatch(
      /the text of BATON_COUNT_FILE \(.+\) is "eleven": expected a whole number/,
    )
    expect(message).toMatch(/BATON_TOKEN_FILE \(.+\) is set \(value hidden\): expected at least 32/)
    expect(message).not.toContain('hunter2')
  })

  it.each([0o604, 0o620, 0o602, 0o644, 0o777])(
    'with a secret is not taken with mode %o, and the remedy is said',
    (mode) => {
      for (const [name, value] of [
        ['BATON_TOKEN', STRONG],
        ['BATON_URL', 'postgres://u:p@h/d'],
      ] as const) {
        const environment = { ...GOOD, [name]: '', [`${name}_FILE`]: file(value, mode) }
        expect(refused(environment).message).toMatch(
          /has mode 0\d{3}.* chmod 0400 .*defaultMode: 0440/,
        )
      }
    },
  )

  it('that is missing, empty, too large, not text or no file is refused in words', () => {
    const pipe = join(folder, 'pipe')
    execFileSync('mkfifo', ['-m', '600', pipe])
    const problems: readonly (readonly [string, string])[] = [
      [join(folder, 'absent'), 'cannot be read (ENOENT)'],
      [file(''), 'is empty'],
      [file('\n'), 'is empty'],
      [file(Buffer.alloc(65_537, 'x')), 'is larger than 65536 bytes'],
      [file(Buffer.from([0xff, 0xfe, 0x41])), 'is not UTF-8'],
      [folder, 'is no file'],
      [pipe, 'is no file'],
      ['/dev/zero', 'is no file'],
    ]
    for (const [path, problem] of problems)
      expect(refused({ ...OTHERS, BATON_TOKEN_FILE: path }).message).toContain(problem)
    expect(problems.length).toBe(8)
  })

  it('is read for variables that an installation names itself', () => {
    expect(readVariable({ MODEL_KEY_FILE: file('k\n') }, 'MODEL_KEY')).toBe('k')
    expect(readVariable({ MODEL_KEY: '' }, 'MODEL_KEY')).toBeUndefined()
    expect(() => readVariable({ MODEL_KEY_FILE: file('k', 0o644) }, 'MODEL_KEY')).toThrow('0644')
  })

  it('stands in an environment that is handed on as if it had been given there', () => {
    const given = { PATH: '/bin', BATON_TOKEN_FILE: file(STRONG), BATON_OTHER_FILE: '/elsewhere' }
    expect(withFilesRead(SPEC, given)).toEqual({
      PATH: '/bin',
      BATON_TOKEN: STRONG,
      BATON_OTHER_FILE: '/elsewhere',
    })
    expect(() => withFilesRead(SPEC, { BATON_TOKEN_FILE: folder })).toThrow('is no file')
  })
})

describe('a secret of this installation', () => {
  it.each([
    'short',
    STRONG.slice(1),
    'x'.repeat(64),
    'abababababababababababababababab',
    'changeme-changeme-9wq8e7r6t5y4u3i2',
    'CHANGE_ME_CHANGE_ME_CHANGE_ME_CHANGE',
    'correct-horse-1correct-horse-1correct-horse-1',
    'abcdefghijklmnopqrstuvwxyz012345',
    '0123456789abcdef0123456789abcdef',
    `k1:active:${Buffer.alloc(32, 7).toString('base64')}`,
    Buffer.alloc(32).toString('base64'),
  ])('is not %j', (weak) => {
    const { message } = refused({ ...GOOD, BATON_TOKEN: weak })
    expect(message).toMatch(/BATON_TOKEN is set \(value hidden\): expected (?:at least 32|random)/)
    expect(message).not.toContain(weak)
  })

  it('is whatever a machine makes', () => {
    for (let count = 0; count < 300; count += 1) {
      const value = randomBytes(24)
      for (const BATON_TOKEN of [
        value.toString('hex'),
        value.toString('base64'),
        value.toString('base64url'),
        value.subarray(0, 16).toString('hex'),
      ])
        expect(readSettings(SPEC, { ...GOOD, BATON_TOKEN }).BATON_TOKEN).toBe(BATON_TOKEN)
    }
  })

  it('is none of the others', () => {
    const spec = {
      BATON_READ: secret({ help: 'read' }),
      BATON_APPEND: optionalSecret({ help: 'append' }),
      BATON_HOLD: optionalSecret({ help: 'hold' }),
      BATON_MODEL: optionalForeignSecret({ help: 'of another' }),
    }
    const { message } = refused(
      { BATON_READ: STRONG, BATON_APPEND: `${STRONG}1`, BATON_HOLD: STRONG },
      spec,
    )
    expect(message).toContain('BATON_READ and BATON_HOLD are the same')
    expect(message).not.toContain('BATON_APPEND')
    expect(message).not.toContain(STRONG)
    const foreign = { BATON_READ: STRONG, BATON_MODEL: 'k' }
    expect(readSettings(spec, foreign)).toMatchObject(foreign)
  })
})

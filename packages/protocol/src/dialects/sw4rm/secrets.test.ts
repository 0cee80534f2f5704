// Secrets in what agents tell of their tools: taken out by name and by shape, and nothing else is.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../json.ts'
import { jsonOf, pythonValueOf } from './python-value.ts'
import { withoutSecretShapes, withoutToolSecrets } from './secrets.ts'

const SALT = Buffer.alloc(32, 5)
interface Cleaned {
  readonly configurations?: Readonly<Record<string, JsonObject>>
}

const cleaned = (toolState: object) => {
  const { value, places } = withoutToolSecrets(pythonValueOf(toolState), { salt: SALT })
  const configurations = (jsonOf(value) as Cleaned).configurations ?? {}
  return { text: JSON.stringify(jsonOf(value)), configurations, places }
}
const MARKER = /^\[secret hmac-sha256:[0-9a-f]{16}\]$/

describe('in configurations', () => {
  it.each([
    ['connection_string', 'anything at all'],
    ['connectionString', 'Server=db;User=u'],
    ['password', 'hunter2'],
    ['db-password', 'x'],
    ['API_KEY', 'k'],
    ['apiKey', 'k'],
    ['access_token', 't'],
    ['Authorization', 'Basic dTpw'],
    ['client_secret', 's'],
    ['private_key', 'p'],
    ['dsn', 'd'],
    ['session_id', 's'],
    ['pin', 1234],
  ])('W16 takes %s out by its name', (name, secret) => {
    const { configurations, places } = cleaned({
      configurations: { database: { [name]: secret, timeout_ms: 30_000 } },
    })
    expect(configurations['database']?.[name]).toMatch(MARKER)
    expect(configurations['database']?.['timeout_ms']).toBe(30_000)
    expect(places).toEqual([`/configurations/database/${name}`])
  })

  it('W16 takes everything below such a name, and each of a list', () => {
    const { configurations, places } = cleaned({
      configurations: { credentials: { user: 'ann', more: ['a', { b: 'c' }] }, tokens: 5 },
    })
    expect(JSON.stringify(configurations['credentials'])).not.toMatch(/ann|"a"|"c"/)
    expect(places).toHaveLength(3)
    expect(configurations['tokens']).toBe(5)
  })

  it('W16 leaves what is no secret', () => {
    const configurations = {
      database: { host: 'db.example', port: 5432, timeout_ms: 30_000, max_tokens: 4096, ssl: true },
      model: 'a-model-20250101',
      url: 'https://example.org/path?q=1',
      note: 'the key to the task is patience',
      empty: { password: '', token: null, api_key: false },
    }
    expect(cleaned({ configurations }).configurations).toEqual(configurations)
  })
})

const SHAPES = [
  'postgres://app:s3cret@db.example:5432/app',
  'redis://:s3cret@cache:6379',
  'Server=db;Database=a;User Id=u;Password=s3cret;',
  'host=db user=u password=s3cret',
  'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=czNjcmV0;',
  `AKIA${'ABCDEFGH12345678'}`,
  `ghp_${'a'.repeat(36)}`,
  `xoxb-${'1234567890-abcdef'}`,
  `sk-${'proj-abcdefgh12345678'}`,
  `-----BEGIN ${'RSA PRIVATE KEY'}-----\nMIIE`,
  'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJl',
  'Bearer abcdefgh12345678',
  `bk_0123456789ab_${'A'.repeat(43)}`,
]

describe('anywhere', () => {
  it.each(SHAPES)('W16 takes out what looks like %s', (secret) => {
    const toolState = { cached_results: { c: [{ text: secret }] }, configurations: { x: secret } }
    const { text, places } = cleaned(toolState)
    expect(text).not.toContain(JSON.stringify(secret).slice(1, -1))
    expect(places).toEqual(['/cached_results/c/0/text', '/configurations/x'])
    const metadata = withoutSecretShapes(pythonValueOf({ a: secret, b: 'kept' }), { salt: SALT })
    expect(jsonOf(metadata.value)).toEqual({ a: expect.stringMatching(MARKER), b: 'kept' })
  })

  it('W16 marks equal secrets alike under one salt, and under another one not', () => {
    const state = pythonValueOf({ configurations: { password: 'one', pwd: 'one', secret: 'two' } })
    const marks = (salt: Uint8Array) =>
      Object.values(
        (jsonOf(withoutToolSecrets(state, { salt }).value) as Cleaned).configurations ?? {},
      )
    const [first, same, other] = marks(SALT)
    expect(first).toBe(same)
    expect(first).not.toBe(other)
    expect(marks(Buffer.alloc(32, 6))).not.toContain(first)
  })

  it('W16 never lets a planted secret through, however it is wrapped', () => {
    const planted = fc.constantFrom(
      'password',
      'api_key',
      'connection_string',
      'token',
      'client_secret',
    )
    const wrapped = fc.tuple(planted, fc.array(fc.constantFrom('list', 'dict'), { maxLength: 6 }))
    expect(() =>
      fc.assert(
        fc.property(wrapped, ([name, layers]) => {
          const inner: unknown = { [name]: 'PLANTED' }
          const configurations = layers.reduce(
            (value, kind) => (kind === 'list' ? [value] : { tool: value }),
            inner,
          )
          return !cleaned({ configurations }).text.includes('PLANTED')
        }),
      ),
    ).not.toThrow()
  })

  it('W16 takes linear time for hostile text', () => {
    for (const part of ['a://', 'password', ';', 'ey', 'A', '-----BEGIN ', 'sk-', 'a:a'])
      expect(
        cleaned({ configurations: { x: part.repeat(200_000 / part.length) } }).places.length,
      ).toBeLessThan(2)
  })
})

describe('what is unsafe', () => {
  const hidden = (configurations: object, isUnsafe: (texts: readonly string[]) => boolean) => {
    const options = { salt: SALT, isUnsafe }
    const { value, places } = withoutToolSecrets(pythonValueOf({ configurations }), options)
    return { configurations: (jsonOf(value) as Cleaned).configurations, places }
  }
  const injected = (texts: readonly string[]) => texts.some((text) => text.includes('INJECTED'))

  it('W16 is left to be seen, and the secrets beside it are not', () => {
    const configurations = {
      password: 'hunter2',
      token: 'INJECTED words',
      list: { secret: ['a', 'b'] },
    }
    expect(hidden(configurations, injected)).toEqual({
      configurations: {
        password: expect.stringMatching(MARKER),
        token: 'INJECTED words',
        list: { secret: [expect.stringMatching(MARKER), expect.stringMatching(MARKER)] },
      },
      places: [
        '/configurations/password',
        '/configurations/list/secret/0',
        '/configurations/list/secret/1',
      ],
    })
    expect(hidden(configurations, () => false).places).toHaveLength(4)
  })

  it('W16 is left where it is unsafe only together', () => {
    const both = (texts: readonly string[]) => texts.includes('one') && texts.includes('two')
    const split = { password: 'one', token: 'two' }
    expect(hidden(split, both)).toEqual({ configurations: split, places: [] })
  })
})

// No database on another machine is named without TLS unless a setting says so, and what a URL says itself stands.
import { describe, expect, it } from 'vitest'
import { secureDatabaseUrls } from './database-urls.ts'

const PLAIN = {
  BATON_TLS_CERT_FILE: undefined,
  BATON_TLS_KEY_FILE: undefined,
  BATON_TLS_CA_FILE: undefined,
  BATON_ALLOW_PLAINTEXT: false,
}
const FILES = {
  ...PLAIN,
  BATON_TLS_CERT_FILE: '/c.crt',
  BATON_TLS_KEY_FILE: '/c.key',
  BATON_TLS_CA_FILE: '/ca.crt',
}
const of = (url: string, tls: typeof PLAIN | typeof FILES) =>
  secureDatabaseUrls({ ...tls, BATON_DATABASE_URL: url }).BATON_DATABASE_URL
const said = (url: string) => Object.fromEntries(new URL(url).searchParams)

describe('a database on this machine', () => {
  it.each([
    'postgres://u:p@127.0.0.1:5432/baton',
    'postgres://u:p@localhost/baton',
    'postgres://u:p@[::1]/baton',
    'postgresql:///baton?host=/var/run/postgresql',
    'postgres://%2Fvar%2Frun/baton',
    'postgres:///baton',
    'postgres://localhost/baton?sslmode=no-verify',
  ])('stays as it is said: %s', (url) => {
    expect(of(url, PLAIN)).toBe(url)
    expect(of(url, FILES)).toBe(url)
  })

  it('is verified with the files of the settings where its URL asks for it', () => {
    expect(said(of('postgres://127.0.0.1/baton?sslmode=verify-full', FILES))).toEqual({
      sslmode: 'verify-full',
      sslrootcert: '/ca.crt',
      sslcert: '/c.crt',
      sslkey: '/c.key',
    })
  })
})

describe('a database on another machine', () => {
  it.each([
    'postgres://u:p@db.example/baton',
    'postgres://u:p@10.0.0.5/baton',
    'postgres://u:p@127.0.0.1.example/baton',
    'postgres://u:p@localhost/baton?host=db.example',
    'postgres://u:p@db.example/baton?sslmode=disable',
    'postgres://u:p@db.example/baton?sslmode=no-verify',
    'postgres://u:p@db.example/baton?ssl=0',
    'postgres://u:p@db.example/baton?ssl=no-verify',
    'postgres://u:p@db.example/baton?sslmode=disable&host=',
    'postgres://u:p@db.example/baton?sslmode=disable&host=,127.0.0.1',
    'postgres://u:p@localhost/baton?sslmode=disable&host=127.0.0.1&host=db.example',
  ])('is refused without TLS: %s', (url) => {
    expect(() => of(url, PLAIN)).toThrow(
      expect.objectContaining({
        code: 'BATON_PLAINTEXT_REFUSED',
        message: expect.stringMatching(/^BATON_DATABASE_URL names (?:db\.example|10\.|127)/),
        fix: expect.stringContaining('sslmode=verify-full'),
      }),
    )
  })

  it.each(['postgres:///baton?sslmode=disable', 'postgres:///baton'])(
    'is refused where only the environment names it: %s',
    (url) => {
      const settings = { ...PLAIN, BATON_DATABASE_URL: url }
      expect(() => secureDatabaseUrls(settings, { PGHOST: 'db.example' })).toThrow(
        /^BATON_DATABASE_URL names db\.example/,
      )
      for (const PGHOST of [undefined, '/var/run/postgresql', 'localhost'])
        expect(secureDatabaseUrls(settings, { PGHOST }).BATON_DATABASE_URL).toBe(url)
    },
  )

  it('is refused without the password', () => {
    expect(() => of('postgres://u:secret@db.example/baton', PLAIN)).toThrow(/^(?!.*secret)/)
  })

  it('is verified by the authority of the settings, also where its URL says nothing', () => {
    const files = { sslrootcert: '/ca.crt', sslcert: '/c.crt', sslkey: '/c.key' }
    expect(said(of('postgres://db.example/baton', FILES))).toEqual({
      sslmode: 'verify-full',
      ...files,
    })
    expect(said(of('postgres://db.example/baton?sslmode=require', FILES))).toEqual({
      sslmode: 'require',
      ...files,
    })
  })

  it('is verified by those whom everybody trusts where no authority is named', () => {
    const url = 'postgres://db.example/baton?sslmode=verify-full'
    expect(of(url, PLAIN)).toBe(url)
  })

  it('keeps the files that its URL names', () => {
    const own = 'sslmode=verify-full&sslrootcert=/own.crt&sslcert=/own-c.crt&sslkey=/own-c.key'
    expect(said(of(`postgres://db.example/baton?${own}`, FILES))).toEqual({
      sslmode: 'verify-full',
      sslrootcert: '/own.crt',
      sslcert: '/own-c.crt',
      sslkey: '/own-c.key',
    })
  })

  it('is reached in plain text where that is allowed by name, and says so', () => {
    const allowed = { ...PLAIN, BATON_ALLOW_PLAINTEXT: true }
    expect(said(of('postgres://db.example/baton', allowed))).toEqual({ sslmode: 'disable' })
    expect(said(of('postgres://db.example/baton?sslmode=verify-full', allowed))).toEqual({
      sslmode: 'verify-full',
    })
  })

  it('is told of with every other one at once, whatever its setting is called', () => {
    const settings = { ...PLAIN, A_URL: 'postgres://a.example/x', B: 'postgresql://b.example/x' }
    expect(() => secureDatabaseUrls(settings)).toThrow(/A_URL names a\.example.*B names b\.example/)
  })
})

it('touches no other setting', () => {
  const settings = { ...FILES, A: 'http://a.example', B: 5, C: undefined, D: 'no url' }
  expect(secureDatabaseUrls(settings)).toEqual(settings)
})

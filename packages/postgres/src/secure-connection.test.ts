// What a database URL says of TLS is heeded here and not by the driver, whose modes replace what they are given.
import pg from 'pg'
import { describe, expect, it } from 'vitest'
import { secureConnection } from './secure-connection.ts'

/** What the driver makes of it. */
const driver = (url: string) => new pg.Client(secureConnection(url)).ssl

describe('secureConnection', () => {
  it.each(['require', 'prefer', 'allow', 'verify-ca', 'verify-full'])(
    'verifies with sslmode=%s, also where the driver is asked to be as lax as others',
    (mode) => {
      for (const lax of ['', '&uselibpqcompat=true']) {
        const ssl = driver(`postgres://db.example/x?sslmode=${mode}${lax}`)
        expect(ssl).toMatchObject({ rejectUnauthorized: true })
        expect(ssl).not.toHaveProperty('checkServerIdentity')
      }
    },
  )

  it('keeps everything else of the URL', () => {
    const url = `postgres://u:p%40@db.example:99/x?sslmode=require&application_name=a%20b`
    const client = new pg.Client(secureConnection(url))
    expect([client.user, client.password, client.host, client.port, client.database]).toEqual([
      'u',
      'p@',
      'db.example',
      99,
      'x',
    ])
  })

  it.each([
    ['disable', false],
    ['no-verify', { rejectUnauthorized: false }],
  ])('does what sslmode=%s says', (mode, ssl) => {
    expect(driver(`postgres://db.example/x?sslmode=${mode}`)).toEqual(ssl)
  })

  it.each(['postgres://db.example/x', 'postgres://localhost/x?host=db.example'])(
    'refuses another machine in plain text that nobody asked for: %s',
    (url) => {
      expect(() => secureConnection(url)).toThrow(
        expect.objectContaining({ code: 'BATON_PLAINTEXT_REFUSED' }),
      )
    },
  )

  it.each(['postgres://localhost/x', 'postgres://127.0.0.1/x', 'postgres:///x?host=/tmp'])(
    'leaves this machine as it is: %s',
    (url) => expect(secureConnection(url)).toEqual({ connectionString: url }),
  )

  it.each(['sslmode=verify_full', 'ssl=maybe'])('refuses what it does not know: %s', (said) => {
    expect(() => secureConnection(`postgres://localhost/x?${said}`)).toThrow(
      expect.objectContaining({ code: 'BATON_DATABASE_URL_INVALID' }),
    )
  })
})

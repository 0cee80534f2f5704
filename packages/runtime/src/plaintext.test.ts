// What is this machine itself, and what is refused without TLS.
import { describe, expect, it } from 'vitest'
import { isLoopback, refusePlainListening, refusePlainUrl } from './plaintext.ts'
import { NO_TLS } from './tls.ts'

it.each([
  '127.0.0.1',
  '127.8.9.1',
  '::1',
  '[::1]',
  '::ffff:127.0.0.1',
  'localhost',
  'LOCALHOST',
  '/var/run/postgresql',
])('%s is this machine', (host) => expect(isLoopback(host)).toBe(true))

it.each([
  '',
  '0.0.0.0',
  '::',
  '10.0.0.1',
  '128.0.0.1',
  'auditor',
  'db.localhost',
  'localhost.',
  'localhost.example',
  '127.0.0.1.example',
  'notlocalhost',
  '::2',
])('"%s" is not', (host) => expect(isLoopback(host)).toBe(false))

describe('plain text', () => {
  const call = (url: string, allowPlaintext = false) =>
    refusePlainUrl({ ...NO_TLS, allowPlaintext }, { url, setting: 'BATON_AUDIT_URL' })

  it('to another machine is refused with words that say how to go on', () => {
    expect(() => call('http://auditor:8421')).toThrow(
      expect.objectContaining({
        kind: 'permanent',
        code: 'BATON_PLAINTEXT_REFUSED',
        message: 'BATON_AUDIT_URL names auditor, another machine, and no TLS',
        fix: expect.stringMatching(/https.*BATON_ALLOW_PLAINTEXT/),
      }),
    )
  })

  it('within the machine, TLS, and what a setting allows, are not', () => {
    for (const url of ['http://127.0.0.1:8421', 'http://[::1]:1', 'https://auditor'])
      expect(() => call(url)).not.toThrow()
    expect(() => call('http://auditor:8421', true)).not.toThrow()
  })

  it('is not listened to from other machines, unless a setting allows it', () => {
    const listen = (host: string, parts = {}) =>
      refusePlainListening({ ...NO_TLS, ...parts }, { host, setting: 'BATON_GATEWAY_HOST' })
    expect(() => listen('0.0.0.0')).toThrow(/BATON_GATEWAY_HOST is 0\.0\.0\.0/)
    listen('127.0.0.1')
    listen('0.0.0.0', { allowPlaintext: true })
    listen('0.0.0.0', { material: { ...NO_TLS.material, certificate: 'PEM' } })
  })
})

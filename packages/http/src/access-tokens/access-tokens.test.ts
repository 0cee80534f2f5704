// Tokens of a real issuer, good ones and those that somebody made up.
import { createHmac } from 'node:crypto'
import { createLogger, NO_TLS } from '@baton/runtime'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { AUDIENCE, startTokenIssuer } from '../../fixtures/token-issuer.ts'
import type { TokenIssuer } from '../../fixtures/token-issuer.ts'
import { createAccessTokens } from './access-tokens.ts'
import { parseIssuers } from './issuers.ts'
import { TOKEN_CHARACTERS_MAX } from './verify-token.ts'

const NAMES = {
  tenant: '[a-z][a-z0-9-]{0,30}',
  operator: '[A-Za-z0-9][A-Za-z0-9._-]{0,63}',
  defaultTenant: 'default',
}
const logger = createLogger({ service: 'test', level: 'fatal', destination: { write() {} } })

let issuer: TokenIssuer
beforeAll(async () => {
  issuer = await startTokenIssuer()
})
afterAll(async () => {
  await issuer.stop()
})
afterEach(() => {
  vi.restoreAllMocks()
  issuer.behaviour.isAway = false
  delete issuer.behaviour.keySet
  delete issuer.behaviour.configuration
})

const OPERATORS = { operators: { 'ann-1': 'ann' } }

function open(members: object = OPERATORS) {
  const state = { nowMs: Date.now() }
  const file = JSON.stringify([{ issuer: issuer.url, audience: AUDIENCE, ...members }])
  const tokens = createAccessTokens({
    issuers: parseIssuers(file),
    names: NAMES,
    logger,
    tls: NO_TLS,
    now: () => state.nowMs,
  })
  const why = async (token: string) => {
    const found = await tokens.identify(token)
    return found.ok ? found.access.operator : found.why
  }
  const access = async (claims: object, header?: Record<string, string>) => {
    const found = await tokens.identify(await issuer.token({ ...claims }, header))
    return found.ok ? found.access : undefined
  }
  return { state, tokens, why, access }
}

const seconds = (after: number) => Math.floor(Date.now() / 1000) + after
const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
const withHeader = (token: string, header: object, signature: string) =>
  `${part(header)}.${token.split('.')[1]}.${signature}`

describe('a token', () => {
  it('is taken for whom the file names, found by discovery', async () => {
    const { access } = open()
    const found = await access({ scope: 'handoffs:read handoffs:send' })
    expect(found).toMatchObject({ operator: 'ann', tenant: 'default', agents: undefined })
    expect([...(found?.scopes ?? [])]).toEqual(['handoffs:read', 'handoffs:send'])
  })

  it.each([
    ['has ended', { exp: seconds(-31) }, 'expired'],
    ['does not count yet', { nbf: seconds(60) }, 'early'],
    ['is for another service', { aud: 'billing' }, 'audience'],
    ['is for nobody', { aud: undefined }, 'audience'],
    ['is of an issuer whom nobody named', { iss: 'https://evil.example' }, 'issuer'],
    ['is of no issuer', { iss: undefined }, 'issuer'],
    ['never ends', { exp: undefined }, 'claims'],
    ['is of nobody', { sub: undefined }, 'claims'],
    ['is of somebody with an endless name', { sub: 'x'.repeat(256) }, 'claims'],
    ['ends when nobody lives any more', { exp: 1e300 }, 'lasting'],
    ['counts for more than a month', { exp: seconds(32 * 86_400) }, 'lasting'],
    ['is bound to a key', { cnf: { jkt: 'x' } }, 'bound'],
    [
      'claims too much',
      Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`c${index}`, 1])),
      'malformed',
    ],
  ])('that %s is refused', async (_, claims, fault) => {
    expect(await open().why(await issuer.token(claims))).toBe(fault)
  })

  it('is taken within the tolerance of clocks', async () => {
    const { why } = open()
    expect(await why(await issuer.token({ exp: seconds(-20) }))).toBe('ann')
    expect(await why(await issuer.token({ nbf: seconds(20) }))).toBe('ann')
  })

  it('that says it needs no signature is refused', async () => {
    const { why } = open()
    const token = await issuer.token()
    expect(await why(withHeader(token, { alg: 'none' }, ''))).toBe('algorithm')
    expect(await why(withHeader(token, { alg: 'None' }, ''))).toBe('algorithm')
  })

  it('that takes the public key for a secret is refused', async () => {
    const { why } = open()
    const [, payload] = (await issuer.token()).split('.')
    const header = part({ alg: 'HS256', kid: 'key-1', typ: 'at+jwt' })
    const secret = JSON.stringify(issuer.keys[0])
    const mac = createHmac('sha256', secret).update(`${header}.${payload}`).digest('base64url')
    expect(await why(`${header}.${payload}.${mac}`)).toBe('algorithm')
  })

  it('that brings its own key, or names where one is, is refused', async () => {
    const other = await startTokenIssuer()
    try {
      const { why } = open()
      const [key] = other.keys
      const own = [{ jwk: key }, { jku: `${other.url}/keys` }, { x5u: other.url }, {}]
      for (const more of own) {
        const token = await other.token({ iss: issuer.url }, { ...more } as Record<string, string>)
        expect(await why(token)).toBe('signature')
      }
      expect(other.asked).toEqual([])
    } finally {
      await other.stop()
    }
  })

  it('whose key id is a path, a query or a prototype finds no key', async () => {
    const { why } = open()
    for (const kid of ['../../etc/passwd', "' or 1=1 --", '__proto__', 'constructor', ''])
      expect(await why(await issuer.token({}, { kid }))).toBe('key')
  })

  it('that was altered is refused, also after its good twin was taken', async () => {
    const { why } = open()
    const token = await issuer.token()
    const [header, payload = '', signature] = token.split('.')
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as object
    expect(await why(token)).toBe('ann')
    expect(await why(`${header}.${part({ ...claims, sub: 'bob-1' })}.${signature}`)).toBe(
      'signature',
    )
  })

  it('that asks for what this version does not know is refused', async () => {
    const { why } = open()
    const token = await issuer.token()
    const header = { alg: 'ES256', kid: 'key-1', crit: ['exp'], exp: 1 }
    expect(await why(withHeader(token, header, token.split('.')[2] ?? ''))).toBe('malformed')
    expect(await why(await issuer.token({}, { typ: 'logout+jwt' }))).toBe('malformed')
  })

  it('of a megabyte costs as little as one of a few bytes', async () => {
    const { why, tokens } = open()
    const long = `ey${'a'.repeat(1_048_576)}.${'b'.repeat(10)}.c`
    expect(tokens.takes(long)).toBe(true)
    expect(await why(long)).toBe('malformed')
    expect(await why('a.b.c')).toBe('malformed')
    expect(long.length).toBeGreaterThan(TOKEN_CHARACTERS_MAX)
  })

  it('that was taken is refused as soon as it has ended', async () => {
    const { state, why } = open()
    const token = await issuer.token({ exp: seconds(10) })
    expect(await why(token)).toBe('ann')
    state.nowMs += 39_000
    expect(await why(token)).toBe('ann')
    state.nowMs += 2_000
    expect(await why(token)).toBe('expired')
  })
})

describe('the keys of an issuer', () => {
  it('are asked for once, however many tokens name one that there is not', async () => {
    const { why } = open()
    expect(await why(await issuer.token())).toBe('ann')
    const before = issuer.asked.length
    const [, payload, signature] = (await issuer.token()).split('.')
    const garbage = Array.from(
      { length: 10_000 },
      (_, index) => `${part({ alg: 'ES256', kid: `no-${index}` })}.${payload}.${signature}`,
    )
    let longestMs = 0
    let last = performance.now()
    const beat = setInterval(() => {
      longestMs = Math.max(longestMs, performance.now() - last)
      last = performance.now()
    }, 5)
    for (let from = 0; from < garbage.length; from += 500) {
      const answers = await Promise.all(garbage.slice(from, from + 500).map((token) => why(token)))
      expect(new Set(answers)).toEqual(new Set(['key']))
    }
    clearInterval(beat)
    // The first look was just now.
    expect(issuer.asked.length - before).toBe(0)
    expect(longestMs).toBeLessThan(500)
    expect(await why(await issuer.token())).toBe('ann')
  })

  it('that were rotated are found by the first token that names one, and the former are gone', async () => {
    const clock = vi.spyOn(performance, 'now')
    const { why } = open()
    const former = await issuer.token({ jti: 'former' })
    expect(await why(await issuer.token())).toBe('ann')
    await issuer.rotate()
    const started = performance.now()
    clock.mockImplementation(() => started + 31_000)
    const before = issuer.asked.length
    const many = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => why(await issuer.token({ jti: `${index}` }))),
    )
    expect(new Set(many)).toEqual(new Set(['ann']))
    // The configuration, and the key set that it names.
    expect(issuer.asked.length - before).toBe(2)
    expect(await why(former)).toBe('key')
  })

  it('go on while the issuer is away; what needs another waits, and is never let in', async () => {
    const clock = vi.spyOn(performance, 'now')
    const { why } = open()
    expect(await why(await issuer.token())).toBe('ann')
    issuer.behaviour.isAway = true
    const started = performance.now()
    clock.mockImplementation(() => started + 31_000)
    expect(await why(await issuer.token({ jti: 'another' }))).toBe('ann')
    expect(await why(await issuer.token({}, { kid: 'new' }))).toBe('unread')
    const before = issuer.asked.length
    expect(await why(await issuer.token({ jti: 'and another' }))).toBe('ann')
    expect(await why(await issuer.token({}, { kid: 'new' }))).toBe('unread')
    expect(issuer.asked.length).toBe(before)
    clock.mockImplementation(() => started + 25 * 3_600_000)
    expect(await why(await issuer.token({ jti: 'much later' }))).toBe('unread')
    issuer.behaviour.isAway = false
    clock.mockImplementation(() => started + 26 * 3_600_000)
    expect(await why(await issuer.token({ jti: 'back' }))).toBe('ann')
  })

  it.each([
    [
      'more bytes than a key set has',
      () => ({ keySet: JSON.stringify({ keys: [], x: 'x'.repeat(300_000) }) }),
    ],
    [
      'more keys than anybody has',
      () => ({ keySet: JSON.stringify({ keys: Array(101).fill({}) }) }),
    ],
    ['what is no JSON', () => ({ keySet: '<html>' })],
    ['the name of somebody else', () => ({ configuration: { issuer: 'https://evil.example' } })],
    ['keys in the open elsewhere', () => ({ configuration: { jwks_uri: 'http://keys.example/' } })],
    ['no place of keys', () => ({ configuration: { jwks_uri: undefined } })],
  ])('are not read where it answers %s', async (_, behaviour) => {
    Object.assign(issuer.behaviour, behaviour())
    expect(await open().why(await issuer.token())).toBe('unread')
  })

  it('are public ones alone: a secret among them proves nothing', async () => {
    const k = Buffer.from('known to everybody').toString('base64url')
    issuer.behaviour.keySet = JSON.stringify({ keys: [{ kty: 'oct', kid: 'key-1', k }] })
    expect(await open().why(await issuer.token())).toBe('key')
  })
})

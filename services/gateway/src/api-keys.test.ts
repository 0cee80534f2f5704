// A key opens what it was made for, until its day; settings that are wrong say where.
import { describe, expect, it } from 'vitest'
import { createApiKey, identify, parseApiKeys, scopesOfRoles } from './api-keys.ts'

const NOW = Date.parse('2026-11-20T12:00:00Z')
const made = createApiKey({ scopes: 'handoffs:send+metrics:read' })
const bearer = (key: string) => `Bearer ${key}`

describe('an API key', () => {
  it('identifies its holder and carries its scopes', () => {
    const found = identify(parseApiKeys(made.entry), bearer(made.key), NOW)
    expect(found.ok && [...found.key.scopes]).toEqual(['handoffs:send', 'metrics:read'])
  })
  it('may claim the work of the agent types that it names, and of all where it names none', () => {
    const typesOf = (scopes: string) => {
      const { key, entry } = createApiKey({ scopes })
      const found = identify(parseApiKeys(entry), bearer(key), NOW)
      return found.ok && [[...found.key.scopes], found.key.agentTypes && [...found.key.agentTypes]]
    }
    expect(typesOf('handoffs:send+executions:claim=word-count|a.B_2')).toEqual([
      ['handoffs:send', 'executions:claim'],
      ['word-count', 'a.B_2'],
    ])
    expect(typesOf('executions:claim')).toEqual([['executions:claim'], undefined])
  })
  it('acts for its operator; without one for itself', () => {
    const ann = createApiKey({ scopes: 'dead-letters:review', operator: 'ann' })
    const operatorOf = ({ key, entry }: typeof ann) => {
      const found = identify(parseApiKeys(entry), bearer(key), NOW)
      return found.ok && [found.key.operator, found.key.id]
    }
    expect(operatorOf(ann)).toEqual(['ann', ann.key.split('_')[1]])
    expect(operatorOf(made)).toEqual([made.key.split('_')[1], made.key.split('_')[1]])
  })
  it('is not in what the gateway is told', () => {
    expect(made.key).toMatch(/^bk_[0-9a-f]{12}_[A-Za-z0-9_-]{43}$/)
    expect(made.entry).not.toContain(made.key.slice(-43))
  })
  it('is refused from the day on which it expires, and not before', () => {
    const { key, entry } = createApiKey({ scopes: 'handoffs:send', expires: '2026-11-21' })
    const keys = parseApiKeys(entry)
    const day = Date.parse('2026-11-21T00:00:00Z')
    expect(identify(keys, bearer(key), day - 1).ok).toBe(true)
    expect(identify(keys, bearer(key), day)).toEqual({ ok: false, why: 'expired' })
  })
  it('is replaced by adding another one beside it', () => {
    const next = createApiKey({ scopes: 'handoffs:send' })
    const keys = parseApiKeys(`${made.entry}, ${next.entry}`)
    expect([made, next].map(({ key }) => identify(keys, bearer(key), NOW).ok)).toEqual([true, true])
  })
  it.each([
    [undefined, 'missing'],
    ['', 'scheme'],
    [made.key, 'scheme'],
    [`Basic ${made.key}`, 'scheme'],
    [bearer(`${made.key}x`), 'unknown'],
    [bearer(made.key.slice(0, -1)), 'unknown'],
    [bearer(createApiKey({ scopes: 'handoffs:send' }).key), 'unknown'],
    [`${bearer(made.key)}, ${bearer(made.key)}`, 'unknown'],
  ])('is not found in the header %j', (header, why) => {
    expect(identify(parseApiKeys(made.entry), header, NOW)).toEqual({ ok: false, why })
  })
})

describe('roles', () => {
  it('come to the scopes that keys have, each once', () => {
    expect(scopesOfRoles(['compliance', 'auditor'])).toBe(
      'handoffs:read+erasures:plan+erasures:approve',
    )
    expect(() => scopesOfRoles(['owner'])).toThrow('there is no role owner')
  })
})

describe('the setting', () => {
  const sha256 = 'a'.repeat(64)
  it.each([
    ['', /entry 1 is not id@operator%tenant:scope\+scope:sha256hex/],
    [`a:handoffs:send:${sha256},b`, /entry 2 is not/],
    [`a:handoffs:delete:${sha256}`, /names the scope handoffs:delete/],
    [`a:handoffs:send=x:${sha256}`, /names the scope handoffs:send=x/],
    [`a:executions:claim=:${sha256}`, /names the scope executions:claim=/],
    [`a:executions:claim=x|:${sha256}`, /names the scope executions:claim=x/],
    [`a:handoffs:send:${sha256}:2026-13-01`, /2026-13-01, which is not a date/],
    [`a:handoffs:send:${sha256}:2027-02-30`, /2027-02-30, which is not a date/],
    [`a:handoffs:send:${sha256},a:handoffs:read:${sha256}`, /the id a occurs twice/],
    [made.key, /entry 1 is not/],
    [`a:handoffs:read+dead-letters:review:${'a'.repeat(64)}`, /dead-letters:review, which decides/],
    [`a:approvals:decide:${'a'.repeat(64)}`, /approvals:decide, which decides/],
    [`a:erasures:plan:${'a'.repeat(64)}`, /erasures:plan, which decides/],
    [`a%acme:erasures:approve:${'a'.repeat(64)}`, /erasures:approve, which decides/],
  ])('%j is refused', (setting, message) => {
    expect(() => parseApiKeys(setting)).toThrow(message)
  })
  it('never shows a key that was put there by mistake', () => {
    expect(() => parseApiKeys(made.key)).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(made.key) }),
    )
  })
})

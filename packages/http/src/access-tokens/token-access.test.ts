// What claims come to: who, of which tenant, as which agents, with which scopes, and what deciding takes.
import { describe, expect, it } from 'vitest'
import { parseIssuers } from './issuers.ts'
import { ROLES } from './roles.ts'
import { accessOf } from './token-access.ts'
import { withheldProblem } from './token-problems.ts'

const NAMES = {
  tenant: '[a-z][a-z0-9-]{0,30}',
  operator: '[A-Za-z0-9][A-Za-z0-9._-]{0,63}',
  defaultTenant: 'default',
}
const NOW_MS = 1_900_000_000_000
const NOW_S = NOW_MS / 1000
const BASE = { issuer: 'https://login.example', audience: 'baton' }
const NAMED = { operatorClaim: 'preferred_username' }
const ANN = { sub: 'ann-1', client_id: 'web', preferred_username: 'ann' }

function read(members: object, claims: object) {
  const [issuer] = parseIssuers(JSON.stringify([{ ...BASE, ...members }]))
  if (issuer === undefined) throw new Error('there is one')
  return accessOf({ issuer, claims: { ...claims }, nowMs: NOW_MS }, NAMES)
}

const scopesOf = (members: object, claims: object) => [...(read(members, claims)?.scopes ?? [])]

describe('the operator', () => {
  it('is whom the file names for the subject, then whom the claim names, and else nobody whom somebody else could be', () => {
    const both = { ...NAMED, operators: { 'ann-1': 'ann.of.accounting' } }
    expect(read(both, ANN)?.operator).toBe('ann.of.accounting')
    expect(read(NAMED, ANN)?.operator).toBe('ann')
    const nameless = read({}, ANN)?.operator
    expect(nameless).toMatch(/^token-[0-9a-f]{24}$/)
    expect(read({}, { ...ANN, jti: 'another' })?.operator).toBe(nameless)
    expect(read({}, { ...ANN, sub: 'bob-1' })?.operator).not.toBe(nameless)
    expect(read({ issuer: 'https://other.example' }, ANN)?.operator).not.toBe(nameless)
  })

  it.each([
    'acme/ann',
    'ann@example.org',
    '',
    'token-4f00',
    'Token-4f00',
    7,
    ['ann'],
    'x'.repeat(65),
  ])('is not %j, which no operator is called', (name) => {
    const found = read(NAMED, { ...ANN, preferred_username: name })
    expect(found?.operator).toMatch(/^token-[0-9a-f]{24}$/)
  })

  it('of another tenant is somebody else', () => {
    expect(read({ ...NAMED, tenant: 'acme' }, ANN)).toMatchObject({
      operator: 'acme/ann',
      tenant: 'acme',
    })
  })
})

describe('the tenant', () => {
  it('is the one of the claim, or nobody’s', () => {
    const members = { ...NAMED, tenantClaim: 'org.name' }
    expect(read(members, { ...ANN, org: { name: 'acme' } })?.tenant).toBe('acme')
    expect(read(members, { ...ANN, 'org.name': 'globex' })?.tenant).toBe('globex')
    for (const name of [undefined, '', 'Acme', 'acme/x', ['acme'], 7])
      expect(read(members, { ...ANN, org: { name } })).toBeUndefined()
  })
})

describe('agents', () => {
  it('are those of the claim; without it, none', () => {
    const members = { agentsClaim: 'agents' }
    expect(read(members, { ...ANN, agents: ['intake', 'risk'] })?.agents).toEqual(
      new Set(['intake', 'risk']),
    )
    expect(read(members, { ...ANN, agents: 'intake risk' })?.agents?.size).toBe(2)
    expect(read(members, ANN)?.agents).toEqual(new Set())
    expect(read({}, ANN)?.agents).toBeUndefined()
  })
})

describe('scopes', () => {
  it('stand in scope or scp, behind the prefix that the file says', () => {
    const said = { ...ANN, scope: 'openid handoffs:read', scp: ['handoffs:send'] }
    expect(scopesOf({}, said)).toEqual(['openid', 'handoffs:read', 'handoffs:send'])
    const prefixed = { ...ANN, scope: 'handoffs:read api://baton/handoffs:send' }
    expect(scopesOf({ scopePrefix: 'api://baton/' }, prefixed)).toEqual(['handoffs:send'])
  })

  it('are those of the roles where a claim names roles, and then nothing else is asked', () => {
    const members = {
      ...NAMED,
      rolesClaim: 'realm_access.roles',
      roles: { 'Release Team': 'reviewer' },
    }
    const claims = {
      ...ANN,
      scope: 'handoffs:send',
      realm_access: { roles: ['Release Team', 'x'] },
    }
    expect(scopesOf(members, claims)).toEqual([...ROLES.reviewer])
    expect(scopesOf(members, { ...ANN, scope: 'handoffs:send' })).toEqual([])
  })
})

const DECIDING = { scope: 'handoffs:read approvals:decide erasures:approve audit:hold' }
const problemOf = (members: object, claims: object) => {
  const withheld = read(members, { ...DECIDING, ...claims })?.withheld.get('approvals:decide')
  return withheld === undefined ? undefined : withheldProblem('approvals:decide', withheld)
}

describe('deciding', () => {
  it('takes a person whom the file names', () => {
    expect(scopesOf(NAMED, { ...ANN, ...DECIDING })).toHaveLength(4)
    expect(scopesOf({}, { ...ANN, ...DECIDING })).toEqual(['handoffs:read'])
    expect(problemOf({}, ANN)).toMatchObject({ status: 403, code: 'BATON_PERSON_NEEDED' })
  })

  it.each([
    ['is its own client', { sub: 'web' }],
    ['was given to itself', { client_id: undefined, azp: 'ann-1' }],
    ['was given to itself among others', { client_id: undefined, azp: ['web', 'ann-1'] }],
    ['does not say for which client it is', { client_id: undefined }],
    ['says that it is an app', { idtyp: 'app' }],
    ['says how it was granted', { gty: 'client-credentials' }],
    ['has a service account’s name', { preferred_username: 'service-account-web' }],
    ['has what the file says of machines', { kind: 'robot-7' }],
    ['says so beside others', { gty: ['client-credentials', 'x'] }],
    ['has what the file says beside what is usual', { preferred_username: 'bot-7' }],
  ])('takes no machine: its token %s', (_, claims) => {
    const machines = { kind: 'robot-*', preferred_username: 'bot-*' }
    const members = { operators: { 'ann-1': 'ann', web: 'ann' }, machines }
    expect(problemOf(members, ANN)).toBeUndefined()
    expect(problemOf(members, { ...ANN, ...claims })).toMatchObject({
      status: 403,
      code: 'BATON_PERSON_NEEDED',
    })
    expect(scopesOf(members, { ...ANN, ...DECIDING, ...claims })).toEqual(['handoffs:read'])
  })

  it('takes the second factor that the file demands, and says which', () => {
    const secondFactor = { acr: ['urn:mfa', 'urn:hw'], amr: ['otp', 'hwk'], authAgeMaxS: 600 }
    const members = { ...NAMED, secondFactor }
    const shown = { ...ANN, acr: 'urn:hw', amr: ['pwd', 'otp'], auth_time: NOW_S - 600 }
    expect(problemOf(members, shown)).toBeUndefined()
    const lacking: object[] = [
      { acr: 'urn:pwd' },
      { acr: undefined },
      { amr: ['pwd'] },
      { amr: undefined },
      { auth_time: NOW_S - 700 },
      { auth_time: undefined },
      { auth_time: `${NOW_S}` },
    ]
    for (const claims of lacking) {
      const problem = problemOf(members, { ...shown, ...claims })
      expect(problem).toMatchObject({ status: 401, code: 'BATON_SECOND_FACTOR_NEEDED' })
      expect(problem?.headers['www-authenticate']).toBe(
        'Bearer realm="baton", error="insufficient_user_authentication", error_description="deciding takes a stronger or a more recent sign-in", acr_values="urn:mfa urn:hw", max_age="600"',
      )
    }
    // What decides nothing takes none.
    expect(scopesOf(members, { ...ANN, ...DECIDING })).toEqual(['handoffs:read'])
  })
})

describe('a file of issuers', () => {
  it.each([
    ['no list', '{}', 'no list'],
    ['an empty list', '[]', 'no list'],
    ['no JSON', '[', 'no JSON'],
    ['one twice', JSON.stringify([BASE, BASE]), 'twice'],
  ])('that is %s is refused', (_, text, words) => {
    expect(() => parseIssuers(text)).toThrow(words)
  })

  it.each([
    [{ issuer: undefined }, '/issuer: is missing'],
    [{ issuer: 'http://login.example' }, 'by https'],
    [{ issuer: 'login' }, 'by https'],
    [{ jwksUri: 'http://keys.example' }, '/jwksUri: keys are fetched by https'],
    [{ jwksUri: 'file:///etc/passwd' }, '/jwksUri: keys are fetched by https'],
    [{ jwksUri: 'https://a.example', jwksFile: 'keys.json' }, 'both'],
    [{ audience: undefined }, '/audience'],
    [{ audience: [] }, '/audience'],
    [{ algorithms: ['HS256'] }, 'HS256 is none of'],
    [{ algorithms: ['none'] }, 'none is none of'],
    [{ clockToleranceS: 3600 }, '/clockToleranceS'],
    [{ tenant: 'acme', tenantClaim: 'org' }, 'both'],
    [{ rolesClaim: 'roles', roles: { boss: 'owner' } }, '/roles/boss'],
    [{ roles: { boss: 'admin' } }, 'needs rolesClaim'],
    [{ secondFactor: {} }, 'demands nothing'],
    [{ secondFactor: { acr: ['a"b'] } }, 'quote'],
    [{ secret: 'x' }, '/secret: there is no such member'],
  ])('whose entry has %j is refused, and told where', (members, words) => {
    expect(() => parseIssuers(JSON.stringify([{ ...BASE, ...members }]))).toThrow(words)
  })

  it('may name an issuer by http where its keys come from a file, or from this machine', () => {
    const own = [
      { issuer: 'urn:own', jwksFile: 'keys.json' },
      { issuer: 'http://127.0.0.1:9000' },
      { issuer: 'http://localhost:9000' },
    ]
    for (const members of own)
      expect(parseIssuers(JSON.stringify([{ ...BASE, ...members }]))).toHaveLength(1)
  })
})

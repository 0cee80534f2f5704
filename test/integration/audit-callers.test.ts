// Who calls the auditor: people and services by access tokens, whom records name, beside fixed tokens, of which records say that they were it.
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { AUDIENCE, startTokenIssuer } from '@baton/http/fixtures/token-issuer'
import type { TokenIssuer } from '@baton/http/fixtures/token-issuer'
import { fetchSigned } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAuditFixture, entryOf } from './audit-fixture.ts'
import type { AuditFixture, RunningAuditor } from './audit-fixture.ts'
import { opsUrl } from './audit-seals-fixture.ts'

const EVIDENCE_TOKEN = 'evidence-token-14e10d570047667f904261'
const folder = mkdtempSync(join(tmpdir(), 'baton-issuers-'))
const taskId = randomUUID()
let fixture: AuditFixture
let issuer: TokenIssuer
let auditor: RunningAuditor
beforeAll(async () => {
  issuer = await startTokenIssuer()
  const file = join(folder, 'issuers.json')
  const named = { issuer: issuer.url, audience: AUDIENCE, operatorClaim: 'name' }
  const claims = { rolesClaim: 'roles', tenantClaim: 'org', secondFactor: { amr: ['otp'] } }
  writeFileSync(file, JSON.stringify([{ ...named, ...claims }]))
  fixture = await createAuditFixture(1)
  auditor = await fixture.startAuditor({
    BATON_ISSUERS: file,
    BATON_AUDIT_EVIDENCE_TOKEN: EVIDENCE_TOKEN,
    BATON_EVIDENCE_WAIT_MS: '0',
  })
  await auditor.client.append([entryOf({ taskId })])
})
afterAll(async () => {
  await fixture?.close()
  await issuer?.stop()
  rmSync(folder, { recursive: true })
})

const tokenOf = (role: string, claims: object = {}) =>
  issuer.token({ roles: [role], name: 'counsel', org: 'default', amr: ['otp'], ...claims })

async function ask(path: string, token: string, more: RequestInit = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const answer = await fetchSigned(auditor.url + path, {
    ...more,
    headers: { ...headers, ...(more.headers as Record<string, string> | undefined) },
  })
  const text = await answer.text()
  const isJson = String(answer.headers.get('content-type')).includes('json')
  const { code } = (isJson ? JSON.parse(text) : {}) as { code?: string }
  return { status: answer.status, code, challenge: answer.headers.get('www-authenticate') }
}

const hold = async (token: string, actor = 'counsel') =>
  ask(`/v1/holds/${taskId}`, token, {
    method: 'PUT',
    body: JSON.stringify({ held: true, actor, reason: 'COURT_ORDER' }),
  })

const actorsOf = async (event: string) => {
  const { rows } = await fixture.superuser.query<{ actor: string }>({
    text: `select said->'act'->>'actor' as actor from audit.record r,
      lateral (select convert_from(r.body, 'utf8')::json as said) b where said->>'event' = $1 order by seq`,
    values: [event],
  })
  return rows.map(({ actor }) => actor)
}

it('a role opens what it has, and nothing else', async () => {
  const search = { method: 'POST', body: '{}' }
  const auditors = await tokenOf('auditor')
  const reviewers = await tokenOf('reviewer')
  for (const path of [`/v1/traces/${taskId}`, '/v1/tiers', '/v1/holds']) {
    expect(await ask(path, auditors)).toMatchObject({ status: 200 })
    expect(await ask(path, reviewers)).toMatchObject({ status: 403, code: 'BATON_SCOPE_MISSING' })
  }
  expect(await ask('/v1/search', auditors, search)).toMatchObject({ status: 200 })
  expect(await ask(`/v1/evidence/${taskId}`, auditors)).toMatchObject({ status: 200 })
  expect(await ask('/v1/policy', await tokenOf('admin'))).toMatchObject({ status: 403 })
  expect(await hold(auditors)).toMatchObject({ status: 403, code: 'BATON_SCOPE_MISSING' })
})

it('the port of the log shows no metrics to anybody, in plain text or not', async () => {
  const own = { authorization: `Bearer ${EVIDENCE_TOKEN}` }
  for (const headers of [{}, own]) {
    const answer = await fetch(`${auditor.url}/metrics`, { headers })
    const text = await answer.text()
    expect([answer.status, JSON.parse(text)]).toMatchObject([404, { code: 'BATON_ROUTE_UNKNOWN' }])
    expect(text).not.toContain('# TYPE')
  }
  const shown = await (await fetch(`${opsUrl(auditor.process)}/metrics`)).text()
  expect(shown).toContain('# TYPE')
})

it('a token is refused with words, and nobody’s is let in', async () => {
  const path = `/v1/traces/${taskId}`
  const refused = async (claims: object) => (await ask(path, await tokenOf('auditor', claims))).code
  expect(await refused({ exp: 1 })).toBe('BATON_TOKEN_EXPIRED')
  expect(await refused({ aud: 'billing' })).toBe('BATON_TOKEN_AUDIENCE')
  expect(await refused({ iss: 'https://evil.example' })).toBe('BATON_TOKEN_ISSUER_UNKNOWN')
  // The log is of all tenants.
  expect(await refused({ org: 'acme' })).toBe('BATON_TENANT_REFUSED')
  expect(await ask(path, 'nonsense')).toMatchObject({ status: 403, code: 'BATON_TOKEN_REFUSED' })
  // A token opens no way to append.
  const append = { method: 'POST', body: JSON.stringify({ entries: [entryOf({})] }) }
  const appended = await ask('/v1/records', await tokenOf('admin'), append)
  expect(appended).toMatchObject({ status: 403, code: 'BATON_TOKEN_REFUSED' })
})

it('a record names the person of the token, and of a fixed token that it was one', async () => {
  expect(await ask(`/v1/evidence/${taskId}`, EVIDENCE_TOKEN)).toMatchObject({ status: 200 })
  const before = await actorsOf('EVIDENCE_EXPORTED')
  expect(before.at(-1)).toBe('evidence-token')
  const token = await tokenOf('auditor', { name: 'ann' })
  expect(await ask(`/v1/evidence/${taskId}`, token)).toMatchObject({ status: 200 })
  expect((await actorsOf('EVIDENCE_EXPORTED')).slice(before.length)).toEqual(['ann'])
})

it('a hold takes a person, their second factor, and token and signature of that one person', async () => {
  const machine = await tokenOf('compliance', { sub: 'web' })
  expect(await hold(machine)).toMatchObject({ status: 403, code: 'BATON_PERSON_NEEDED' })
  const weak = await hold(await tokenOf('compliance', { amr: ['pwd'] }))
  expect(weak).toMatchObject({ status: 401, code: 'BATON_SECOND_FACTOR_NEEDED' })
  expect(weak.challenge).toContain('insufficient_user_authentication')
  // Whoever has a token of their own, and says to be counsel in the body.
  const others = await hold(await tokenOf('compliance', { name: 'mallory' }))
  expect(others).toMatchObject({ status: 403, code: 'BATON_DECISION_REFUSED' })
  expect(await actorsOf('LEGAL_HOLD_SET')).toEqual([])
  expect(await hold(await tokenOf('compliance'))).toMatchObject({ status: 200 })
  expect(await actorsOf('LEGAL_HOLD_SET')).toEqual(['counsel'])
})

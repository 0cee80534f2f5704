// Who somebody is by the claims of their token, and what they may: as the operator's file of issuers says it. What a claim does not say
// clearly opens nothing.
import { hash } from 'node:crypto'
import type { JWTPayload } from 'jose'
import type { Issuer, SecondFactor } from './issuers.ts'
import { decides, ROLES } from './roles.ts'

export interface TokenAccess {
  /** The same for every token of one subject of one issuer. */
  readonly id: string
  /** Who acts; of two tenants, two. */
  readonly operator: string
  readonly tenant: string
  readonly scopes: ReadonlySet<string>
  /** As which agents; as any of the tenant where it is undefined. */
  readonly agents: ReadonlySet<string> | undefined
  /** Scopes that the token says and that do not count, and what is missing. */
  readonly withheld: ReadonlyMap<string, Withheld>
}

/** Why somebody who may decide may not with this token. */
export type Withheld =
  | { readonly why: 'machine' }
  | { readonly why: 'nameless' }
  | { readonly why: 'second_factor'; readonly demanded: SecondFactor }

/** What tenants and operators may be called, as regular expressions. */
export interface Names {
  readonly tenant: string
  readonly operator: string
  readonly defaultTenant: string
}

/** Operators whom no claim names; a claim can name none so. */
const NAMELESS = 'token-'
const AGENTS_MAX = 100
const AGENT = /^[\x21-\x7e]{1,128}$/

/** Undefined where the token does not say whose tenant it is of. `nowMs` is for how long ago somebody signed in. */
export function accessOf(
  {
    issuer,
    claims,
    nowMs,
  }: { readonly issuer: Issuer; readonly claims: JWTPayload; nowMs: number },
  names: Names,
): TokenAccess | undefined {
  const tenant = tenantOf(issuer, claims, names)
  if (tenant === undefined) return undefined
  const digest = hash('sha256', JSON.stringify([issuer.issuer, claims.sub]), 'hex')
  const id = `${NAMELESS}${digest.slice(0, 24)}`
  const named = operatorOf(issuer, claims, names)
  const operator = named ?? id
  const said = scopesOf(issuer, claims)
  const hindrance = hindranceOf({ issuer, claims, named, nowMs })
  const withheld = hindrance === undefined ? [] : [...said].filter(decides)
  return {
    id,
    // Two people of the same name at two tenants are two people.
    operator: tenant === names.defaultTenant ? operator : `${tenant}/${operator}`,
    tenant,
    scopes: new Set([...said].filter((scope) => !withheld.includes(scope))),
    agents: agentsOf(issuer, claims),
    withheld: new Map(withheld.map((scope) => [scope, hindrance as Withheld])),
  }
}

/** When what the token says of a person's signing in is too old; never, where nothing is asked of it. */
export function staleAtMs(issuer: Issuer, claims: JWTPayload): number {
  const { authAgeMaxS } = issuer.secondFactor ?? {}
  const { auth_time: at } = claims
  return authAgeMaxS === undefined || typeof at !== 'number'
    ? Infinity
    : (at + authAgeMaxS + issuer.clockToleranceS) * 1000
}

function tenantOf(
  { tenant }: Issuer,
  claims: JWTPayload,
  { tenant: pattern, defaultTenant }: Names,
): string | undefined {
  if (tenant === undefined) return defaultTenant
  const name = 'name' in tenant ? tenant.name : claimOf(claims, tenant.claim)
  return typeof name === 'string' && new RegExp(`^${pattern}$`).test(name) ? name : undefined
}

function operatorOf(
  { operators, operatorClaim }: Issuer,
  claims: JWTPayload,
  { operator: pattern }: Names,
): string | undefined {
  const name =
    operators.get(claims.sub ?? '') ??
    (operatorClaim === undefined ? undefined : claimOf(claims, operatorClaim))
  const isName =
    typeof name === 'string' &&
    new RegExp(`^${pattern}$`).test(name) &&
    !name.toLowerCase().startsWith(NAMELESS)
  return isName ? name : undefined
}

function scopesOf({ roles, scopePrefix }: Issuer, claims: JWTPayload): ReadonlySet<string> {
  if (roles !== undefined) {
    const named = textsOf(claimOf(claims, roles.claim)).map((name) => roles.named.get(name))
    return new Set(named.flatMap((role) => (role === undefined ? [] : ROLES[role])))
  }
  const said = textsOf(claims['scope']).concat(textsOf(claims['scp']))
  return new Set(
    said
      .filter((scope) => scope.startsWith(scopePrefix))
      .map((scope) => scope.slice(scopePrefix.length)),
  )
}

// Where the file says where agents stand, a token without them is for none.
function agentsOf({ agentsClaim }: Issuer, claims: JWTPayload): TokenAccess['agents'] {
  if (agentsClaim === undefined) return undefined
  const said = textsOf(claimOf(claims, agentsClaim))
  return new Set(said.length > AGENTS_MAX ? [] : said.filter((agent) => AGENT.test(agent)))
}

/** By its whole name, or else as a path: `realm_access.roles`. */
function claimOf(claims: JWTPayload, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  let found: unknown = claims
  for (const part of name.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined
    found = (found as Record<string, unknown>)[part]
  }
  return found
}

/** A list of texts, or a text of several with a space between. */
function textsOf(claim: unknown): string[] {
  if (typeof claim === 'string') return claim.split(' ').filter((one) => one !== '')
  return Array.isArray(claim) ? claim.filter((one) => typeof one === 'string') : []
}

interface Judged {
  readonly issuer: Issuer
  readonly claims: JWTPayload
  readonly named: string | undefined
  readonly nowMs: number
}

function hindranceOf({ issuer, claims, named, nowMs }: Judged): Withheld | undefined {
  if (isMachine(issuer, claims)) return { why: 'machine' }
  if (named === undefined) return { why: 'nameless' }
  const { secondFactor: demanded } = issuer
  if (demanded === undefined || hasShown(demanded, { issuer, claims, nowMs })) return undefined
  return { why: 'second_factor', demanded }
}

const CLIENT_CLAIMS = ['client_id', 'azp', 'appid', 'cid'] as const

// Whose client is not said could be the client itself.
function isMachine({ machines }: Issuer, claims: JWTPayload): boolean {
  const said = CLIENT_CLAIMS.filter((name) => claims[name] !== undefined)
  if (said.length === 0 || said.some((name) => [claims[name]].flat().includes(claims.sub)))
    return true
  return machines.some(([name, value]) => fits(claimOf(claims, name), value))
}

function fits(claim: unknown, value: string): boolean {
  if (Array.isArray(claim)) return claim.some((one) => fits(one, value))
  if (typeof claim === 'string' && value.endsWith('*')) return claim.startsWith(value.slice(0, -1))
  return String(claim) === value
}

function hasShown(
  { acr, amr, authAgeMaxS }: SecondFactor,
  { issuer, claims, nowMs }: Pick<Judged, 'issuer' | 'claims' | 'nowMs'>,
): boolean {
  if (acr.length > 0 && !acr.includes(String(claims['acr']))) return false
  if (amr.length > 0 && !textsOf(claims['amr']).some((one) => amr.includes(one))) return false
  if (authAgeMaxS === undefined) return true
  return typeof claims['auth_time'] === 'number' && nowMs < staleAtMs(issuer, claims)
}

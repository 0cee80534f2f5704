// The one place where it is said who calls, for every face: by an API key, or by an access token of an issuer that the operator named.
import { TOKEN_PROBLEMS } from '@baton/http/access-tokens'
import type { AccessTokens, TokenAccess } from '@baton/http/access-tokens'
import { bearerOf, ProblemError } from '@baton/http/server'
import { DEFAULT_TENANT } from '@baton/ledger'
import { codeOf, shareReading } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import { INSTALLATION_SCOPE, readAccess } from './api-keys.ts'
import type { Access, Identified } from './api-keys.ts'
import type { KnownKeys } from './known-keys.ts'

/** Whose an Authorization header is; never rejects. */
export type Authenticate = (authorization: string | undefined) => Identified | Promise<Identified>

interface AuthenticateParts {
  readonly keys: KnownKeys
  readonly tokens: AccessTokens
  /** The names of all tenants. */
  readonly readTenants: () => Promise<ReadonlySet<string>>
  readonly logger: Pick<Logger, 'warn'>
}

/** How long the tenants that there are are believed. */
const BELIEVED_MS = 2_000

export function createAuthenticate(parts: AuthenticateParts): Authenticate {
  const { keys, tokens, logger } = parts
  const readTenants = shareReading(parts.readTenants, BELIEVED_MS)

  async function identifyToken(token: string): Promise<Identified> {
    const found = await tokens.identify(token)
    if (!found.ok) return { ok: false, why: TOKEN_PROBLEMS[found.why] }
    const { access } = found
    if (access.tenant === DEFAULT_TENANT) return { ok: true, key: accessOfToken(access) }
    try {
      if (!(await readTenants()).has(access.tenant)) return { ok: false, why: TENANT_UNKNOWN }
      return { ok: true, key: accessOfToken(access) }
    } catch (error) {
      logger.warn({ event: 'tenants.unread', code: codeOf(error) })
      return { ok: false, why: TENANTS_UNREAD }
    }
  }

  return (authorization) => {
    const bearer = bearerOf(authorization)
    if (bearer === undefined || !tokens.takes(bearer)) return keys.identify(authorization)
    return identifyToken(bearer)
  }
}

function accessOfToken({ scopes, agents, ...access }: TokenAccess): Access {
  // What the installation shows is the default tenant's.
  const said = [...scopes].filter(
    (scope) => access.tenant === DEFAULT_TENANT || scope !== INSTALLATION_SCOPE,
  )
  return { ...access, ...readAccess(said, agents) }
}

const TENANT_UNKNOWN = new ProblemError({
  status: 403,
  code: 'BATON_TOKEN_TENANT_UNKNOWN',
  detail: 'the access token is of a tenant that there is not',
  fix: 'Have the operator add it with `baton tenants add`, or correct the file of issuers.',
})

const TENANTS_UNREAD = new ProblemError({
  status: 503,
  code: 'BATON_API_KEYS_UNREAD',
  detail: 'whether there is the tenant of this access token cannot be looked up now',
  fix: 'Send it again after the time in Retry-After; the token itself may be fine.',
  headers: { 'retry-after': '1' },
})

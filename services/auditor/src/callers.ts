// Who calls the auditor to read, to export or to hold: whoever has a fixed token, which several may share and no record can tell apart; or
// a person or service by an access token, whom records name. The log is of all tenants, so only tokens of the default one count.
import {
  createAccessTokens,
  readIssuers,
  TOKEN_PROBLEMS,
  withheldProblem,
} from '@baton/http/access-tokens'
import type { AccessTokens, TokenAccess } from '@baton/http/access-tokens'
import { bearerOf, matcherOf, ProblemError, requireToken } from '@baton/http/server'
import { DEFAULT_TENANT, OPERATOR_NAME, TENANT } from '@baton/ledger'
import type { Logger, Tls } from '@baton/runtime'

export interface Caller {
  /** As records name them: the operator of an access token, or which fixed token it was. */
  readonly name: string
  /** Undefined behind a fixed token: nobody has proven who that is. */
  readonly operator: string | undefined
}

/** Throws the problem of who may not. */
export type Guard = (authorization: string | undefined) => Promise<Caller>

type Right = 'read' | 'evidence' | 'payload' | 'hold'

export interface Callers extends Pick<AccessTokens, 'start' | 'stop'> {
  /** Lets in who has the fixed token, or an access token with the scope `audit:<right>`. */
  guard(right: Right, fixed: string): Guard
  /** The same where there may be no fixed token; undefined where nobody at all is to be let in. */
  optionalGuard(right: Right, fixed: string | undefined): Guard | undefined
}

interface CallersOptions {
  /** The file of issuers. */
  readonly issuersPath: string | undefined
  readonly logger: Logger
  /** Who vouches for the issuers. */
  readonly tls: Tls
}

const NAMES = { tenant: TENANT, operator: OPERATOR_NAME, defaultTenant: DEFAULT_TENANT }

/** Throws BATON_ISSUERS_INVALID. */
export function createCallers({ issuersPath, logger, tls }: CallersOptions): Callers {
  const issuers = readIssuers(issuersPath)
  const tokens = createAccessTokens({ issuers, names: NAMES, logger, tls })

  function guard(right: Right, fixed: string | undefined): Guard {
    const isFixed = fixed === undefined ? () => false : matcherOf(fixed)
    // Nobody has what nobody was given.
    const refuse = requireToken(fixed ?? '', right)
    return async (authorization) => {
      const bearer = bearerOf(authorization) ?? ''
      if (isFixed(bearer)) return { name: `${right}-token`, operator: undefined }
      if (!tokens.takes(bearer)) {
        refuse(authorization)
        throw new TypeError('what no fixed token is was refused')
      }
      const found = await tokens.identify(bearer)
      if (!found.ok) throw TOKEN_PROBLEMS[found.why]
      const { operator } = withScope(found.access, `audit:${right}`)
      return { name: operator, operator }
    }
  }

  return {
    guard,
    optionalGuard: (right, fixed) =>
      fixed === undefined && issuers.length === 0 ? undefined : guard(right, fixed),
    start: () => tokens.start(),
    stop: () => tokens.stop(),
  }
}

function withScope(access: TokenAccess, scope: string): TokenAccess {
  if (access.tenant !== DEFAULT_TENANT) throw OF_ALL_TENANTS
  if (access.scopes.has(scope)) return access
  const missing = access.withheld.get(scope)
  throw missing === undefined ? scopeMissing(scope) : withheldProblem(scope, missing)
}

const OF_ALL_TENANTS = new ProblemError({
  status: 403,
  code: 'BATON_TENANT_REFUSED',
  detail: 'the log is of all tenants, and the access token of one',
  fix: 'Read the traces of your tenant from the gateway, or use a token of the default tenant.',
})

const scopeMissing = (scope: string) =>
  new ProblemError({
    status: 403,
    code: 'BATON_SCOPE_MISSING',
    detail: `the access token does not have the scope ${scope}`,
    fix: 'Use one with this scope, or ask the operator to add it.',
  })

// Access tokens of OAuth 2 and OpenID Connect: whose each is and what they may. A token that was proven is believed for a minute, never past
// its end; garbage costs the same whatever is in it; and an issuer that is away stops nobody whose keys are known.
import { hash } from 'node:crypto'
import { codeOf, every } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import { createIssuerKeys, keyReaderOf } from './issuer-keys.ts'
import type { Issuer } from './issuers.ts'
import { accessOf, staleAtMs } from './token-access.ts'
import type { Names, TokenAccess } from './token-access.ts'
import { isToken, proveToken } from './verify-token.ts'
import type { TokenFault } from './verify-token.ts'

export interface AccessTokensOptions {
  readonly issuers: readonly Issuer[]
  readonly names: Names
  readonly logger: Pick<Logger, 'info' | 'warn'>
  /** Who vouches for the issuers. */
  readonly tls: Tls
  /** Milliseconds since 1970; the machine's own by default. */
  readonly now?: () => number
}

export type TokenIdentified =
  | { readonly ok: true; readonly access: TokenAccess }
  | { readonly ok: false; readonly why: TokenFault }

/** Started, it learns the keys of its issuers and looks again every few minutes. */
export interface AccessTokens extends Service {
  /** Whether a bearer is to be looked at here; of no issuers, none is. */
  takes(bearer: string): boolean
  /** Whose token it is; never rejects. */
  identify(token: string): Promise<TokenIdentified>
}

const LOOK_EVERY_MS = 300_000
/** How long a proven token is believed without another look at its signature. */
const BELIEVED_MS = 60_000
const KEPT_MAX = 10_000

export function createAccessTokens(options: AccessTokensOptions): AccessTokens {
  const { issuers: given, names, logger, tls, now = Date.now } = options
  const issuers = new Map(
    given.map((issuer) => {
      const read = keyReaderOf(issuer, tls)
      const keys = createIssuerKeys({ read, now: () => performance.now() })
      return [issuer.issuer, { issuer, keys }] as const
    }),
  )
  const kept = createKept(now)
  const looking = every({
    name: 'keys of issuers',
    everyMs: LOOK_EVERY_MS,
    holdsProcess: false,
    async run() {
      await Promise.all([...issuers.values()].map((one) => look(one)))
    },
    failed: () => undefined,
  })

  async function look({
    issuer: { issuer },
    keys,
  }: {
    issuer: Issuer
    keys: { refresh(): Promise<void> }
  }) {
    try {
      await keys.refresh()
    } catch (error) {
      logger.warn({ event: 'issuer.keys_unread', issuer, code: codeOf(error) })
    }
  }

  async function prove(token: string, digest: string): Promise<TokenIdentified> {
    const proven = await proveToken(token, issuers, now())
    if (!proven.ok) return proven
    const { issuer, claims } = proven
    const access = accessOf({ issuer, claims, nowMs: now() }, names)
    if (access === undefined) return { ok: false, why: 'tenant' }
    const endMs = ((claims.exp ?? 0) + issuer.clockToleranceS) * 1000
    // Who is stale already stays so; who becomes it is looked at again then.
    const staleMs = staleAtMs(issuer, claims)
    const until = Math.min(now() + BELIEVED_MS, endMs, staleMs > now() ? staleMs : Infinity)
    kept.keep(digest, { access, until })
    return { ok: true, access }
  }

  return {
    name: 'access tokens',
    takes: (bearer) => issuers.size > 0 && isToken(bearer),
    async identify(token) {
      const digest = hash('sha256', token, 'base64url')
      const access = kept.get(digest)
      return access === undefined ? prove(token, digest) : { ok: true, access }
    },
    async start() {
      if (issuers.size > 0) await looking.start()
    },
    stop: () => looking.stop(),
  }
}

interface Kept {
  readonly access: TokenAccess
  readonly until: number
}

/** What was proven lately; of too many, the latest. */
function createKept(now: () => number) {
  const entries = new Map<string, Kept>()
  return {
    get(digest: string): TokenAccess | undefined {
      const entry = entries.get(digest)
      if (entry === undefined || now() < entry.until) return entry?.access
      entries.delete(digest)
      return undefined
    },
    keep(digest: string, entry: Kept): void {
      entries.set(digest, entry)
      const [oldest] = entries.keys()
      if (entries.size > KEPT_MAX && oldest !== undefined) entries.delete(oldest)
    },
  }
}

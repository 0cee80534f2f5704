// What an access token says, once it is proven that one of our issuers says it, of us, and now. Nothing of a token is believed before its
// signature is checked, but for which issuer's keys would have to have made it.
import { decodeJwt, decodeProtectedHeader, errors, jwtVerify } from 'jose'
import type { JWTPayload } from 'jose'
import type { IssuerKeys } from './issuer-keys.ts'
import type { Issuer } from './issuers.ts'

/** Why a token is not taken. */
export type TokenFault =
  | 'malformed'
  | 'issuer'
  | 'algorithm'
  | 'key'
  | 'signature'
  | 'expired'
  | 'early'
  | 'audience'
  | 'claims'
  | 'bound'
  | 'lasting'
  | 'tenant'
  /** Nobody can say now: the issuer's keys are not at hand. */
  | 'unread'

export interface KnownIssuer {
  readonly issuer: Issuer
  readonly keys: Pick<IssuerKeys, 'find'>
}

export type Proven =
  | { readonly ok: true; readonly issuer: Issuer; readonly claims: JWTPayload }
  | { readonly ok: false; readonly why: TokenFault }

/** A header of HTTP is hardly longer. */
export const TOKEN_CHARACTERS_MAX = 8_192
const CLAIMS_MAX = 100
const SUBJECT_CHARACTERS_MAX = 255
/** No issuer that makes access tokens makes them for longer, and none can be revoked here. */
export const LIFETIME_DAYS_MAX = 31

const TOKEN = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]*$/
/** What RFC 9068 calls access tokens, and what issuers from before it do. */
const TYPES: ReadonlySet<unknown> = new Set([undefined, 'at+jwt', 'application/at+jwt', 'jwt'])

const refused = (why: TokenFault): Proven => ({ ok: false, why })

/** Whether it looks like a token at all, of whatever length. */
export const isToken = (text: string): boolean =>
  text.length > TOKEN_CHARACTERS_MAX ? text.startsWith('ey') : TOKEN.test(text)

export async function proveToken(
  token: string,
  issuers: ReadonlyMap<string, KnownIssuer>,
  nowMs: number,
): Promise<Proven> {
  if (token.length > TOKEN_CHARACTERS_MAX || !TOKEN.test(token)) return refused('malformed')
  const said = readUnproven(token)
  if (said === undefined) return refused('malformed')
  const known = issuers.get(said.issuer)
  if (known === undefined) return refused('issuer')
  const { issuer, keys } = known
  if (!issuer.algorithms.includes(said.algorithm)) return refused('algorithm')
  try {
    const { payload } = await jwtVerify(
      token,
      async (header, jws) => {
        const key = await keys.find(header, jws)
        if (typeof key === 'string') throw new KeyMissing(key)
        return key
      },
      {
        algorithms: [...issuer.algorithms],
        issuer: issuer.issuer,
        audience: [...issuer.audiences],
        clockTolerance: issuer.clockToleranceS,
        requiredClaims: ['exp', 'sub'],
        currentDate: new Date(nowMs),
      },
    )
    const why = faultOfClaims(payload, nowMs)
    return why === undefined ? { ok: true, issuer, claims: payload } : refused(why)
  } catch (error) {
    return refused(faultOf(error))
  }
}

interface Said {
  readonly issuer: string
  readonly algorithm: string
}

function readUnproven(token: string): Said | undefined {
  try {
    const { alg: algorithm = '', typ } = decodeProtectedHeader(token)
    const claims = decodeJwt(token)
    if (!TYPES.has(typ?.toLowerCase()) || Object.keys(claims).length > CLAIMS_MAX) return undefined
    return { issuer: String(claims.iss ?? ''), algorithm }
  } catch {
    return undefined
  }
}

class KeyMissing extends Error {
  readonly why: 'key' | 'unread'
  constructor(why: 'unknown' | 'unread') {
    super('there is no such key')
    this.why = why === 'unread' ? 'unread' : 'key'
  }
}

function faultOfClaims({ sub, cnf, exp = 0 }: JWTPayload, nowMs: number): TokenFault | undefined {
  if (typeof sub !== 'string' || sub === '' || sub.length > SUBJECT_CHARACTERS_MAX) return 'claims'
  if (exp > nowMs / 1_000 + LIFETIME_DAYS_MAX * 86_400) return 'lasting'
  // Such a token is only for who also holds a key, of which nothing is asked here.
  return cnf === undefined ? undefined : 'bound'
}

const OF_CLAIM: Readonly<Record<string, TokenFault>> = {
  aud: 'audience',
  iss: 'issuer',
  nbf: 'early',
}

function faultOf(error: unknown): TokenFault {
  if (error instanceof KeyMissing) return error.why
  if (error instanceof errors.JWTExpired) return 'expired'
  if (error instanceof errors.JWTClaimValidationFailed) return OF_CLAIM[error.claim] ?? 'claims'
  if (error instanceof errors.JWSSignatureVerificationFailed) return 'signature'
  if (error instanceof errors.JOSEAlgNotAllowed) return 'algorithm'
  return 'malformed'
}

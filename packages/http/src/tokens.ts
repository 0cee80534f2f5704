// Bearer tokens, compared in constant time.
import { hash, timingSafeEqual } from 'node:crypto'
import { ProblemError } from './problem.ts'

/** Throws unless an Authorization header carries the token. */
export type RequireToken = (authorization: string | undefined) => void

/** The token that an Authorization header carries. */
export const bearerOf = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** A test for one secret, which takes the same time whatever it is given. */
export function matcherOf(secret: string): (given: string) => boolean {
  const expected = digest(secret)
  return (given) => timingSafeEqual(digest(given), expected)
}

/** A check that throws a 401 problem without a token and a 403 problem with another one. */
export function requireToken(token: string, what: string): RequireToken {
  const matches = matcherOf(token)
  return (authorization) => {
    const given = bearerOf(authorization)
    if (given === undefined) throw unauthorized(what, authorization !== undefined)
    if (!matches(given)) throw forbidden(what)
  }
}

const unauthorized = (what: string, isOtherScheme: boolean) =>
  new ProblemError({
    status: 401,
    code: 'BATON_TOKEN_MISSING',
    detail: isOtherScheme
      ? 'the Authorization header is not of the scheme Bearer'
      : 'the request has no bearer token',
    fix: `Send the header "Authorization: Bearer <${what} token>".`,
  })

const forbidden = (what: string) =>
  new ProblemError({
    status: 403,
    code: 'BATON_TOKEN_REFUSED',
    detail: 'the token does not allow this',
    fix: `Send the ${what} token.`,
  })

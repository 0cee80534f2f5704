// Who may append and who may read: two bearer tokens, compared in constant time.
import { hash, timingSafeEqual } from 'node:crypto'
import { ProblemError } from './problem.ts'

export type RequireToken = (authorization: string | undefined) => void

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

/** A check that throws a 401 problem without a token and a 403 problem with another one. */
export function requireToken(token: string, what: string): RequireToken {
  const expected = digest(token)
  return (authorization) => {
    const given = /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]
    if (given === undefined) throw unauthorized(what)
    if (!timingSafeEqual(digest(given), expected)) throw forbidden(what)
  }
}

const unauthorized = (what: string) =>
  new ProblemError({
    status: 401,
    code: 'BATON_TOKEN_MISSING',
    detail: 'the request has no bearer token',
    fix: `Send the header "Authorization: Bearer <${what} token>".`,
  })

const forbidden = (what: string) =>
  new ProblemError({
    status: 403,
    code: 'BATON_TOKEN_REFUSED',
    detail: `the token does not allow this`,
    fix: `Send the auditor's ${what} token.`,
  })

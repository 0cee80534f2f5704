// Who may append, archive and read: bearer tokens, compared in constant time.
import { hash, timingSafeEqual } from 'node:crypto'
import { ProblemError } from './problem.ts'

export type RequireToken = (authorization: string | undefined) => void

const digest = (text: string): Buffer => hash('sha256', text, 'buffer')

const givenIn = (authorization: string | undefined): string | undefined =>
  /^Bearer +(\S+)$/i.exec(authorization ?? '')?.[1]

/** A check that throws a 401 problem without a token and a 403 problem with another one. */
export function requireToken(token: string, what: string): RequireToken {
  const expected = digest(token)
  return (authorization) => {
    const given = givenIn(authorization)
    if (given === undefined) throw unauthorized(what)
    if (!timingSafeEqual(digest(given), expected)) throw forbidden(what)
  }
}

/** Who appends: a service of the pipeline, or the archiver, which alone tells what left a store. */
export type Appender = 'service' | 'archiver'

/** Says whose token it is; throws as `requireToken` does where it is neither's. */
export function identifyAppender(tokens: {
  readonly append: string
  /** Nobody is the archiver without it. */
  readonly archive: string | undefined
}): (authorization: string | undefined) => Appender {
  const requireAppend = requireToken(tokens.append, 'append')
  const archive = tokens.archive === undefined ? undefined : digest(tokens.archive)
  return (authorization) => {
    const given = digest(givenIn(authorization) ?? '')
    if (archive !== undefined && timingSafeEqual(given, archive)) return 'archiver'
    requireAppend(authorization)
    return 'service'
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

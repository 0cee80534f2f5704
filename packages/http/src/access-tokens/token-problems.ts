// What is answered to who sends an access token that is not taken, or not for this: in the words of RFC 6750 and RFC 9470.
import { ProblemError } from '../problem.ts'
import type { Withheld } from './token-access.ts'
import { LIFETIME_DAYS_MAX } from './verify-token.ts'
import type { TokenFault } from './verify-token.ts'

const challenge = (error: string, detail: string, more = '') =>
  `Bearer realm="baton", error="${error}", error_description="${detail}"${more}`

const invalid = (code: `BATON_${string}`, detail: string, fix: string) =>
  new ProblemError({
    status: 401,
    code,
    detail,
    fix,
    headers: { 'www-authenticate': challenge('invalid_token', detail) },
  })

const GET_ANOTHER = 'Get an access token for this service from one of its issuers.'

/** One problem for each reason. */
export const TOKEN_PROBLEMS: Readonly<Record<TokenFault, ProblemError>> = {
  malformed: invalid(
    'BATON_TOKEN_INVALID',
    'this is no access token that is taken here',
    GET_ANOTHER,
  ),
  algorithm: invalid(
    'BATON_TOKEN_INVALID',
    'the access token is signed in a way that is not taken here',
    'Have the issuer sign with an algorithm that the file of issuers names.',
  ),
  key: invalid(
    'BATON_TOKEN_INVALID',
    'the access token is signed with a key that its issuer does not have',
    GET_ANOTHER,
  ),
  signature: invalid('BATON_TOKEN_INVALID', 'the access token was altered', GET_ANOTHER),
  claims: invalid(
    'BATON_TOKEN_INVALID',
    'the access token does not say who it is of and until when',
    'Have the issuer put sub and exp into it.',
  ),
  bound: invalid(
    'BATON_TOKEN_INVALID',
    'the access token is bound to a key, which is not asked for here',
    'Get a plain bearer token: without DPoP, and without a client certificate.',
  ),
  lasting: invalid(
    'BATON_TOKEN_INVALID',
    `the access token would count for more than ${LIFETIME_DAYS_MAX} days`,
    'Have the issuer make shorter ones: minutes are usual, since none can be revoked here.',
  ),
  tenant: invalid(
    'BATON_TOKEN_INVALID',
    'the access token does not say of which tenant it is',
    'Have the issuer put the claim into it that tenantClaim of the file of issuers names.',
  ),
  issuer: invalid(
    'BATON_TOKEN_ISSUER_UNKNOWN',
    'the access token is of an issuer whose tokens are not taken here',
    'Compare its iss with the file of issuers, to the letter.',
  ),
  expired: invalid(
    'BATON_TOKEN_EXPIRED',
    'the access token has expired',
    'Get a new one from its issuer.',
  ),
  early: invalid(
    'BATON_TOKEN_EARLY',
    'the access token is not valid yet',
    'Wait, or set the clocks of its issuer and of this machine.',
  ),
  audience: invalid(
    'BATON_TOKEN_AUDIENCE',
    'the access token is for another service',
    'Ask its issuer for one whose aud is what the file of issuers names as audience.',
  ),
  unread: new ProblemError({
    status: 503,
    code: 'BATON_TOKEN_KEYS_UNREAD',
    detail: 'the keys of the issuer of this access token cannot be read now',
    fix: 'Send it again after the time in Retry-After; the token itself may be fine.',
    headers: { 'retry-after': '2' },
  }),
}

/** The problem of who would have `scope`, and lacks what deciding takes. */
export function withheldProblem(scope: string, withheld: Withheld): ProblemError {
  if (withheld.why === 'second_factor') return stepUp(withheld)
  const isMachine = withheld.why === 'machine'
  return new ProblemError({
    status: 403,
    code: 'BATON_PERSON_NEEDED',
    detail: isMachine
      ? `${scope} decides, which takes a person, and the access token is of a machine or does not say of which client`
      : `${scope} decides, which takes a person, and nothing says which operator the subject of the access token is`,
    fix: isMachine
      ? 'Decide with a token that a person signed in for.'
      : 'Name the operator in the file of issuers, by operators or operatorClaim.',
  })
}

/** RFC 9470: what the caller has to ask the issuer for. */
function stepUp({ demanded }: Extract<Withheld, { why: 'second_factor' }>): ProblemError {
  const { acr, amr, authAgeMaxS } = demanded
  const detail = 'deciding takes a stronger or a more recent sign-in'
  const values = acr.length === 0 ? '' : `, acr_values="${acr.join(' ')}"`
  const age = authAgeMaxS === undefined ? '' : `, max_age="${authAgeMaxS}"`
  const methods = amr.length === 0 ? '' : ` with ${amr.join(' or ')}`
  return new ProblemError({
    status: 401,
    code: 'BATON_SECOND_FACTOR_NEEDED',
    detail,
    fix: `Sign in again${methods} as WWW-Authenticate says, and send the token that you get.`,
    headers: {
      'www-authenticate': challenge('insufficient_user_authentication', detail, `${values}${age}`),
    },
  })
}

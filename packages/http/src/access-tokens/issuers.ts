// The issuers whose access tokens are taken, as the operator's file names them. Read once, at the start; what it does not say is refused,
// and so is what nobody would want to mean: a secret instead of a public key, a key fetched in plain text.
import { isLoopback, permanent, readNamedFile } from '@baton/runtime'
import { isRole, ROLES } from './roles.ts'
import type { Role } from './roles.ts'

export interface Issuer {
  /** As tokens say it in `iss`, to the letter. */
  readonly issuer: string
  readonly audiences: readonly string[]
  readonly algorithms: readonly string[]
  readonly clockToleranceS: number
  readonly keys: KeySource
  /** Whose tokens these are: one tenant's, or the one that a claim names. */
  readonly tenant: { readonly name: string } | { readonly claim: string } | undefined
  /** Who a subject is here. */
  readonly operators: ReadonlyMap<string, string>
  /** The claim that names the operator, where `operators` does not. */
  readonly operatorClaim: string | undefined
  /** The claim that names the agents it may act as; without it, any of its tenant. */
  readonly agentsClaim: string | undefined
  /** What its scopes are called before Baton's own names. */
  readonly scopePrefix: string
  /** The claim that names roles, and what its values mean; with it, `scope` says nothing. */
  readonly roles: { readonly claim: string; readonly named: ReadonlyMap<string, Role> } | undefined
  /** Claims that only tokens of machines have, with the value; a `*` at the end is any rest. */
  readonly machines: readonly (readonly [claim: string, value: string])[]
  /** What a person must have shown before they decide. */
  readonly secondFactor: SecondFactor | undefined
}

export type KeySource =
  | { readonly kind: 'discovery' }
  | { readonly kind: 'uri'; readonly uri: string }
  | { readonly kind: 'file'; readonly path: string }

export interface SecondFactor {
  /** One of these in `acr`. */
  readonly acr: readonly string[]
  /** One of these among `amr`. */
  readonly amr: readonly string[]
  /** How long ago `auth_time` may be. */
  readonly authAgeMaxS: number | undefined
}

/** Asymmetric ones: whoever can check such a token cannot make one. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
const USUAL_ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA', 'Ed25519']
const ISSUERS_MAX = 32
const FILE_BYTES_MAX = 1_048_576
const CLOCK_TOLERANCE_MAX_S = 300

/** Tokens of machines say so: Entra, Auth0, Keycloak. */
const MACHINES = {
  idtyp: 'app',
  gty: 'client-credentials',
  preferred_username: 'service-account-*',
}

/** No path is no issuers. Throws BATON_ISSUERS_INVALID. */
export const readIssuers = (path: string | undefined): readonly Issuer[] =>
  path === undefined
    ? []
    : parseIssuers(readNamedFile(path, (problem) => invalid(`${path} ${problem}`)).toString(), path)

/** `name` is what the file is called in errors. */
export function parseIssuers(text: string, name = 'the file'): readonly Issuer[] {
  if (text.length > FILE_BYTES_MAX) throw invalid(`${name} is longer than ${FILE_BYTES_MAX} bytes`)
  const all = parseJson(text, name)
  if (!Array.isArray(all) || all.length === 0 || all.length > ISSUERS_MAX)
    throw invalid(`${name} is no list of 1 to ${ISSUERS_MAX} issuers`)
  const issuers = all.map((one, index) => issuerOf(membersOf(one, `${name}, at /${index}`)))
  const twice = issuers.find((one, index) => issuers.findIndex(sameAs(one)) !== index)
  if (twice !== undefined) throw invalid(`${name} names the issuer ${twice.issuer} twice`)
  return issuers
}

const sameAs =
  ({ issuer }: Issuer) =>
  (other: Issuer) =>
    other.issuer === issuer

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw invalid(`${name} is no JSON`)
  }
}

/** The members of one object; each is taken once, and what nobody took is refused. */
interface Members {
  readonly at: string
  take(name: string): unknown
  text(name: string): string | undefined
  texts(name: string): readonly string[] | undefined
  map(name: string): ReadonlyMap<string, string>
  integer(name: string, max: number): number | undefined
  requireNoOther(): void
}

function membersOf(value: unknown, at: string): Members {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalid(`${at}: not an object`)
  const left = new Map(Object.entries(value))
  const take = (name: string): unknown => {
    const found = left.get(name)
    left.delete(name)
    return found
  }
  const taken = <Value>(name: string, is: (found: unknown) => found is Value, what: string) => {
    const found = take(name)
    if (found === undefined || is(found)) return found
    throw invalid(`${at}/${name}: not ${what}`)
  }
  return {
    at,
    take,
    text: (name) => taken(name, isText, 'a text'),
    texts: (name) => taken(name, isTexts, 'a list of texts'),
    map: (name) => new Map(Object.entries(taken(name, isMap, 'an object of texts') ?? {})),
    integer: (name, max) =>
      taken(
        name,
        (found): found is number =>
          Number.isSafeInteger(found) && Number(found) >= 0 && Number(found) <= max,
        `a whole number up to ${max}`,
      ),
    requireNoOther() {
      const [other] = left.keys()
      if (other !== undefined) throw invalid(`${at}/${other}: there is no such member`)
    },
  }
}

const isText = (found: unknown): found is string => typeof found === 'string' && found !== ''
const isTexts = (found: unknown): found is string[] =>
  Array.isArray(found) && found.length > 0 && found.every(isText)
const isMap = (found: unknown): found is Record<string, string> =>
  typeof found === 'object' &&
  found !== null &&
  !Array.isArray(found) &&
  Object.values(found).every(isText)

function issuerOf(members: Members): Issuer {
  const { at, text } = members
  const issuer = text('issuer')
  if (issuer === undefined) throw invalid(`${at}/issuer: is missing`)
  const parsed: Issuer = {
    issuer,
    audiences: audiencesOf(members),
    algorithms: algorithmsOf(members),
    clockToleranceS: members.integer('clockToleranceS', CLOCK_TOLERANCE_MAX_S) ?? 30,
    keys: keysOf(members, issuer),
    tenant: tenantOf(members),
    operators: members.map('operators'),
    operatorClaim: text('operatorClaim'),
    agentsClaim: text('agentsClaim'),
    scopePrefix: text('scopePrefix') ?? '',
    roles: rolesOf(members),
    // What the file says of a claim comes beside what is usual of it.
    machines: [...Object.entries(MACHINES), ...members.map('machines')],
    secondFactor: secondFactorOf(members),
  }
  members.requireNoOther()
  return parsed
}

function audiencesOf({ at, take }: Members): readonly string[] {
  const given = take('audience')
  if (isText(given)) return [given]
  if (isTexts(given)) return given
  throw invalid(`${at}/audience: not a text or a list of texts: a token for others is not for here`)
}

function algorithmsOf({ at, texts }: Members): readonly string[] {
  const given = texts('algorithms') ?? USUAL_ALGORITHMS
  const other = given.find((one) => !ALGORITHMS.includes(one))
  if (other === undefined) return given
  throw invalid(`${at}/algorithms: ${other} is none of ${ALGORITHMS.join(', ')}`)
}

function keysOf({ at, text }: Members, issuer: string): KeySource {
  const uri = text('jwksUri')
  const path = text('jwksFile')
  if (uri !== undefined && path !== undefined) throw invalid(`${at}: has both jwksUri and jwksFile`)
  if (path !== undefined) return { kind: 'file', path }
  const asked = uri ?? issuer
  if (!mayBeAsked(asked))
    throw invalid(
      `${at}/${uri === undefined ? 'issuer' : 'jwksUri'}: keys are fetched by https, or by http from this machine`,
    )
  return uri === undefined ? { kind: 'discovery' } : { kind: 'uri', uri }
}

/** Whether keys may be fetched from there: nobody on the way can give others instead. */
export function mayBeAsked(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, hostname, username, password, hash } = new URL(url)
  const isPlain = username === '' && password === '' && hash === ''
  return isPlain && (protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname)))
}

function tenantOf({ at, text }: Members): Issuer['tenant'] {
  const name = text('tenant')
  const claim = text('tenantClaim')
  if (name !== undefined && claim !== undefined)
    throw invalid(`${at}: has both tenant and tenantClaim`)
  if (claim !== undefined) return { claim }
  return name === undefined ? undefined : { name }
}

function rolesOf(members: Members): Issuer['roles'] {
  const claim = members.text('rolesClaim')
  const given = members.map('roles')
  const other = [...given].find(([, role]) => !isRole(role))
  if (other !== undefined)
    throw invalid(`${members.at}/roles/${other[0]}: is none of ${Object.keys(ROLES).join(', ')}`)
  if (claim === undefined && given.size > 0)
    throw invalid(`${members.at}/roles: needs rolesClaim, which says where they stand`)
  if (claim === undefined) return undefined
  const own = Object.keys(ROLES).map((role) => [role, role] as const)
  return { claim, named: new Map([...own, ...given] as readonly (readonly [string, Role])[]) }
}

function secondFactorOf({ at, take }: Members): SecondFactor | undefined {
  const given = take('secondFactor')
  if (given === undefined) return undefined
  const members = membersOf(given, `${at}/secondFactor`)
  const demanded = {
    acr: members.texts('acr') ?? [],
    amr: members.texts('amr') ?? [],
    authAgeMaxS: members.integer('authAgeMaxS', 31_536_000),
  }
  members.requireNoOther()
  if (demanded.acr.length + demanded.amr.length === 0 && demanded.authAgeMaxS === undefined)
    throw invalid(`${at}/secondFactor: demands nothing`)
  // They stand in a header, between quotes.
  const odd = demanded.acr.find((one) => !/^[\x21\x23-\x5b\x5d-\x7e]+$/.test(one))
  if (odd !== undefined) throw invalid(`${at}/secondFactor/acr: ${odd} has a quote or a space`)
  return demanded
}

const invalid = (problem: string) =>
  permanent('BATON_ISSUERS_INVALID', `BATON_ISSUERS: ${problem}`, {
    fix: 'Correct the file; infra/oidc.md shows one and says what each member means.',
  })

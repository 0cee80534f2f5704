// The public keys of one issuer: fetched in bounds, kept while the issuer is away, and asked for again when a token names one that is not
// among them; however many such tokens come, one question is under way at a time, and the next waits.
import { createLocalJWKSet, errors } from 'jose'
import type { CryptoKey, FlattenedJWSInput, JSONWebKeySet, JWK, JWSHeaderParameters } from 'jose'
import { readRegularFile, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { createHttpClient } from '../client.ts'
import { mayBeAsked } from './issuers.ts'
import type { Issuer } from './issuers.ts'

export interface IssuerKeys {
  /** The key that a header asks for; 'unread' while nobody can say whether there is one. Never rejects. */
  find(header: JWSHeaderParameters, token: FlattenedJWSInput): Promise<CryptoKey | NoKey>
  /** Asks the issuer. Throws BATON_ISSUER_KEYS_UNREAD or BATON_TLS_REFUSED; what was known before stays known. */
  refresh(): Promise<void>
}

export type NoKey = 'unknown' | 'unread'

/** Answers a JSON Web Key Set as somebody gave it. */
type ReadKeys = () => Promise<unknown>

interface IssuerKeysOptions {
  readonly read: ReadKeys
  /** In milliseconds of a clock that never jumps. */
  readonly now: () => number
}

/** Between two questions that tokens bring about. */
const COOL_DOWN_MS = 30_000
/** The same while the last one was not answered. */
const RETRY_MS = 2_000
/** How long keys are believed that the issuer could not be asked about since. */
const BELIEVED_MS = 24 * 3_600_000
const KEYS_MAX = 100

export function createIssuerKeys({ read, now }: IssuerKeysOptions): IssuerKeys {
  let known:
    | { readonly find: ReturnType<typeof createLocalJWKSet>; readonly at: number }
    | undefined
  let asked: { readonly at: number; readonly isAnswered: boolean } | undefined
  let asking: Promise<void> | undefined

  async function ask(): Promise<void> {
    // What is answered later than it was true is no longer believed, and a slow answer is no reason to ask at once again.
    const askedAt = now()
    try {
      const find = createLocalJWKSet(publicKeysOf(await read()))
      known = { find, at: askedAt }
      asked = { at: now(), isAnswered: true }
    } catch (error) {
      asked = { at: now(), isAnswered: false }
      throw error
    }
  }

  function refresh(): Promise<void> {
    asking ??= ask().finally(() => (asking = undefined))
    return asking
  }

  const mayAsk = (): boolean =>
    asking !== undefined ||
    asked === undefined ||
    now() - asked.at >= (asked.isAnswered ? COOL_DOWN_MS : RETRY_MS)

  async function look(
    header: JWSHeaderParameters,
    token: FlattenedJWSInput,
  ): Promise<CryptoKey | NoKey> {
    if (known === undefined || now() - known.at >= BELIEVED_MS) return 'unread'
    try {
      return await known.find(header, token)
    } catch (error) {
      // Of several that fit, none is taken: the token has to say which.
      const isUnknown = error instanceof errors.JWKSNoMatchingKey
      return isUnknown && asked?.isAnswered === false ? 'unread' : 'unknown'
    }
  }

  return {
    refresh,
    async find(header, token) {
      const found = await look(header, token)
      if (typeof found !== 'string' || !mayAsk()) return found
      await refresh().catch(() => undefined)
      return look(header, token)
    },
  }
}

/** Whatever else stands among them is left out: a secret would let everybody who knows it make tokens. */
function publicKeysOf(given: unknown): JSONWebKeySet {
  const { keys } = (given ?? {}) as { keys?: unknown }
  if (!Array.isArray(keys) || keys.length > KEYS_MAX)
    throw unread(`the issuer gave no set of at most ${KEYS_MAX} keys`)
  return { keys: keys.filter(isPublic) }
}

const isPublic = (key: unknown): key is JWK =>
  typeof key === 'object' &&
  key !== null &&
  ['RSA', 'EC', 'OKP'].includes(String((key as JWK).kty)) &&
  (key as JWK).d === undefined

const TIMEOUT_MS = 5_000
const DOCUMENT_BYTES_MAX = 262_144

/** How the keys of an issuer are read: from its file, from where it is said, or from where the issuer says. */
export function keyReaderOf({ issuer, keys }: Issuer, tls: Tls): ReadKeys {
  if (keys.kind === 'file') return () => readKeyFile(keys.path)
  if (keys.kind === 'uri') return () => fetchJson(keys.uri, tls)
  return async () => {
    const configuration = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
    const said = (await fetchJson(configuration, tls)) as {
      issuer?: unknown
      jwks_uri?: unknown
    } | null
    if (said?.issuer !== issuer) throw unread('the issuer calls itself something else')
    const uri = typeof said.jwks_uri === 'string' ? said.jwks_uri : ''
    // Who is asked in the open may name a place in the open, and nobody else.
    if (!mayBeAsked(uri) || (uri.startsWith('http:') && !issuer.startsWith('http:')))
      throw unread('the issuer does not name its keys by https')
    return fetchJson(uri, tls)
  }
}

async function readKeyFile(path: string): Promise<unknown> {
  try {
    return JSON.parse((await readRegularFile(path)).toString())
  } catch (cause) {
    throw unread('the file of its keys cannot be read, or is no JSON', cause)
  }
}

async function fetchJson(url: string, tls: Tls): Promise<unknown> {
  const client = createHttpClient({
    url,
    name: 'the issuer of access tokens',
    timeoutMs: TIMEOUT_MS,
    answerBytesMax: DOCUMENT_BYTES_MAX,
    unavailable: { code: 'BATON_ISSUER_KEYS_UNREAD' },
    connectionsMax: 1,
    tls: { tls, setting: 'BATON_ISSUERS', whose: 'services' },
  })
  const { pathname, search } = new URL(url)
  try {
    return await client.json(`${pathname}${search}`)
  } finally {
    client.close()
  }
}

const unread = (why: string, cause?: unknown) =>
  transient('BATON_ISSUER_KEYS_UNREAD', why, { cause })

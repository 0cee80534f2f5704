// Calls to an address that somebody named, not a process of Baton: only where the address, as it is resolved for this very
// connection, is of the public internet; no redirection is followed, and neither time nor size of an answer is theirs to choose.
import { lookup as resolve } from 'node:dns'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { Agent, fetch as fetchBy, Pool } from 'undici'
import type { buildConnector, Dispatcher } from 'undici'
import { BatonError, NO_TLS, permanent, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { boundedAnswer, tooLarge } from './bounded-answer.ts'
import { isPublicAddress } from './public-addresses.ts'
import { connectOver } from './tls-client.ts'
import { tlsFailure } from './tls-failure.ts'

export interface EndpointOptions {
  /** http or https, with neither name nor password; https only, unless private addresses are allowed. */
  readonly url: string
  /** Allows private, loopback and other special addresses too, and plain http: for an endpoint in one's own network. */
  readonly allowPrivate?: boolean
  /** More than that of an answer is not read; with 0 nothing is, as its status says all. */
  readonly answerBytesMax: number
  readonly connectionsMax?: number
  /**
   * In one's own network its own authorities vouch as well, and the certificate of this process is shown to who asks for one. On the
   * public internet those of the machine vouch, and nothing is shown.
   */
  readonly tls?: Tls | undefined
  /** Resolves names; that of the system by default. */
  readonly lookup?: LookupFunction
}

export interface EndpointRequest {
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Its abort closes the connection; its reason is what `post` rejects with. */
  readonly signal: AbortSignal
  /** How long everything may take, from resolving the name to the last byte. */
  readonly timeoutMs: number
}

export interface EndpointAnswer {
  readonly status: number
  /** In milliseconds; undefined where the answer does not say when to come again. */
  readonly retryAfterMs: number | undefined
  /** Of an answer 200; that of every other is not read. */
  readonly bytes: Uint8Array | undefined
}

export interface Endpoint {
  /**
   * Posts, JSON where the headers say nothing else; a request whose kept connection was closed under it is sent once more. Throws the permanent
   * BATON_ADDRESS_REFUSED, BATON_ANSWER_TOO_LARGE, or the transient BATON_ENDPOINT_UNAVAILABLE, BATON_ENDPOINT_TIMEOUT, BATON_TLS_REFUSED.
   */
  post(request: EndpointRequest): Promise<EndpointAnswer>
  /** Ends its connections; what is under way fails. */
  close(): void
}

const CONNECTIONS_MAX = 64
/** Below it only those of http and https: other protocols listen there. */
const FREE_PORTS_FROM = 1_024
const RETRY_AFTER_MAX_MS = 3_600_000
const LEFT_BYTES_MAX = 16_384

/** Connects nothing until it is first asked. Throws BATON_ADDRESS_REFUSED where the address can never be called. */
export function createEndpoint(options: EndpointOptions): Endpoint {
  const { allowPrivate = false, answerBytesMax, connectionsMax = CONNECTIONS_MAX } = options
  const url = checkUrl(options.url, allowPrivate)
  const pool = new Pool(url.origin, {
    connections: connectionsMax,
    allowH2: false,
    connect: connectChecked(options),
  })

  async function send({ body, headers }: EndpointRequest, signal: AbortSignal) {
    const answer = await pool.request({
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json', ...headers },
      body,
      signal,
    })
    const { statusCode: status } = answer
    const retryAfterMs = readRetryAfter(answer.headers['retry-after'])
    if (answerBytesMax === 0) return { status, retryAfterMs, bytes: leave(answer, signal) }
    const bytes = status === 200 ? await readBounded(answer, answerBytesMax) : discard(answer)
    return { status, retryAfterMs, bytes }
  }

  return {
    async post(request) {
      const timeout = AbortSignal.timeout(Math.max(1, Math.floor(request.timeoutMs)))
      const signal = AbortSignal.any([request.signal, timeout])
      const once = () => send(request, signal)
      try {
        return await once().catch((error: unknown) => {
          if (wasCutOff(error) && !signal.aborted) return once()
          throw error
        })
      } catch (error) {
        request.signal.throwIfAborted()
        throw failure(error, timeout.aborted)
      }
    },
    close: () => void pool.destroy(),
  }
}

type Checked = Pick<EndpointOptions, 'allowPrivate' | 'tls' | 'lookup'>

/** Connects to public addresses only, unless others are allowed: to one of those that were checked. */
function connectChecked({
  allowPrivate = false,
  tls: own = NO_TLS,
  lookup = resolve as LookupFunction,
}: Checked): buildConnector.connector {
  const tls = allowPrivate ? own : NO_TLS
  const looked = { lookup: allowPrivate ? lookup : publicOnly(lookup) }
  const connect = connectOver(tls, 'others', looked)
  return (wanted, callback) => {
    // Literal addresses are connected to without being looked up.
    const literal = wanted.hostname.replaceAll(/^\[|\]$/g, '')
    if (allowPrivate || isIP(literal) === 0 || isPublicAddress(literal)) connect(wanted, callback)
    else callback(addressRefused(literal), null)
  }
}

export interface EndpointFetchOptions extends Checked {
  /** More than that of an answer is an error, on the wire and as it is read. */
  readonly answerBytesMax: number
  /** How long an answer may take to begin, and be silent. */
  readonly silentMs: number
}

export interface EndpointFetch {
  /** Rejects with BATON_ADDRESS_REFUSED, itself or as a cause, where the address may not be called. */
  readonly fetch: typeof globalThis.fetch
  /** Throws BATON_ADDRESS_REFUSED where an address can never be called. */
  check(url: string): void
  /** Ends its connections; what is under way fails. */
  close(): void
}

/** `fetch` for a library with a protocol of its own: every call is checked as an endpoint is, also where an answer named its address. */
export function createEndpointFetch(options: EndpointFetchOptions): EndpointFetch {
  const { allowPrivate = false, answerBytesMax, silentMs } = options
  const dispatcher = new Agent({
    allowH2: false,
    maxResponseSize: answerBytesMax,
    headersTimeout: silentMs,
    bodyTimeout: silentMs,
    connect: connectChecked(options),
  })
  const checked = async (
    target: string | URL | Request,
    init?: Parameters<typeof fetchBy>[1],
  ): Promise<unknown> => {
    const url = checkUrl(target instanceof Request ? target.url : String(target), allowPrivate)
    const answer = await fetchBy(url, { ...init, dispatcher, redirect: 'error' })
    return boundedAnswer(answer as unknown as Response, answerBytesMax)
  }
  return {
    // The platform's own is the same library; only the names of its types are others.
    fetch: checked as unknown as typeof globalThis.fetch,
    check: (url) => void checkUrl(url, allowPrivate),
    close: () => void dispatcher.destroy(),
  }
}

function checkUrl(text: string, allowPrivate: boolean): URL {
  const problem = URL.canParse(text) ? whatIsWrong(new URL(text), allowPrivate) : 'is no URL'
  if (problem === undefined) return new URL(text)
  throw permanent('BATON_ADDRESS_REFUSED', `the address ${problem}`, {
    fix: 'Give https://host/path; an endpoint in your own network needs "allowPrivate": true.',
  })
}

function whatIsWrong(url: URL, allowPrivate: boolean): string | undefined {
  const { protocol, username, password, hostname, port } = url
  if (protocol !== 'https:' && protocol !== 'http:') return 'is neither http nor https'
  if (username !== '' || password !== '') return 'carries a name or a password'
  if (port !== '' && port !== '80' && port !== '443' && Number(port) < FREE_PORTS_FROM)
    return `names port ${port}, where another protocol listens`
  if (allowPrivate) return undefined
  if (protocol === 'http:') return 'is not https'
  const literal = hostname.replaceAll(/^\[|\]$/g, '')
  return isIP(literal) === 0 || isPublicAddress(literal)
    ? undefined
    : `is ${literal}, which is not public`
}

/** Refuses a name of which any address is not public: the one that is connected to is one of those that were checked. */
const publicOnly =
  (lookup: LookupFunction): LookupFunction =>
  (hostname, options, callback) =>
    lookup(hostname, options, (error, address, family) => {
      if (error) return callback(error, address, family)
      const all = typeof address === 'string' ? [{ address }] : address
      const refused = all.find((one) => !isPublicAddress(one.address))
      if (refused === undefined && all.length > 0) return callback(null, address, family)
      callback(addressRefused(refused?.address ?? 'no address'), '', 0)
    })

const addressRefused = (address: string): BatonError =>
  permanent('BATON_ADDRESS_REFUSED', `the endpoint is at ${address}, which is not public`, {
    fix: 'Correct its address; an endpoint in your own network needs "allowPrivate": true.',
  })

async function readBounded(
  { body }: Dispatcher.ResponseData,
  bytesMax: number,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    size += chunk.length
    if (size > bytesMax) throw tooLarge(bytesMax)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// What little there is is taken off the connection, so that it serves again; what is more, or slow, ends with it.
function leave({ body }: Dispatcher.ResponseData, signal: AbortSignal): undefined {
  body.dump({ limit: LEFT_BYTES_MAX, signal }).catch(() => undefined)
}

// Whoever answers with a failure is not listened to any longer: its words may be anything, and take any time.
function discard({ body }: Dispatcher.ResponseData): undefined {
  body.on('error', () => undefined)
  body.destroy()
}

function failure(error: unknown, isTimeout: boolean): BatonError {
  if (error instanceof BatonError) return error
  if (isTimeout) {
    return transient('BATON_ENDPOINT_TIMEOUT', 'the endpoint did not answer in time', {
      cause: error,
      fix: 'Look at its load, or give it more time.',
    })
  }
  const refused = tlsFailure(error, 'the endpoint')
  if (refused !== undefined) return refused
  return transient('BATON_ENDPOINT_UNAVAILABLE', 'the endpoint could not be reached', {
    cause: error,
    fix: 'Check that it runs, its name and its certificate.',
  })
}

// A kept connection may have been closed by the other side while the request was on its way.
const wasCutOff = (error: unknown): boolean =>
  ['ECONNRESET', 'UND_ERR_SOCKET'].includes(String((error as { code?: unknown }).code))

function readRetryAfter(header: string | string[] | undefined): number | undefined {
  if (typeof header !== 'string') return undefined
  const waitMs = /^\d{1,9}$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - Date.now()
  return Number.isNaN(waitMs) ? undefined : Math.min(Math.max(0, waitMs), RETRY_AFTER_MAX_MS)
}

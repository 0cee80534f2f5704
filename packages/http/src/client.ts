// One way to ask another process over HTTP or HTTPS: bounded connections and waits, and its problems as errors.
import { Pool } from 'undici'
import { BatonError, NO_TLS, refusePlainUrl, transient } from '@baton/runtime'
import type { ErrorCode, Tls } from '@baton/runtime'
import { askOnce } from './ask-once.ts'
import { serversInTurn } from './servers-in-turn.ts'
import { connectOver } from './tls-client.ts'
import type { Whose } from './tls-client.ts'
import { tlsFailure } from './tls-failure.ts'

export { tlsFailure } from './tls-failure.ts'

export interface HttpClientOptions {
  /** Base URL of the process; its path is not used. Several that do the same are separated by commas: the first that answers is asked. */
  readonly url: string
  /** Who is asked, as errors name it, for example `the auditor`. */
  readonly name: string
  /** Sent as a bearer token with every request. */
  readonly token?: string | undefined
  /** How long one request may take, its answer included. */
  readonly timeoutMs: number
  /** What no answer, or one that is nothing of Baton's, is called, and what to do about it. */
  readonly unavailable: { readonly code: ErrorCode; readonly fix?: string }
  /** Connections that are open at once; eight by default. */
  readonly connectionsMax?: number
  /** How long the body of an answer may be; a longer one is no answer. Unbounded by default, for Baton's own processes. */
  readonly answerBytesMax?: number
  /** With what it proves itself over https, and whom it believes; by default nobody, and whom the machine believes. */
  readonly tls?: ClientTls
  /** What a refusal without a code of its own is called; `unavailable.code` by default. */
  readonly refused?: ErrorCode
}

export interface ClientTls {
  readonly tls: Tls
  /** Where the URL stands, as a refusal of plain text names it. */
  readonly setting: string
  /** `own` by default: a process of the same installation. */
  readonly whose?: Whose
}

export interface HttpRequest {
  /** GET without a body, POST with one, unless it says otherwise. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /** Sent as JSON; a text is JSON already. */
  readonly body?: object | string
  readonly headers?: Readonly<Record<string, string>>
  /** Ends it before `timeoutMs`, where it is aborted before. */
  readonly signal?: AbortSignal
  /** The request may reach the other side twice: it is repeated once where a kept connection had been closed. */
  readonly repeatable?: boolean
}

export interface HttpAnswer {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
}

export interface HttpClient {
  /**
   * The answer of a success. Throws `HttpRefusal` for any other: transient for 408, 429 and 5xx, permanent
   * otherwise, with the code and words of its problem document. Throws the transient BATON_TLS_REFUSED where one side does not
   * believe the other, and the transient `unavailable.code` where no answer comes in time. Redirections are not followed.
   */
  ask(path: string, request?: HttpRequest): Promise<HttpAnswer>
  /** The same, for an answer that is JSON. */
  json<Answer>(path: string, request?: HttpRequest): Promise<Answer>
  /** Ends its connections; what is under way fails. */
  close(): void
}

/** What the other side refused, in its own words. It is no answer to whoever asked this process. */
export class HttpRefusal extends BatonError {
  readonly status: number
  /** JSON pointer into the body that was sent. */
  readonly pointer: string | undefined
  readonly headers: HttpAnswer['headers']

  constructor(
    { status, headers }: { readonly status: number } & Pick<HttpAnswer, 'headers'>,
    { code, detail, fix, pointer }: Problem & { code: ErrorCode; detail: string },
  ) {
    // Certificates are replaced while others run: who waits is let in once both sides have theirs.
    const again = status >= 500 || status === 429 || status === 408 || code === 'BATON_TLS_REFUSED'
    super(again ? 'transient' : 'permanent', code, detail, fix === undefined ? {} : { fix })
    this.status = status
    this.pointer = pointer
    this.headers = headers
  }
}

const CONNECTIONS_MAX = 8
const WITHOUT_TLS: ClientTls = { tls: NO_TLS, setting: 'the URL' }

/** Connects nothing until it is first asked; keeps its connections alive between requests. Throws BATON_PLAINTEXT_REFUSED. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { name, token, unavailable } = options
  const { tls, setting, whose } = options.tls ?? WITHOUT_TLS
  const pools = options.url.split(',').map((url) => {
    refusePlainUrl(tls, { url, setting })
    return new Pool(new URL(url).origin, {
      connections: options.connectionsMax ?? CONNECTIONS_MAX,
      allowH2: false,
      maxResponseSize: options.answerBytesMax ?? -1,
      connect: connectOver(tls, whose),
    })
  })
  const turn = serversInTurn(pools.length)
  const ownHeaders = token === undefined ? {} : { authorization: `Bearer ${token}` }

  async function send(
    pool: Pool | undefined,
    path: string,
    { method, body, headers, signal }: HttpRequest,
  ) {
    if (pool === undefined) throw new TypeError('there is no such server')
    const end = AbortSignal.timeout(options.timeoutMs)
    const given = body === undefined ? {} : { 'content-type': 'application/json' }
    const answer = await pool.request({
      path,
      method: method ?? (body === undefined ? 'GET' : 'POST'),
      headers: { ...ownHeaders, ...given, ...headers },
      body: body === undefined || typeof body === 'string' ? (body ?? null) : JSON.stringify(body),
      signal: signal === undefined ? end : AbortSignal.any([end, signal]),
    })
    const bytes = Buffer.from(await answer.body.arrayBuffer())
    return { status: answer.statusCode, headers: answer.headers, bytes }
  }

  async function ask(path: string, request: HttpRequest = {}): Promise<HttpAnswer> {
    const once = async () => {
      const at = turn.current()
      return await send(pools[at], path, request).catch((error: unknown) => {
        if (request.signal?.aborted !== true) turn.leave(at)
        throw error
      })
    }
    const isElsewhere = pools.length > 1
    const answer = await once()
      .catch((error: unknown) => {
        if (isElsewhere && (request.repeatable === true || wasNeverSent(error))) return once()
        if (request.repeatable === true && wasCutOff(error)) return once()
        throw error
      })
      .catch((cause: unknown) => {
        const { code, fix } = unavailable
        const refused = tlsFailure(cause, name)
        if (refused !== undefined) throw refused
        throw transient(
          code,
          `${name} did not answer`,
          fix === undefined ? { cause } : { cause, fix },
        )
      })
    if (answer.status < 200 || answer.status >= 300) throw refusal(answer, options)
    return answer
  }

  return {
    ask,
    async json<Answer>(path: string, request?: HttpRequest) {
      const { bytes } = await ask(path, request)
      try {
        return JSON.parse(bytes.toString()) as Answer
      } catch (cause) {
        throw transient(unavailable.code, `${name} answered what is no JSON`, { cause })
      }
    },
    close: () => pools.forEach((pool) => void pool.destroy()),
  }
}

/** Whether the process at `url`, or one of several, says within `timeoutMs` that it may be given work. Never throws. */
export async function isReady(url: string, timeoutMs: number, tls: Tls = NO_TLS): Promise<boolean> {
  const answers = url.split(',').map(async (one) => {
    const asked = { tls, whose: 'own' as const, name: one, timeoutMs, bytesMax: READY_BYTES_MAX }
    const answer = await askOnce(new URL('/readyz', one), asked).catch(() => undefined)
    return answer?.status === 200
  })
  return (await Promise.all(answers)).includes(true)
}

/** Whether something at `url` answers within `timeoutMs`, whatever it says. Never throws. */
export async function isAnswering(
  url: string,
  timeoutMs: number,
  tls: Tls = NO_TLS,
): Promise<boolean> {
  const asked = { tls, whose: 'own' as const, name: url, timeoutMs, bytesMax: READY_BYTES_MAX }
  return (await askOnce(new URL(url), asked).catch(() => undefined)) !== undefined
}

const READY_BYTES_MAX = 65_536

// A kept connection may have been closed by the other side while the request was on its way.
const wasCutOff = (error: unknown): boolean =>
  ['ECONNRESET', 'UND_ERR_SOCKET'].includes(String((error as { code?: unknown }).code))

/** Nothing reached the other side, so that a request that may not be repeated has not been made. */
const wasNeverSent = (error: unknown): boolean =>
  [
    'ECONNREFUSED',
    'EHOSTUNREACH',
    'ENETUNREACH',
    'ENOTFOUND',
    'EAI_AGAIN',
    'UND_ERR_CONNECT_TIMEOUT',
  ].includes(String((error as { code?: unknown }).code))

interface Problem {
  readonly fix?: string
  readonly pointer?: string
}

const CODE = /^BATON_[A-Z0-9_]+$/

function refusal(
  { status, headers, bytes }: HttpAnswer & { readonly status: number },
  { name, unavailable, refused = unavailable.code }: HttpClientOptions,
): BatonError {
  if (status < 400) return transient(unavailable.code, `${name} answered ${status}`)
  const { code, detail, fix, pointer } = readProblem(bytes)
  return new HttpRefusal(
    { status, headers },
    {
      code: typeof code === 'string' && CODE.test(code) ? (code as ErrorCode) : refused,
      detail: typeof detail === 'string' ? detail : `${name} answered ${status}`,
      ...(typeof fix === 'string' ? { fix } : {}),
      ...(typeof pointer === 'string' ? { pointer } : {}),
    },
  )
}

function readProblem(bytes: Buffer): Readonly<Record<string, unknown>> {
  try {
    return (JSON.parse(bytes.toString()) ?? {}) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

// Acting through the gateway over HTTP, as one person: what is decided here is decided under their name.
import type { ErrorCode } from '@baton/runtime'
import { permanent, transient } from '@baton/runtime'
import type { Context } from './context.ts'
import { openInstance } from './instance/instance.ts'
import { ensurePeople, readPerson } from './instance/people.ts'

export interface GatewayClient {
  readonly url: string
  /** The JSON of a successful answer; any other throws the problem's own code, detail and fix. */
  get<Answer>(path: string): Promise<Answer>
  /** The same for a POST; without a body, `{}` is posted. */
  post<Answer>(path: string, body?: object): Promise<Answer>
  delete<Answer>(path: string): Promise<Answer>
}

/**
 * Runs `work` against the gateway that BATON_GATEWAY_URL names, with BATON_API_KEY; otherwise against
 * the instance of this home, which is started where it does not run and stopped again. There `--as`
 * picks the person, then BATON_API_KEY, and else it is the operator.
 */
export async function withGateway<Result>(
  context: Context,
  work: (client: GatewayClient) => Promise<Result>,
): Promise<Result> {
  const { BATON_GATEWAY_URL: url, BATON_API_KEY: given } = context.settings
  if (url !== undefined) {
    if (given === undefined) throw KEY_NEEDED
    return work(createGatewayClient(url, given))
  }
  const person = readPerson(context.actAs ?? 'operator')
  const instance = await openInstance(context, { queue: 'any' })
  try {
    const key = context.actAs === undefined ? given : undefined
    const own = key ?? (await ensurePeople(context.home))[person]
    return await Promise.race([
      work(createGatewayClient(instance.gatewayUrl, own)),
      instance.failed,
    ])
  } finally {
    await instance.stop()
  }
}

const KEY_NEEDED = permanent(
  'BATON_API_KEY_MISSING',
  'no key for the gateway at BATON_GATEWAY_URL',
  {
    fix: 'Set BATON_API_KEY to a key of yours; --as names people of an embedded instance only.',
  },
)

const TIMEOUT_MS = 30_000

export function createGatewayClient(url: string, key: string): GatewayClient {
  const ask = (path: string, init: RequestInit) => answerOf(new URL(path, url), key, init)
  return {
    url,
    get: async <Answer>(path: string) => (await ask(path, {})) as Answer,
    delete: async <Answer>(path: string) => (await ask(path, { method: 'DELETE' })) as Answer,
    post: async <Answer>(path: string, body: object = {}) =>
      (await ask(path, {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { 'content-type': 'application/json' },
      })) as Answer,
  }
}

async function answerOf(url: URL, key: string, init: RequestInit): Promise<unknown> {
  const headers = { ...init.headers, authorization: `Bearer ${key}` }
  const response = await reach(url, { ...init, headers })
  const body = await readJson(response)
  if (response.ok) return body
  throw refusal(response.status, body)
}

async function reach(url: URL, init: RequestInit): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    return await fetch(url, { ...init, signal, redirect: 'error' })
  } catch (cause) {
    throw transient('BATON_GATEWAY_UNAVAILABLE', `the gateway at ${url.origin} did not answer`, {
      cause,
      fix: 'Check BATON_GATEWAY_URL and that the gateway runs; repeating the command is safe.',
    })
  }
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json()
  } catch {
    return undefined
  }
}

interface Problem {
  readonly code?: unknown
  readonly detail?: unknown
  readonly fix?: unknown
}

const CODE = /^BATON_[A-Z0-9_]+$/

function refusal(status: number, body: unknown): Error {
  const { code, detail, fix } = (body ?? {}) as Problem
  const known = typeof code === 'string' && CODE.test(code) ? (code as ErrorCode) : undefined
  const kind = status === 429 || status >= 500 ? transient : permanent
  return kind(
    known ?? 'BATON_GATEWAY_UNAVAILABLE',
    typeof detail === 'string' ? detail : `the gateway answered ${status}`,
    typeof fix === 'string' ? { fix } : {},
  )
}

// Reading and acting through the gateway over HTTP, as one person: what is decided is decided under their name.
import { createHttpClient } from '@baton/http/client'
import type { HttpAnswer } from '@baton/http/client'
import { decideSigned } from './decide-signed.ts'
import type { Meant } from './decide-signed.ts'
import { NO_TLS, permanent, readTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { readServerFacts } from '@baton/store'
import { openLog } from './context.ts'
import type { Context } from './context.ts'
import { withDatabases } from './instance/databases.ts'
import { openInstance } from './instance/instance.ts'
import type { QueueChoice } from './instance/queue.ts'
import { readPerson } from './instance/secrets.ts'

export interface GatewayClient {
  readonly url: string
  /** The JSON of a successful answer; any other throws the problem's own code, detail and fix. */
  get<Answer>(path: string): Promise<Answer>
  /** The same for an answer that is not read here. */
  ask(path: string): Promise<HttpAnswer>
  /** The same for a POST; without a body, `{}` is posted. */
  post<Answer>(path: string, body?: object): Promise<Answer>
  /** The same, which may be repeated: the key is that of what is asked for. */
  postOnce<Answer>(path: string, body: object, idempotencyKey: string): Promise<Answer>
  delete<Answer>(path: string): Promise<Answer>
  /**
   * The same as `post`, signed by the person behind the key where the gateway asks for it. Throws BATON_DECISION_DIFFERS
   * where it asks for a signature under something else than what is `meant`.
   */
  decide<Answer>(path: string, body: object, meant: Meant): Promise<Answer>
}

/**
 * Runs `work` against the gateway that BATON_GATEWAY_URL names, with BATON_API_KEY; otherwise against
 * the instance of this home, which is started where it does not run and stopped again. There `--as`
 * picks the person, then BATON_API_KEY, and else it is the operator.
 */
export async function withGateway<Result>(
  context: Context,
  work: (client: GatewayClient) => Promise<Result>,
  queue: QueueChoice = 'any',
): Promise<Result> {
  const given = namedGateway(context)
  if (given !== undefined) return work(given)
  const { BATON_API_KEY: own } = context.settings
  const person = readPerson(context.actAs ?? 'operator')
  const instance = await openInstance(context, { queue })
  try {
    const key = (context.actAs === undefined && own) || instance.databases.keys.people[person]
    return await Promise.race([
      work(
        createGatewayClient(
          instance.gatewayUrl,
          key,
          instance.databases.keys.signing[person],
          readTls(context.settings),
        ),
      ),
      instance.failed,
    ])
  } finally {
    await instance.stop()
  }
}

/**
 * Runs `work`, which only reads, against the gateway that BATON_GATEWAY_URL names, with BATON_API_KEY; otherwise
 * against one in this process on the databases of this home, so that no service has to run. Throws
 * BATON_INSTANCE_MISSING where there is nothing to read.
 */
export async function withReadingGateway<Result>(
  context: Context,
  work: (client: GatewayClient) => Promise<Result>,
): Promise<Result> {
  const given = namedGateway(context)
  if (given !== undefined) return work(given)
  const person = readPerson(context.actAs ?? 'operator')
  return withDatabases(context, async (opened) => {
    const { openReadingGateway } = await import('./instance/reading-gateway.ts')
    // A gateway tells its callers only that it failed; here the caller is who must know why, and what to run.
    await readServerFacts(opened.pool)
    const logger = openLog(context.home)
    const { url, key, stop } = await openReadingGateway(opened, { person, logger })
    try {
      return await work(createGatewayClient(url, key))
    } finally {
      await stop()
    }
  })
}

function namedGateway({ settings }: Context): GatewayClient | undefined {
  const { BATON_GATEWAY_URL: url, BATON_API_KEY: key, BATON_PERSON_KEY: personKey } = settings
  if (url === undefined) return undefined
  if (key === undefined) throw KEY_NEEDED
  return createGatewayClient(url, key, personKey, readTls(settings))
}

const KEY_NEEDED = permanent(
  'BATON_API_KEY_MISSING',
  'no key for the gateway at BATON_GATEWAY_URL',
  {
    fix: 'Set BATON_API_KEY to a key of yours; --as names people of an embedded instance only.',
  },
)

const TIMEOUT_MS = 30_000

export function createGatewayClient(
  url: string,
  key: string,
  personKey?: string,
  tls: Tls = NO_TLS,
): GatewayClient {
  const { ask, json } = createHttpClient({
    url,
    name: `the gateway at ${new URL(url).origin}`,
    token: key,
    tls: { tls, setting: 'BATON_GATEWAY_URL', whose: 'others' },
    timeoutMs: TIMEOUT_MS,
    unavailable: {
      code: 'BATON_GATEWAY_UNAVAILABLE',
      fix: 'Check BATON_GATEWAY_URL and that the gateway runs; repeating the command is safe.',
    },
  })
  return {
    url,
    get: (path) => json(path),
    ask,
    delete: (path) => json(path, { method: 'DELETE' }),
    post: (path, body = {}) => json(path, { body }),
    decide: (path, body, meant) => decideSigned({ json, personKey }, { path, body, meant }),
    postOnce: (path, body, key) =>
      json(path, { body, headers: { 'idempotency-key': `"${key}"` }, repeatable: true }),
  }
}

// Reading and acting through the gateway over HTTP, as one person: what is decided is decided under their name.
import { runningInstance } from '@baton/embedded/instance-record'
import { createHttpClient, HttpRefusal, isReady } from '@baton/http/client'
import type { HttpAnswer, HttpClient } from '@baton/http/client'
import { BatonError, NO_TLS, permanent, readTls } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { Context } from './context.ts'
import type { Meant } from './decide-signed.ts'
import type { QueueChoice } from './instance/queue.ts'
import { readPerson, readStored } from './instance/secrets.ts'
import type { Person } from './instance/secrets.ts'
import type { Serving } from './instance/services.ts'

export interface GatewayClient extends Pick<HttpClient, 'json'> {
  readonly url: string
  /** With which whoever sits here signs. */
  readonly personKey: string | undefined
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
  const running = queue === 'any' ? await runningGateway(context, person) : undefined
  if (running !== undefined) return work(running)
  const { openInstance } = await import('./instance/instance.ts')
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
 * Runs `work`, which only reads and may be repeated, against the gateway that BATON_GATEWAY_URL names, with BATON_API_KEY;
 * otherwise against that of the instance, where it runs and answers, or else as `withOwnGateway` does.
 */
export async function withReadingGateway<Result>(
  context: Context,
  work: (client: GatewayClient) => Promise<Result>,
): Promise<Result> {
  if (context.settings.BATON_GATEWAY_URL !== undefined) return withOwnGateway(context, work)
  const running = await runningGateway(context, readPerson(context.actAs ?? 'operator'))
  if (running === undefined) return withOwnGateway(context, work)
  try {
    return await work(running)
  } catch (error) {
    if (isAnswer(error)) throw error
    return withOwnGateway(context, work)
  }
}

/** What another way of reading would not answer otherwise: neither an outage, nor what this person's key may not do. */
const isAnswer = (error: unknown): boolean =>
  !(error instanceof BatonError && error.kind === 'transient') &&
  !(error instanceof HttpRefusal && [401, 403].includes(error.status))

const READY_WAIT_MS = 1_000

/**
 * That of the instance, as this person; undefined where none runs or says that it is ready. Asking it takes a tenth of the time
 * that loading what reads databases takes.
 */
async function runningGateway(
  { home, settings, actAs }: Context,
  person: Person,
): Promise<GatewayClient | undefined> {
  const running = await runningInstance<Serving>(home)
  if (running === null) return undefined
  const [people, signing] = await Promise.all([
    readStored(home, 'people'),
    readStored(home, 'signing'),
  ])
  const key = (actAs === undefined && settings.BATON_API_KEY) || people?.[person]
  const tls = readTls(settings)
  if (key === undefined || !(await isReady(running.gatewayUrl, READY_WAIT_MS, tls)))
    return undefined
  return createGatewayClient(running.gatewayUrl, key, signing?.[person], tls)
}

/**
 * Runs `work`, which only reads, against the gateway that BATON_GATEWAY_URL names, with BATON_API_KEY; otherwise
 * against one in this process on the databases of this home, so that no service has to run, or to go on running. Throws
 * BATON_INSTANCE_MISSING where there is nothing to read.
 */
export async function withOwnGateway<Result>(
  context: Context,
  work: (client: GatewayClient) => Promise<Result>,
): Promise<Result> {
  const given = namedGateway(context)
  if (given !== undefined) return work(given)
  const person = readPerson(context.actAs ?? 'operator')
  const [{ openReadingGateway }, { withDatabases }, { openLog }, { readServerFacts }] =
    await Promise.all([
      import('./instance/reading-gateway.ts'),
      import('./instance/databases.ts'),
      import('./context.ts'),
      import('@baton/store'),
    ])
  return withDatabases(context, async (opened) => {
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
    personKey,
    json,
    get: (path) => json(path),
    ask,
    delete: (path) => json(path, { method: 'DELETE' }),
    post: (path, body = {}) => json(path, { body }),
    async decide(path, body, meant) {
      const { decideSigned } = await import('./decide-signed.ts')
      return decideSigned({ json, personKey }, { path, body, meant })
    },
    postOnce: (path, body, key) =>
      json(path, { body, headers: { 'idempotency-key': `"${key}"` }, repeatable: true }),
  }
}

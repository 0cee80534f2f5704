// How an agent of A2A is spoken to: by its card, over addresses that are checked at every call, and with its token only where its card is.
import type { Client } from '@a2a-js/sdk/client'
import { createEndpointFetch } from '@baton/http/endpoint'
import type { EndpointFetchOptions } from '@baton/http/endpoint'
import { BatonError, permanent, transient } from '@baton/runtime'

export interface RemoteOptions {
  readonly cardUrl: string
  readonly token?: string | undefined
  readonly allowPrivate?: boolean | undefined
  readonly tls?: EndpointFetchOptions['tls']
  readonly lookup?: EndpointFetchOptions['lookup']
}

export interface RemoteClient {
  readonly client: Client
  /** Whether its card says that it streams. */
  readonly streams: boolean
}

export interface Remote {
  /** A client by the card as it was read a short while ago. */
  connect(): Promise<RemoteClient>
  close(): void
}

/** Of everything that one connection answers, a whole stream included. */
const ANSWER_BYTES_MAX = 33_554_432
const SILENT_MS = 120_000
const CARD_FRESH_MS = 300_000
const CARD_BYTES_MAX = 1_048_576

export function createRemote({ cardUrl, token, ...options }: RemoteOptions): Remote {
  const checked = createEndpointFetch({
    answerBytesMax: ANSWER_BYTES_MAX,
    silentMs: SILENT_MS,
    tls: options.tls,
    ...(options.allowPrivate === undefined ? {} : { allowPrivate: options.allowPrivate }),
    ...(options.lookup === undefined ? {} : { lookup: options.lookup }),
  })
  checked.check(cardUrl)
  const { origin } = new URL(cardUrl)
  const fetchImpl: typeof fetch = async (target, init = {}) => {
    const headers = new Headers(init.headers)
    // Whoever wrote a card is not whom the token is for.
    const isHome =
      new URL(target instanceof Request ? target.url : String(target)).origin === origin
    if (token !== undefined && isHome) headers.set('authorization', `Bearer ${token}`)
    const answer = await checked.fetch(target, { ...init, headers })
    const { status } = answer
    if (status >= 500 || LATER.has(status)) {
      await answer.body?.cancel()
      throw AWAY
    }
    return answer
  }
  let known: { readonly client: Promise<RemoteClient>; readonly untilMs: number } | undefined
  return {
    connect() {
      if (known === undefined || performance.now() >= known.untilMs) {
        const client = clientOf(cardUrl, fetchImpl)
        known = { client, untilMs: performance.now() + CARD_FRESH_MS }
        client.catch(() => (known = undefined))
      }
      return known.client
    },
    close: () => checked.close(),
  }
}

const LATER: ReadonlySet<number> = new Set([408, 425, 429])

const AWAY = transient('BATON_A2A_UNAVAILABLE', 'the remote agent does not answer', {
  fix: 'Check that it runs; it is tried again.',
})

async function clientOf(cardUrl: string, fetchImpl: typeof fetch): Promise<RemoteClient> {
  // Loaded only where an agent of A2A works.
  const { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory } =
    await import('@a2a-js/sdk/client')
  const legacyCompat = { enabled: true }
  const bounded: typeof fetch = async (target, init) => {
    const answer = await fetchImpl(target, init)
    if (Number(answer.headers.get('content-length') ?? 0) > CARD_BYTES_MAX) throw CARD_TOO_LARGE
    return answer
  }
  const factory = new ClientFactory({
    transports: [
      new JsonRpcTransportFactory({ fetchImpl, legacyCompat }),
      new RestTransportFactory({ fetchImpl, legacyCompat }),
    ],
  })
  const resolver = new DefaultAgentCardResolver({ fetchImpl: bounded, legacyCompat })
  const card = await resolver.resolve(cardUrl, '')
  const client = await factory.createFromAgentCard(card)
  return { client, streams: card.capabilities?.streaming === true }
}

const CARD_TOO_LARGE = permanent('BATON_A2A_CARD_REFUSED', 'the agent card is too large', {
  fix: 'Correct the card, or its address.',
})

const TASK_UNKNOWN = 'TaskNotFoundError'

/** Whether the remote agent knows nothing of the task any more. */
export const isUnknownTask = (error: unknown): boolean =>
  (error as { name?: unknown } | null)?.name === TASK_UNKNOWN

/** What went wrong in Baton's words; nothing of the remote agent's own is repeated, which may be anything. */
export function refusedBy(error: unknown): BatonError {
  for (let at: unknown = error; at instanceof Error; at = at.cause)
    if (at instanceof BatonError) return at
  // The SDK's own errors have a reason; what has none is of the connection or of its bytes.
  const { reason } = (error ?? {}) as { reason?: unknown }
  return typeof reason === 'string' && reason !== 'INTERNAL_ERROR' ? REFUSED : AWAY
}

const REFUSED = permanent('BATON_A2A_REFUSED', 'the remote agent refused the call', {
  fix: 'See its own log, and whether its card, the token and what it takes fit.',
})

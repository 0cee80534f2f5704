// Calls receivers directly over HTTP, each behind a breaker: whatever goes wrong here costs nothing, because the outbox has the handoff.
import { createHttpClient } from '@baton/http/client'
import type { HttpClient } from '@baton/http/client'
import { createBreaker, NO_TLS } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import { DIRECT_PATH } from './direct-call.ts'
import type { DirectAnswer, DirectCall } from './direct-call.ts'

export interface DirectCallsOptions {
  /** Base URLs by agent type; `*` is every other type's. */
  readonly receivers: ReadonlyMap<string, string>
  readonly token: string
  /** How receivers at https URLs are spoken to. */
  readonly tls?: Tls | undefined
  /** How long the longest call may take. */
  readonly waitMs: number
  /** Told when a receiver is not called for a while, because it does not answer, and when it is again. */
  readonly onPaused?: (url: string, paused: boolean) => void
}

/** `failed`: nobody answered, or nobody is there to be called; nothing is known of the handoff, which the queue delivers. */
export type DirectOutcome = DirectAnswer | 'failed'

export interface DirectCalls {
  /** Never rejects. */
  call(request: Omit<DirectCall, 'waitMs'>): Promise<DirectOutcome>
  /** Ends its connections; what is under way fails. */
  close(): void
}

/** Calls under way at once to one receiver; more are left to the queue. */
const CAPACITY = 64
/** How much later than the call a receiver may answer that it goes on. */
const SLACK_MS = 1_000

/** Connects nothing until it is first asked. */
export function createDirectCalls(options: DirectCallsOptions): DirectCalls {
  const { receivers, waitMs, onPaused } = options
  const targets = new Map([...new Set(receivers.values())].map((url) => [url, createTarget(url)]))

  function createTarget(url: string) {
    const client = createClient(url, options)
    const breaker = createBreaker(
      'the receiver',
      (body: DirectCall) =>
        client.json<DirectAnswer>(DIRECT_PATH, { method: 'POST', body, repeatable: true }),
      { timeoutMs: waitMs + 2 * SLACK_MS, capacity: CAPACITY },
    )
    breaker.onChange((open) => onPaused?.(url, open))
    return { client, breaker }
  }

  return {
    async call(request) {
      const url = receivers.get(request.agentType) ?? receivers.get('*')
      const target = url === undefined ? undefined : targets.get(url)
      if (target === undefined) return 'failed'
      return target.breaker.fire({ ...request, waitMs }).catch(() => 'failed' as const)
    },
    close() {
      for (const { client, breaker } of targets.values()) {
        breaker.close()
        client.close()
      }
    },
  }
}

const createClient = (
  url: string,
  { token, tls = NO_TLS, waitMs }: DirectCallsOptions,
): HttpClient =>
  createHttpClient({
    url,
    name: 'the receiver',
    token,
    tls: { tls, setting: 'BATON_SYNC_RECEIVERS' },
    timeoutMs: waitMs + SLACK_MS,
    connectionsMax: CAPACITY,
    unavailable: { code: 'BATON_RECEIVER_UNAVAILABLE' },
  })

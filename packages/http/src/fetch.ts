// `fetch` for libraries that bring a protocol of their own: over TLS as this process speaks it, in bounds, and with no redirection followed,
// because what is sent is meant for whom the settings name.
import { Agent, fetch as fetchBy } from 'undici'
import type { Tls } from '@baton/runtime'
import { boundedAnswer } from './bounded-answer.ts'
import { connectOver } from './tls-client.ts'

interface FetchOptions {
  /** Who vouches for the server, which is shown nothing. */
  readonly tls: Tls
  /** More than that of an answer is an error. */
  readonly answerBytesMax: number
}

export interface BoundFetch {
  readonly fetch: typeof globalThis.fetch
  /** Ends its connections; what is under way fails. */
  close(): void
}

/** Connects nothing until it is first called. Its answers take the time that the signal of each request gives them. */
export function createFetch({ tls, answerBytesMax }: FetchOptions): BoundFetch {
  const dispatcher = new Agent({
    allowH2: false,
    maxResponseSize: answerBytesMax,
    connect: connectOver(tls, 'services'),
  })
  const bound = async (
    target: Parameters<typeof fetchBy>[0],
    options?: Parameters<typeof fetchBy>[1],
  ) => {
    const answer = await fetchBy(target, { ...options, dispatcher, redirect: 'error' })
    return boundedAnswer(answer as unknown as Response, answerBytesMax)
  }
  return {
    // The platform's own is the same library; only the names of its types are others.
    fetch: bound as unknown as typeof globalThis.fetch,
    close: () => void dispatcher.destroy(),
  }
}

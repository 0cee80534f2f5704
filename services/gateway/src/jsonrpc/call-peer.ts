// Calls the /jsonrpc of session peers: each by its own address and token, within bounds of time and size.
import { createEndpoint } from '@baton/http/endpoint'
import type { Endpoint } from '@baton/http/endpoint'
import { readRpcReply, rpcSend } from '@baton/protocol/dialects/session'
import type { RpcReply } from '@baton/protocol/dialects/session'
import { codeOf } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { Metrics } from '@baton/telemetry'
import type { KnownPeer } from './peers.ts'

export interface PeerCall {
  /** Of the message; the same for every attempt to send it. */
  readonly messageId: string
  readonly role: 'user' | 'agent'
  readonly contextId: string
  readonly text: string
  readonly traceparent?: string | undefined
  readonly tracestate?: string | undefined
  readonly timeoutMs: number
  readonly signal: AbortSignal
}

export type PeerAnswer =
  | RpcReply
  /** Nothing that the protocol has was answered; with the HTTP status where one was. */
  | { readonly kind: 'failed'; readonly code: string; readonly status?: number }

export interface PeerCaller {
  /** Never rejects, unless the signal aborts. */
  call(peer: KnownPeer, call: PeerCall): Promise<PeerAnswer>
  close(): void
}

const ANSWER_BYTES_MAX = 2_097_152

/** `tls` says how peers in one's own network are spoken to. */
export function createPeerCaller(
  metrics: Pick<Metrics, 'outsideCallsTotal'>,
  tls?: Tls,
): PeerCaller {
  const endpoints = new Map<string, Endpoint>()
  const endpointOf = ({ name, url, allowPrivate }: KnownPeer): Endpoint => {
    const known = endpoints.get(name)
    if (known !== undefined) return known
    const options = { url: url ?? '', allowPrivate, tls, answerBytesMax: ANSWER_BYTES_MAX }
    const endpoint = createEndpoint(options)
    endpoints.set(name, endpoint)
    return endpoint
  }

  async function post(
    peer: KnownPeer,
    { timeoutMs, signal, traceparent, tracestate, ...message }: PeerCall,
  ): Promise<PeerAnswer> {
    try {
      const { bytes, status } = await endpointOf(peer).post({
        body: JSON.stringify(rpcSend(message)),
        headers: {
          'idempotency-key': `"${message.messageId}"`,
          ...(peer.token === undefined ? {} : { authorization: `Bearer ${peer.token}` }),
          ...(traceparent === undefined ? {} : { traceparent }),
          ...(tracestate === undefined ? {} : { tracestate }),
        },
        signal,
        timeoutMs,
      })
      if (bytes === undefined) return { kind: 'failed', code: 'BATON_PEER_FAILED', status }
      return readRpcReply(bytes, ANSWER_BYTES_MAX)
    } catch (error) {
      signal.throwIfAborted()
      return { kind: 'failed', code: codeOf(error) }
    }
  }

  return {
    async call(peer, call) {
      const answer = await post(peer, call)
      metrics.outsideCallsTotal.with({ kind: 'session', outcome: outcomeOf(answer) }).inc()
      return answer
    },
    close() {
      for (const endpoint of endpoints.values()) endpoint.close()
    },
  }
}

/** Answers that say "later", where a peer has an answer of its own for that. */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])

/** A refusal is what another try cannot mend. */
function outcomeOf(answer: PeerAnswer): 'ok' | 'refused' | 'failed' {
  if (answer.kind === 'text') return 'ok'
  if (answer.kind === 'busy') return 'failed'
  if (answer.kind !== 'failed') return 'refused'
  const { status = 500 } = answer
  return status < 500 && !LATER.has(status) ? 'refused' : 'failed'
}

// Calls the /jsonrpc of session peers: each by its own address and token, within bounds of time and size.
import { createEndpoint } from '@baton/http/endpoint'
import type { Endpoint } from '@baton/http/endpoint'
import { readRpcReply, rpcSend } from '@baton/protocol/dialects/session'
import type { RpcReply } from '@baton/protocol/dialects/session'
import { codeOf } from '@baton/runtime'
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

export function createPeerCaller(): PeerCaller {
  const endpoints = new Map<string, Endpoint>()
  const endpointOf = ({ name, url, allowPrivate }: KnownPeer): Endpoint => {
    const known = endpoints.get(name)
    if (known !== undefined) return known
    const options = { url: url ?? '', allowPrivate, answerBytesMax: ANSWER_BYTES_MAX }
    const endpoint = createEndpoint(options)
    endpoints.set(name, endpoint)
    return endpoint
  }
  return {
    async call(peer, { timeoutMs, signal, traceparent, tracestate, ...message }) {
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
    },
    close() {
      for (const endpoint of endpoints.values()) endpoint.close()
    },
  }
}

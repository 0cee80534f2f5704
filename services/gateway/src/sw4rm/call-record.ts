// What one call leaves behind, however it ends: a span in the caller's trace and one line in the log.
import { isIP } from 'node:net'
import { Metadata, status } from '@grpc/grpc-js'
import type { Logger } from '@baton/runtime'
import { startSpan } from '@baton/telemetry'
import type { Span } from '@baton/telemetry'
import { callerTrace } from '../request-context.ts'
import { refusalOf } from './refusal.ts'
import type { Refusal } from './refusal.ts'

export interface CallRecord {
  readonly span: Span
  /** Whether the caller named the trace. */
  readonly isTraced: boolean
  /** What every answer begins with. */
  readonly headers: Metadata
  answered(apiKeyId: string | undefined): void
  /** The status of gRPC that a thrown value becomes. */
  refused(error: unknown, apiKeyId?: string): Pick<Refusal, 'code' | 'details' | 'metadata'>
}

interface CallOrigin {
  readonly metadata: Metadata
  readonly address: string | undefined
  readonly logger: Logger
}

/** The address in what gRPC calls a peer: all before its port. */
export function addressOf(peer: string): string | undefined {
  const address = peer.slice(0, peer.lastIndexOf(':'))
  return isIP(address) === 0 ? undefined : address
}

export function openCallRecord(
  name: string,
  { metadata, address, logger }: CallOrigin,
): CallRecord {
  const startedAt = performance.now()
  const { span, isTraced } = spanOf(name, metadata)
  const headers = new Metadata()
  headers.set('traceparent', span.traceparent)
  const log = (code: status, apiKeyId: string | undefined, problemCode?: string) =>
    logger.info({
      event: 'grpc.answered',
      method: name,
      status: status[code],
      code: problemCode,
      apiKeyId,
      address,
      traceId: span.traceId,
      elapsedMs: Math.round((performance.now() - startedAt) * 10) / 10,
    })
  return {
    span,
    isTraced,
    headers,
    answered(apiKeyId) {
      span.end()
      log(status.OK, apiKeyId)
    },
    refused(error, apiKeyId) {
      const { code, details, metadata: trailers, problemCode, isFault } = refusalOf(error)
      span.end({ error: problemCode })
      if (isFault) logger.error({ event: 'grpc.failed', code: problemCode, error })
      log(code, apiKeyId, problemCode)
      return { code, details, metadata: trailers }
    },
  }
}

function spanOf(name: string, metadata: Metadata): Pick<CallRecord, 'span' | 'isTraced'> {
  const headers = Object.fromEntries(
    ['traceparent', 'tracestate'].map((header) => [header, String(metadata.get(header)[0] ?? '')]),
  )
  const trace = callerTrace(headers)
  const attributes = { 'rpc.system': 'grpc', 'rpc.method': name }
  return {
    span: startSpan({ name, kind: 'server', ...trace, attributes }),
    isTraced: trace.parent !== undefined,
  }
}

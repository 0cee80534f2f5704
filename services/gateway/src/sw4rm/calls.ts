// One call of the service: who calls, how often and how much at once, in which trace; whatever goes wrong is a status with words.
import type { handleUnaryCall, ServerUnaryCall } from '@grpc/grpc-js'
import { Metadata, status } from '@grpc/grpc-js'
import type { Logger } from '@baton/runtime'
import { Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import { startSpan } from '@baton/telemetry'
import type { Span } from '@baton/telemetry'
import { identify } from '../api-keys.ts'
import type { ApiKey, Scope } from '../api-keys.ts'
import { callerTrace, keyWithScope } from '../request-context.ts'
import { rateLimited } from '../server.ts'
import { refusalOf } from './refusal.ts'
import { MALFORMED } from './wire.ts'
import type { Messages, MethodName } from './wire.ts'

/** Who calls, and the span of the call. */
export interface Caller {
  readonly key: ApiKey
  readonly span: Span
  /** Whether the caller named the trace. */
  readonly isTraced: boolean
}

export interface Method<Name extends MethodName> {
  readonly scope: Scope
  answer(request: Messages[Name][0], caller: Caller): Promise<Messages[Name][1]>
}

export type Methods = { readonly [Name in MethodName]: Method<Name> }

export interface CallBounds {
  readonly apiKeys: ReadonlyMap<string, ApiKey>
  /** Calls per minute and API key. */
  readonly rateMax: number
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  readonly logger: Logger
}

type Unary = handleUnaryCall<object, object>

/** Turns methods into what gRPC calls. A call never rejects, and never answers a stack. */
export function createCalls(
  bounds: CallBounds,
): (name: string, method: Method<MethodName>) => Unary {
  const { apiKeys, logger, bounded } = bounds
  const count = createCounter(bounds.rateMax)
  return (name, { scope, answer }) =>
    (call, callback) => {
      const startedAt = performance.now()
      const { span, isTraced } = spanOf(name, call)
      const headers = new Metadata()
      headers.set('traceparent', span.traceparent)
      call.sendMetadata(headers)
      let apiKeyId: string | undefined
      const work = async () => {
        const authorization = call.metadata.get('authorization')[0]?.toString()
        const key = keyWithScope(identify(apiKeys, authorization, Date.now()), scope)
        apiKeyId = key.id
        count(key.id)
        if (call.request === MALFORMED) throw NO_MESSAGE
        return bounded(() => answer(call.request as never, { key, span, isTraced }))
      }
      const log = (code: status, problemCode?: string) =>
        logger.info({
          event: 'grpc.answered',
          method: name,
          status: status[code],
          code: problemCode,
          apiKeyId,
          traceId: span.traceId,
          elapsedMs: Math.round((performance.now() - startedAt) * 10) / 10,
        })
      const finish = async () => {
        const outcome = await settled(work)
        if ('answered' in outcome) {
          span.end()
          log(status.OK)
          return callback(null, outcome.answered)
        }
        const { code, details, metadata, problemCode, isFault } = refusalOf(outcome.error)
        span.end({ error: problemCode })
        if (isFault) logger.error({ event: 'grpc.failed', code: problemCode, error: outcome.error })
        log(code, problemCode)
        return callback({ code, details, metadata })
      }
      void finish()
    }
}

const NO_MESSAGE = new Sw4rmError('the request is no message of this method')

type Outcome = { readonly answered: object } | { readonly error: unknown }

async function settled(work: () => Promise<object>): Promise<Outcome> {
  try {
    return { answered: await work() }
  } catch (error) {
    return { error }
  }
}

function spanOf(
  name: string,
  { metadata }: ServerUnaryCall<object, object>,
): Pick<Caller, 'span' | 'isTraced'> {
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

/** Throws 429 for the calls of a key beyond so many in one minute; keys are as many as there are settings for. */
function createCounter(rateMax: number): (keyId: string) => void {
  const counts = new Map<string, { readonly minute: number; calls: number }>()
  return (keyId) => {
    const minute = Math.floor(performance.now() / 60_000)
    const known = counts.get(keyId)
    const counted = known?.minute === minute ? known : { minute, calls: 0 }
    counted.calls += 1
    counts.set(keyId, counted)
    if (counted.calls > rateMax) throw rateLimited(60_000 - (performance.now() % 60_000))
  }
}

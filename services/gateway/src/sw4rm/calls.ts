// One call of the service: its answer, in the caller's trace; whatever goes wrong is a status with words.
import type { handleUnaryCall } from '@grpc/grpc-js'
import type { RefusalRecorder } from '@baton/engine'
import type { Logger } from '@baton/runtime'
import { Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import type { Span } from '@baton/telemetry'
import { actFor } from '../acting.ts'
import type { Access, Scope } from '../api-keys.ts'
import type { Admission } from './admission.ts'
import { problemOf } from '../problem.ts'
import { reasonOf } from '../refused-sends.ts'
import { addressOf, openCallRecord } from './call-record.ts'
import type { CallRecord } from './call-record.ts'
import { PeerRefusal } from './refusal.ts'
import { MALFORMED } from './wire.ts'
import type { Messages, MethodName } from './wire.ts'

/** Who calls, and the span of the call. */
export interface Caller {
  readonly key: Access
  /** From where; undefined where its connection has gone. */
  readonly address: string | undefined
  readonly span: Span
  /** Whether the caller named the trace. */
  readonly isTraced: boolean
}

export interface Method<Name extends MethodName> {
  readonly scope: Scope
  answer(request: Messages[Name][0], caller: Caller): Promise<Messages[Name][1]>
}

export type Methods = { readonly [Name in MethodName]: Method<Name> }

interface CallParts {
  readonly admission: Pick<Admission, 'keyOf'>
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
  /** Where refused messages are recorded. */
  readonly refusals: RefusalRecorder
  readonly logger: Logger
}

type Unary = handleUnaryCall<object, object>

/** Turns a method into what gRPC calls once a message has arrived. A call never rejects, and never answers a stack. */
export const asCall =
  (name: MethodName, method: Method<MethodName>, parts: CallParts): Unary =>
  (call, callback) => {
    const { admission, bounded, logger } = parts
    const address = addressOf(call.getPeer())
    const record = openCallRecord(name, { metadata: call.metadata, address, logger })
    call.sendMetadata(record.headers)
    let caller: Access | undefined
    const work = async () => {
      const key = admission.keyOf(call.metadata)
      caller = key
      if (call.request === MALFORMED) throw NO_MESSAGE
      const { span, isTraced } = record
      return actFor(key.tenant, () =>
        bounded(() => method.answer(call.request as never, { key, address, span, isTraced })),
      )
    }
    const finish = async () => {
      const outcome = await settled(work)
      if ('error' in outcome) {
        if (method.scope === 'handoffs:send')
          await noteRefused(parts, outcome.error, { caller, record })
        return callback(record.refused(outcome.error, caller?.id))
      }
      record.answered(caller?.id)
      return callback(null, outcome.answered)
    }
    void finish()
  }

/** Before it is answered, as for every other way in; nothing of who has no key. */
async function noteRefused(
  { refusals }: Pick<CallParts, 'refusals'>,
  error: unknown,
  { caller, record }: { readonly caller: Access | undefined; readonly record: CallRecord },
): Promise<void> {
  if (caller === undefined || error instanceof PeerRefusal) return
  const reason = error instanceof Sw4rmError ? 'SCHEMA_INVALID' : reasonOf(problemOf(error))
  if (reason === undefined) return
  const { traceparent } = record.span
  const of = { reason, operator: caller.operator, tenant: caller.tenant, traceparent }
  await refusals.refused({ ...of, taskId: undefined, handoffId: undefined })
}

type Outcome = { readonly answered: object } | { readonly error: unknown }

async function settled(work: () => Promise<object>): Promise<Outcome> {
  try {
    return { answered: await work() }
  } catch (error) {
    return { error }
  }
}

const NO_MESSAGE = new Sw4rmError('the request is no message of this method')

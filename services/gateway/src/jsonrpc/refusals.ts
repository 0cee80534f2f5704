// Refusals of the session face, as JSON-RPC has them: HTTP 200 with a code, except for who may not call at all.
import { ProblemError } from '@baton/http/server'
import { RPC_ERRORS, rpcError } from '@baton/protocol/dialects/session'
import type { RpcRefusal } from '@baton/protocol/dialects/session'
import type { Envelope } from '../dialect.ts'

type RpcId = RpcRefusal['id']

const busy = (detail: string) =>
  new ProblemError({
    status: 409,
    code: 'BATON_CONTEXT_BUSY',
    detail,
    fix: 'Send it again when the turn before it has ended.',
  })

export const BUSY = {
  context_busy: busy('a turn of this context is under way'),
  peer_busy: busy('as many contexts of this peer are under way as may be'),
} as const

interface Read {
  readonly pointer: string
  readonly problem: string
  readonly fix: string
}

export const invalidParams = ({ pointer, problem, fix }: Read): ProblemError =>
  new ProblemError({
    status: 422,
    code: 'BATON_SESSION_MESSAGE_INVALID',
    detail: `${pointer || '/'}: ${problem}`,
    fix,
  })

export const NOTHING_TAKEN = new ProblemError({
  status: 403,
  code: 'BATON_PEER_SENDS_NOTHING',
  detail: 'this peer may not dispatch tasks here',
  fix: 'Set sendsTo for it in the file of peers.',
})

const CODE_OF: Readonly<Record<string, RpcRefusal['code']>> = {
  BATON_CONTEXT_BUSY: RPC_ERRORS.BUSY,
  BATON_SESSION_MESSAGE_INVALID: RPC_ERRORS.PARAMS,
  BATON_HANDOFF_INVALID: RPC_ERRORS.PARAMS,
  BATON_EXTERNAL_ID_REUSED: RPC_ERRORS.PARAMS,
}

/** A problem as an error of JSON-RPC. What was not the caller's fault may be tried again. */
export function errorOf(problem: ProblemError, id: RpcId): ReturnType<typeof rpcError> {
  const { code, message, fix, status } = problem
  const rpcCode = CODE_OF[code] ?? RPC_ERRORS.FAILED
  const data = { code, fix: fix ?? '', retryable: rpcCode === RPC_ERRORS.BUSY || status >= 429 }
  return rpcError({ id, code: rpcCode, message, data })
}

/** What is refused before it is read: with its own status. */
export const rpcEnvelope = (problem: ProblemError): Envelope => ({
  contentType: 'application/json; charset=utf-8',
  body: JSON.stringify(errorOf(problem, null)),
})

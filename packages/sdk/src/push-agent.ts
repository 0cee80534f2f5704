// An agent behind an HTTP address: it is called for each execution, with a signature, a deadline and a breaker.
import { outcomeOf } from '@baton/engine'
import type { CallEnd, CallOutcome, GivenDocument, OutsideAgent } from '@baton/engine'
import { createEndpoint } from '@baton/http/endpoint'
import type { Endpoint, EndpointAnswer, EndpointOptions } from '@baton/http/endpoint'
import { DEFAULT_LIMITS } from '@baton/protocol'
import type { AgentRegistration } from '@baton/protocol'
import { readSettlement } from '@baton/protocol/settlement'
import { BatonError, codeOf, createBreaker, kindOf, permanent } from '@baton/runtime'
import { checkAgent } from './agent.ts'
import { readPushSecrets, webhookHeaders } from './webhook-signature.ts'

export interface PushAgentOptions extends Omit<AgentRegistration, 'requires'> {
  /** Keys that `currentState` must have (E06). */
  readonly requires?: readonly string[]
  /** Where it is called: https, unless `allowPrivate`. */
  readonly url: string
  /** Each whsec_<base64>: what is sent is signed with all of them, so that one can replace another. */
  readonly secrets: readonly string[]
  /** How long one call may take; 30 s by default. */
  readonly timeoutMs?: number
  /** How long what it took over by answering 202 is its own without a heartbeat; 60 s by default. */
  readonly leaseMs?: number
  /** Whose API key settles what it took over; without it an answer 202 counts as wrong. */
  readonly operator?: string
  /** Allows addresses in one's own network, and plain http there. */
  readonly allowPrivate?: boolean
  /** How an agent in one's own network is spoken to. */
  readonly tls?: EndpointOptions['tls']
  /** Resolves the name in `url`; that of the system by default. */
  readonly lookup?: EndpointOptions['lookup']
}

const TIMEOUT_MS = 30_000
const LEASE_MS = 60_000
/** The breaker is only there to stop calls; the time-out of the call is the one that names the cause. */
const BREAKER_GRACE_MS = 1_000
const BREAKER_RESET_MS = 2_000
const CALLS_MAX = 1_000

/**
 * Defines an agent that is called over HTTP: POST with what `/v2/executions/claim` would have answered for one execution. An answer 200
 * settles it, in the words of `/v2/executions/settle`; 202 says that it will be settled there. 408, 425, 429, 5xx and no answer are tried
 * again, every other answer is a failure for good. Throws BATON_AGENT_INVALID, BATON_ADDRESS_REFUSED or BATON_PUSH_SECRET_INVALID.
 */
export function definePushAgent(options: PushAgentOptions): OutsideAgent {
  const { url, secrets, timeoutMs = TIMEOUT_MS, leaseMs = LEASE_MS, operator } = options
  const { allowPrivate, lookup, tls, requires = [], ...rest } = options
  checkAgent({ ...rest, requires })
  const keys = readPushSecrets(secrets)
  const endpoint = createEndpoint({
    url,
    answerBytesMax: DEFAULT_LIMITS.bytesMax,
    connectionsMax: CALLS_MAX,
    tls,
    ...(allowPrivate === undefined ? {} : { allowPrivate }),
    ...(lookup === undefined ? {} : { lookup }),
  })
  const breaker = createBreaker(
    `the agent ${options.type}`,
    async (given: GivenDocument, signal: AbortSignal): Promise<CallOutcome | Stopped> => {
      try {
        const limitMs = Math.min(timeoutMs, msUntil(given.deadline))
        const answer = await push({ endpoint, keys, limitMs }, given, signal)
        return readAnswer(answer, given, operator)
      } catch (error) {
        // Who gave up the call says nothing of the agent.
        if (signal.aborted) return STOPPED
        throw error
      }
    },
    { timeoutMs: timeoutMs + BREAKER_GRACE_MS, resetMs: BREAKER_RESET_MS, capacity: CALLS_MAX },
  )
  let called: (how: CallEnd) => void = () => undefined
  return {
    ...agentOf(options, requires),
    operator,
    leaseMs,
    async call(given, signal) {
      try {
        const outcome = await breaker.fire(given, signal)
        signal.throwIfAborted()
        called('ok')
        return outcome as CallOutcome
      } catch (error) {
        signal.throwIfAborted()
        if (codeOf(error) !== 'BATON_BREAKER_OPEN')
          called(kindOf(error) === 'permanent' ? 'refused' : 'failed')
        return failed(error)
      }
    },
    onCalled(listener) {
      called = listener
    },
    onPaused: (listener) => breaker.onChange(listener),
    close() {
      breaker.close()
      endpoint.close()
    },
  }
}

interface Stopped {
  readonly kind: 'stopped'
}
const STOPPED: Stopped = { kind: 'stopped' }

function agentOf(
  { type, version, capabilities, mcp, jurisdiction, contextWindowTokens }: PushAgentOptions,
  requires: readonly string[],
): AgentRegistration {
  return {
    type,
    version,
    requires,
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(mcp === undefined ? {} : { mcp }),
    ...(jurisdiction === undefined ? {} : { jurisdiction }),
    ...(contextWindowTokens === undefined ? {} : { contextWindowTokens }),
  }
}

const msUntil = (deadline: Date | null): number =>
  deadline === null ? Infinity : Math.max(1, deadline.getTime() - Date.now())

interface PushParts {
  readonly endpoint: Endpoint
  readonly keys: readonly Uint8Array[]
  readonly limitMs: number
}

function push(
  { endpoint, keys, limitMs }: PushParts,
  given: GivenDocument,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  const body = JSON.stringify(given)
  // Another claim of the same handoff is another message; what has an effect elsewhere goes by the idempotency key.
  const id = `msg_${given.handoffId}_${given.fencingToken}`
  const timestamp = Math.floor(Date.now() / 1_000)
  return endpoint.post({
    body,
    headers: {
      ...webhookHeaders(keys, { id, timestamp, body }),
      'idempotency-key': `"${given.idempotencyKey}"`,
      traceparent: given.traceparent,
      ...(given.tracestate === null ? {} : { tracestate: given.tracestate }),
    },
    signal,
    timeoutMs: limitMs,
  })
}

/** Answers that say "later". */
const LATER: ReadonlySet<number> = new Set([408, 425, 429])

function readAnswer(
  { status, bytes, retryAfterMs }: EndpointAnswer,
  given: GivenDocument,
  operator: string | undefined,
): CallOutcome {
  if (status === 200 && bytes !== undefined) return settled(bytes, given)
  if (status === 202 && operator !== undefined) return { kind: 'taken' }
  if (status === 202 || status < 300) throw wrongAnswer(`${status}, which settles nothing`)
  if (status >= 500 || LATER.has(status)) throw new PushedBack(status, retryAfterMs)
  throw permanent('BATON_PUSH_REFUSED', `the agent answered ${status}`, {
    fix: 'See its own log; a call that came too early is answered with 425, 429 or 503.',
  })
}

function settled(bytes: Uint8Array, given: GivenDocument): CallOutcome {
  const read = readSettlement(bytes)
  if (!read.ok) throw wrongAnswer(`what is no settlement at "${read.details[0]?.pointer ?? ''}"`)
  const { handoffId, fencingToken, ...settlement } = read.document
  const isOther =
    (handoffId ?? given.handoffId) !== given.handoffId ||
    (fencingToken ?? given.fencingToken) !== given.fencingToken
  if (isOther) throw wrongAnswer('for another execution')
  return outcomeOf(settlement)
}

const wrongAnswer = (what: string): BatonError =>
  permanent('BATON_AGENT_RESULT_INVALID', `the agent answered ${what}`, {
    fix: 'Answer 200 with a settlement of /v2/executions/settle; 202 only where the agent has an operator.',
  })

/** Not now: the agent is overloaded, or something behind it is down. */
class PushedBack extends BatonError {
  readonly retryAfterMs: number | undefined

  constructor(status: number, retryAfterMs: number | undefined) {
    super('transient', 'BATON_PUSH_UNAVAILABLE', `the agent answered ${status}`, {
      fix: 'See its own log; it is tried again.',
    })
    this.retryAfterMs = retryAfterMs
  }
}

/** The codes under which a call fails, by what the endpoint calls it. */
const CODES: Readonly<Record<string, string>> = {
  BATON_ENDPOINT_TIMEOUT: 'BATON_PUSH_TIMEOUT',
  BATON_TIMEOUT: 'BATON_PUSH_TIMEOUT',
  BATON_ENDPOINT_UNAVAILABLE: 'BATON_PUSH_UNAVAILABLE',
  BATON_ANSWER_TOO_LARGE: 'BATON_AGENT_RESULT_INVALID',
}

function failed(error: unknown): CallOutcome {
  const code = codeOf(error)
  const retry = !(error instanceof BatonError) || error.kind === 'transient'
  const retryAfterMs = waitAfter(error, code)
  return {
    kind: 'failed',
    code: CODES[code] ?? code,
    retry,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }
}

function waitAfter(error: unknown, code: string): number | undefined {
  if (error instanceof PushedBack) return error.retryAfterMs
  return code === 'BATON_BREAKER_OPEN' ? BREAKER_RESET_MS : undefined
}

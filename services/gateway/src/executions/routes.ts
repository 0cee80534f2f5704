// /v2/executions: agents in any language claim work, say that they are at it, and settle it, all over HTTP (pull).
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { describeGiven, outcomeOf, settleRemote } from '@baton/engine'
import type { RemoteSettled, SettleRequest } from '@baton/engine'
import type { AgentRegistration } from '@baton/protocol'
import type { Settlement } from '@baton/protocol/settlement'
import { crashPoint } from '@baton/runtime'
import { keepRemoteLeases } from '@baton/store'
import type { Fence, Pool } from '@baton/store'
import { keyOf, operatorOf } from '../acting.ts'
import { keyWithScope } from '../request-context.ts'
import { requireOwnType } from './own-types.ts'
import { answers, only, problems, ref, requireBody, TRACED } from '../operation.ts'
import { offered } from './remote-work.ts'
import type { RemoteWork } from './remote-work.ts'

interface ExecutionRouteOptions {
  readonly pool: Pool
  /** Undefined where this gateway may not write the audit log: then it gives nothing away. */
  readonly remote: RemoteWork | undefined
  /** Throws while too much is under way. */
  readonly bounded: <Result>(work: () => Promise<Result>) => Promise<Result>
}

export function addExecutionRoutes(scope: FastifyInstance, options: ExecutionRouteOptions): void {
  const { bounded } = options
  scope.post<Claiming>('/executions/claim', CLAIM, (request, reply) =>
    claim(request, reply, options),
  )
  scope.post<Fenced>('/executions/heartbeat', HEARTBEAT, (request) =>
    bounded(() => heartbeat(request, options)),
  )
  scope.post<Settling>('/executions/settle', SETTLE, (request) =>
    bounded(() => settle(request, options)),
  )
}

const withBody = (schema: Parameters<typeof only>[1]) => ({
  ...only('executions:claim', schema),
  preValidation: requireBody,
})

const CLAIM = withBody({
  operationId: 'claimExecutions',
  summary: 'Claim handoffs for an agent type; waits where there are none',
  description:
    'For agents that are not hosted by a Baton process. What is answered was judged and recorded, and is yours under a lease: say with heartbeats that you are at it, and settle it. Where a lease ends, somebody else gets it with the next fencing token, and the same idempotencyKey.',
  ...TRACED,
  body: ref('ClaimRequest'),
  response: {
    200: answers('What is yours now; empty where nothing came in time', 'ClaimedExecutions'),
    ...problems([413, 415, 422]),
  },
})

const HEARTBEAT = withBody({
  operationId: 'keepExecutions',
  summary: 'Say that claimed handoffs are still worked on; answers which of them to stop',
  ...TRACED,
  body: ref('HeartbeatRequest'),
  response: {
    200: answers('Each of them, in order', 'KeptExecutions'),
    ...problems([413, 415, 422]),
  },
})

const SETTLE = withBody({
  operationId: 'settleExecutions',
  summary: 'Say what claimed handoffs came to; answered once that is durable',
  description:
    'complete and partial commit the result, its cost and what is handed on at once; fail has it tried again or rolls the task back; reject says that this agent will not do it; blocked looks for another agent type that can. Safe to repeat: the answer is what the first time came to.',
  ...TRACED,
  body: ref('SettleRequest'),
  response: {
    200: answers('Each of them, in order', 'SettledExecutions'),
    ...problems([413, 415, 422]),
  },
})

const workOf = ({ remote }: ExecutionRouteOptions): RemoteWork => offered(remote)

interface Claiming {
  Body: {
    readonly agent: Omit<AgentRegistration, 'requires'> & { readonly requires?: readonly string[] }
    readonly max?: number
    readonly waitMs?: number
  }
}

const WAIT_MS = 20_000

async function claim(
  request: FastifyRequest<Claiming>,
  reply: FastifyReply,
  options: ExecutionRouteOptions,
) {
  const { handOut, leaseMs, release } = workOf(options)
  const { agent, max = 1, waitMs = WAIT_MS } = request.body
  await requireOwnType(
    options.pool,
    keyWithScope(request.identified, 'executions:claim'),
    agent.type,
  )
  const gone = new AbortController()
  reply.raw.once('close', () => gone.abort())
  const given = await handOut.take({
    agent: { requires: [], ...agent },
    takenBy: operatorOf(request),
    max,
    waitMs,
    gone: gone.signal,
  })
  crashPoint('pull.before_answer')
  // Whoever hung up before the answer was out has got nothing.
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) release(given.map(({ claimed }) => claimed))
  })
  return { executions: given.map((one) => describeGiven(one, leaseMs)) }
}

interface Fenced {
  Body: { readonly executions: readonly Fence[] }
}

async function heartbeat(request: FastifyRequest<Fenced>, options: ExecutionRouteOptions) {
  const { handOut } = workOf(options)
  const key = keyOf(request)
  const fences = latestTokens(request.body.executions)
  handOut.seen(key.operator)
  const kept = await keepRemoteLeases(options.pool, [...fences.values()], key)
  const byId = new Map(kept.map((one) => [one.handoffId, one]))
  return {
    executions: request.body.executions.map(({ handoffId, fencingToken }) => {
      const held = fences.get(handoffId)?.fencingToken === fencingToken && byId.get(handoffId)
      const { leaseUntil = null, canceledUntil = null } = held || {}
      return { handoffId, fencingToken, held: leaseUntil !== null, leaseUntil, canceledUntil }
    }),
  }
}

/** Statements tell handoffs apart, not fencing tokens: of two for one handoff the later one counts. */
function latestTokens<One extends Fence>(all: readonly One[]): Map<string, One> {
  const latest = new Map<string, One>()
  for (const one of all) {
    const known = latest.get(one.handoffId)
    if (known === undefined || known.fencingToken < one.fencingToken) latest.set(one.handoffId, one)
  }
  return latest
}

interface Settling {
  Body: { readonly executions: readonly (Fence & Settlement)[] }
}

async function settle(request: FastifyRequest<Settling>, options: ExecutionRouteOptions) {
  const remote = workOf(options)
  const { traceparent } = request.span
  const asked = latestTokens(request.body.executions)
  const requests = [...asked.values()].map((one) => ({ ...requestOf(one), traceparent }))
  const settled = await settleRemote({ ...remote, pool: options.pool }, keyOf(request), requests)
  const byId = new Map(requests.map(({ handoffId }, index) => [handoffId, settled[index]]))
  return {
    executions: request.body.executions.map(({ handoffId, fencingToken }) => ({
      handoffId,
      fencingToken,
      ...showSettled(
        asked.get(handoffId)?.fencingToken === fencingToken ? byId.get(handoffId) : undefined,
      ),
    })),
  }
}

function requestOf({ handoffId, fencingToken, ...settlement }: Fence & Settlement): SettleRequest {
  return { handoffId, fencingToken, outcome: outcomeOf(settlement) }
}

function showSettled(settled: RemoteSettled | undefined): object {
  if (settled?.kind !== 'settled') return { settled: false, problem: LOST }
  const { state, repeated } = settled
  return { settled: true, state, ...(repeated ? { repeated } : {}) }
}

const LOST = {
  code: 'BATON_EXECUTION_LOST',
  detail:
    'this execution is not yours, or no longer: its lease or its deadline has passed, or it was canceled',
  fix: 'Stop working on it; nothing of it was or will be committed under this fencing token.',
}

// Session peers as workers: what waits for their agent types is claimed, dispatched to the one that fits, and settled by its result.
import type { Given } from '@baton/engine'
import { releaseRemote } from '@baton/engine'
import { countTokens } from '@baton/protocol'
import type { AgentRegistration } from '@baton/protocol'
import {
  chooseWorker,
  reachableMcp,
  readReply,
  toDispatch,
  wantedOf,
  writeInline,
} from '@baton/protocol/dialects/session'
import type { KnownWorker, RpcMessage, Unmet } from '@baton/protocol/dialects/session'
import { codeOf, crashPoint, every } from '@baton/runtime'
import type { Service } from '@baton/runtime'
import { renderForAgent } from '@baton/safety'
import { countTaken, findTenantOfAgent, keepRemoteLeases, takeExecutions } from '@baton/store'
import type { Fence } from '@baton/store'
import { createAnnouncePace } from './announce-pace.ts'
import type { PeerAnswer } from './call-peer.ts'
import { operatorOfPeer, tenantOf } from './peers.ts'
import type { KnownPeer } from './peers.ts'
import {
  contextOf,
  keepAnnounce,
  receiveResult,
  recordAnnounce,
  settle,
  settleResult,
  VERSION,
} from './worker-results.ts'
import type { WorkerParts } from './worker-results.ts'

export interface Workers extends Service {
  /** A peer has something else than before: its agent type is asked for work anew, as what its workers have now. */
  announced(peer: string): void
  /** What a worker says by itself. Answers whether it settled something that it has, or had settled it before. */
  receive(peer: KnownPeer, message: RpcMessage): Promise<'settled' | 'lost' | 'nothing'>
}

const CLAIM_MS = 20_000
/** How soon it is looked again where every worker has enough to do. */
const FULL_MS = 250
/** A worker that said that it is busy is not asked again for so long. */
const BUSY_MS = 2_000
/** How soon it is looked again whether an agent type is of the tenant of a peer that works as it. */
const OTHERS_MS = 2_000
/** Who claims; whoever gets the work has it in their own name. */
const CLAIMER = 'session'

/** Nothing is claimed before it has started. */
export function createWorkers(parts: WorkerParts): Workers {
  const stopping = new AbortController()
  const byType = Map.groupBy(
    parts.peers.filter(({ worksAs }) => worksAs !== null),
    ({ worksAs }) => worksAs ?? '',
  )
  const host = {
    ...parts,
    busyUntil: new Map<string, number>(),
    idle: new Set<string>(),
    claims: new Map<string, AbortController>(),
    stopping: stopping.signal,
  }
  const pace = createAnnouncePace((name) => {
    const type = parts.peers.find((peer) => peer.name === name)?.worksAs
    host.claims.get(type ?? '')?.abort()
  })
  const underWay = new Set<Promise<void>>()
  const loops = [...byType].map(([type, peers]) =>
    every({
      name: `session workers of ${type}`,
      everyMs: 0,
      run: () => claimFor({ ...host, type, peers }, underWay),
      failed(error) {
        parts.logger.warn({ event: 'session.unclaimed', code: codeOf(error) })
        return FULL_MS
      },
    }),
  )
  return {
    name: 'session workers',
    async start() {
      for (const loop of loops) await loop.start()
    },
    announced: pace.announced,
    receive: (peer, message) => receiveResult(parts, peer, message),
    async stop() {
      pace.stop()
      stopping.abort()
      await Promise.all(loops.map((loop) => loop.stop()))
      await Promise.allSettled(underWay)
    },
  }
}

interface Host extends WorkerParts {
  readonly busyUntil: Map<string, number>
  /** Peers of which it was said that they are given nothing. */
  readonly idle: Set<string>
  /** What ends the waiting for work of an agent type. */
  readonly claims: Map<string, AbortController>
  readonly stopping: AbortSignal
}

interface TypeHost extends Host {
  readonly type: string
}

async function claimFor(all: TypeHost, underWay: Set<Promise<void>>): Promise<number> {
  const host = await amongOwn(all)
  if (host.peers.length === 0) return OTHERS_MS
  const claim = new AbortController()
  host.claims.set(host.type, claim)
  const workers = await knownWorkers(host)
  const free = workers.reduce((sum, { given, tasksMax }) => sum + Math.max(0, tasksMax - given), 0)
  if (free === 0) return FULL_MS
  const given = await host.remote.handOut.take({
    agent: registrationOf(host.type, workers),
    takenBy: CLAIMER,
    max: Math.min(free, 32),
    waitMs: CLAIM_MS,
    gone: AbortSignal.any([host.stopping, claim.signal]),
  })
  let isFull = false
  for (const one of given) isFull = (await route(host, one, underWay)) === 'full' || isFull
  return isFull ? FULL_MS : 0
}

// Whoever works for an agent type is of the tenant whose it is, as who claims its work is.
async function amongOwn(host: TypeHost): Promise<TypeHost> {
  const tenant = await findTenantOfAgent(host.pool, host.type)
  const peers = host.peers.filter((peer) => tenantOf(peer) === tenant)
  for (const { name: peer } of host.peers.filter((one) => !peers.includes(one))) {
    if (!host.idle.has(peer))
      host.logger.warn({ event: 'session.type_of_other', peer, agentType: host.type, tenant })
    host.idle.add(peer)
  }
  return { ...host, peers }
}

async function knownWorkers(host: TypeHost): Promise<readonly KnownWorker[]> {
  const taken = await countTaken(host.pool, host.peers.map(operatorOfPeer))
  const now = Date.now()
  return host.peers.map((peer) => ({
    peer: peer.name,
    announce: host.profiles.find(peer.name, now),
    mcp: peer.mcp,
    capabilities: peer.capabilities,
    given:
      (host.busyUntil.get(peer.name) ?? 0) > now
        ? peer.tasksMax
        : (taken.get(operatorOfPeer(peer)) ?? 0),
    tasksMax: peer.tasksMax,
  }))
}

/** What at least one of them has; the smallest known window, because any of them may get it (S07). */
function registrationOf(type: string, workers: readonly KnownWorker[]): AgentRegistration {
  const windows = workers.flatMap(({ announce }) => announce?.worker.context_window ?? [])
  return {
    type,
    version: VERSION,
    requires: [],
    capabilities: unique(
      workers.flatMap(({ announce, capabilities }) => announce?.capabilities.tools ?? capabilities),
    ),
    mcp: unique(workers.flatMap(reachableMcp)),
    ...(windows.length === 0 ? {} : { contextWindowTokens: Math.max(1, Math.min(...windows)) }),
  }
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)].toSorted()

async function route(
  host: TypeHost,
  given: Given,
  underWay: Set<Promise<void>>,
): Promise<'full' | 'routed'> {
  const { claimed, message } = given
  const fence = fenceOf(claimed)
  const chosen = chooseWorker(wantedOf(message), await knownWorkers(host))
  if (chosen.kind === 'busy') {
    await releaseRemote(host.pool, [fence])
    return 'full'
  }
  if (chosen.kind === 'unmet') {
    await settle(host, CLAIMER, {
      ...fence,
      outcome: { kind: 'blocked', unmet: chosen.unmet.map(unmetDetail) },
    })
    return 'routed'
  }
  const peer = host.peers.find(({ name }) => name === chosen.peer)
  if (peer === undefined || !(await takeFor(host, peer, given, host.remote.leaseMs)))
    return 'routed'
  await recordAnnounce(host, peer, claimed)
  const work = dispatch(host, peer, given)
    .catch((error: unknown) =>
      host.logger.warn({ event: 'session.undispatched', ...fence, code: codeOf(error) }),
    )
    .finally(() => underWay.delete(work))
  underWay.add(work)
  return 'routed'
}

const fenceOf = ({ handoffId, fencingToken }: Fence): Fence => ({ handoffId, fencingToken })

const unmetDetail = ({ kind, name }: Unmet) => ({
  pointer: '',
  rule: `session.${kind}`,
  message: 'no session worker of this agent type has this now',
  fix: 'Start a worker that has it, or hand off without requiring it.',
  expected: name,
})

/** The execution is the peer's from now on, for so long; false where it is lost. */
async function takeFor(
  { pool }: WorkerParts,
  peer: KnownPeer,
  { claimed, traceparent }: Pick<Given, 'traceparent'> & { readonly claimed: Fence },
  leaseMs: number,
): Promise<boolean> {
  const taken = await takeExecutions(pool, [
    {
      ...fenceOf(claimed),
      takenBy: operatorOfPeer(peer),
      agentType: peer.worksAs ?? '',
      agentVersion: VERSION,
      leaseMs,
      firstLeaseMs: leaseMs,
      traceparent,
    },
  ])
  return taken.length > 0
}

async function dispatch(host: TypeHost, peer: KnownPeer, given: Given): Promise<void> {
  const { claimed, message, traceparent } = given
  const isAnnounced = host.profiles.find(peer.name, Date.now()) !== undefined
  const asked = toDispatch(message, renderForAgent(message), isAnnounced ? 'structured' : 'prose')
  const text = isAnnounced ? JSON.stringify(asked) : writeInline(asked)
  crashPoint('session.before_dispatch')
  const answer = await whileKept(host, peer, claimed, (signal) =>
    host.caller.call(peer, {
      messageId: claimed.handoffId,
      role: 'user',
      contextId: contextOf(claimed.handoffId),
      text,
      traceparent,
      tracestate: claimed.tracestate ?? undefined,
      timeoutMs: peer.workMs,
      signal,
    }),
  )
  crashPoint('session.after_dispatch')
  if (answer === undefined) return
  if (answer.kind === 'text' && keepAnnounce(host, peer, answer.text))
    await recordAnnounce(host, peer, claimed)
  await takeAnswer(host, peer, { given, answer, text })
}

/** Keeps the lease while the worker answers; undefined once the execution is not its own any more. */
async function whileKept(
  { pool, remote, stopping, logger }: Host,
  peer: KnownPeer,
  fence: Fence,
  call: (signal: AbortSignal) => Promise<PeerAnswer>,
): Promise<PeerAnswer | undefined> {
  const lost = new AbortController()
  const everyMs = Math.floor(remote.leaseMs / 3)
  const heartbeat = every({
    name: 'session heartbeat',
    everyMs,
    firstAfterMs: everyMs,
    async run() {
      const kept = await keepRemoteLeases(pool, [fenceOf(fence)], {
        operator: operatorOfPeer(peer),
      })
      if (kept.length === 0) lost.abort()
    },
    failed: (error) => logger.warn({ event: 'session.unkept', code: codeOf(error) }),
  })
  await heartbeat.start()
  try {
    return await call(AbortSignal.any([lost.signal, stopping]))
  } catch (error) {
    if (lost.signal.aborted || stopping.aborted) return undefined
    throw error
  } finally {
    await heartbeat.stop()
  }
}

const REFUSED = { kind: 'failed', code: 'BATON_SESSION_REFUSED', retry: false } as const
const UNAVAILABLE = { kind: 'failed', code: 'BATON_SESSION_UNAVAILABLE', retry: true } as const

interface Answered {
  readonly given: Given
  readonly answer: PeerAnswer
  /** What it was sent. */
  readonly text: string
}

/** The outcome says only whether it is tried again: why is for whoever runs the gateway. */
function noteFailed({ logger }: Host, peer: KnownPeer, { given, answer }: Answered): void {
  const { handoffId } = given.claimed
  const { kind } = answer
  const why = {
    ...('code' in answer ? { code: answer.code } : {}),
    ...('status' in answer ? { status: answer.status } : {}),
  }
  logger.warn({ event: 'session.dispatch_failed', handoffId, peer: peer.name, kind, ...why })
}

async function takeAnswer(host: Host, peer: KnownPeer, answered: Answered): Promise<void> {
  const { given, answer, text } = answered
  const { claimed, message } = given
  const operator = operatorOfPeer(peer)
  switch (answer.kind) {
    case 'text': {
      const replySchema = message.replySchema ?? 'prose'
      const reply = readReply(answer.text, { taskId: claimed.handoffId, replySchema })
      if (reply.kind === 'queued') {
        await takeFor(host, peer, given, peer.workMs)
        host.logger.info({ event: 'session.queued', handoffId: claimed.handoffId, peer: peer.name })
        return
      }
      const computed = countTokens(text) + countTokens(answer.text)
      await settleResult(host, peer, { fence: claimed, message, result: reply.result, computed })
      return
    }
    case 'busy':
      host.busyUntil.set(peer.name, Date.now() + BUSY_MS)
      return releaseRemote(host.pool, [fenceOf(claimed)])
    case 'refused':
    case 'unreadable':
      noteFailed(host, peer, answered)
      await settle(host, operator, { ...fenceOf(claimed), outcome: REFUSED })
      return
    case 'failed':
      noteFailed(host, peer, answered)
      await settle(host, operator, { ...fenceOf(claimed), outcome: UNAVAILABLE })
      return
  }
}

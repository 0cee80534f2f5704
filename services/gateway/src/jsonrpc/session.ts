// Everything of the session handshake in a gateway: the face, the replies that are sent later, the workers.
import { createProfileCache } from '@baton/protocol/dialects/session'
import { codeOf } from '@baton/runtime'
import type { Logger, Service, Tls } from '@baton/runtime'
import type { Pool } from '@baton/store'
import type { Metrics } from '@baton/telemetry'
import type { Face } from '../dialect.ts'
import { actFor } from '../acting.ts'
import type { Authenticate } from '../authenticate.ts'
import type { RemoteWork } from '../executions/remote-work.ts'
import { createPeerCaller } from './call-peer.ts'
import type { PeerCaller } from './call-peer.ts'
import { createSessionFace } from './face.ts'
import { ownAnnounce } from './own-announce.ts'
import { openPeers, tenantOf } from './peers.ts'
import type { KnownPeer } from './peers.ts'
import { createReplies } from './replies.ts'
import type { ReplyTimes } from './replies.ts'
import type { TaskParts } from './take-task.ts'
import { createWorkers } from './workers.ts'
import type { Workers } from './workers.ts'

export interface SessionOptions {
  /** The file of peers; without one nobody may call. */
  readonly peersPath?: string | undefined
  /** How long an answer waits for the outcome of a task. */
  readonly waitMs?: number
  /** How long an announcement is believed. */
  readonly profileMs?: number
  readonly replyTimes?: ReplyTimes
  /** Where tokens of peers stand that the file names by their variables. */
  readonly env?: Readonly<Record<string, string | undefined>>
}

interface SessionParts extends Omit<TaskParts, 'waitMs' | 'beginning'> {
  readonly options: SessionOptions | undefined
  readonly remote: RemoteWork | undefined
  readonly authenticate: Authenticate
  readonly metrics: Metrics
  readonly tls?: Tls | undefined
}

export interface Session extends Service {
  readonly face: Face
}

const HOUR_MS = 3_600_000
const REPLY_TIMES: ReplyTimes = { baseMs: 5_000, capMs: HOUR_MS, endMs: 24 * HOUR_MS }
const WAIT_MS = 2_000

/** Throws BATON_PEERS_INVALID. */
export function createSession({ options = {}, remote, ...parts }: SessionParts): Session {
  const { waitMs = WAIT_MS, profileMs = HOUR_MS, replyTimes: times = REPLY_TIMES } = options
  const { pool, tenantPool, authenticate, logger } = parts
  const peers = openPeers(options.peersPath, { env: options.env ?? {}, authenticate })
  const profiles = createProfileCache(profileMs, (peer) => workers?.announced(peer))
  const caller = createPeerCaller(parts.metrics, parts.tls)
  const hosted = peers.all.filter(({ worksAs }) => worksAs !== null)
  const workers: Workers | undefined =
    remote === undefined || hosted.length === 0
      ? undefined
      : createWorkers({ pool, peers: hosted, profiles, caller, remote, logger })
  const replies = createReplies({ pool, peers, caller, times, logger })
  const services = peers.all.length === 0 ? [] : [replies, ...(workers ? [workers] : [])]
  const stopping = new AbortController()
  return {
    name: 'session',
    face: createSessionFace({ ...parts, peers, profiles, workers, waitMs, beginning: new Set() }),
    async start() {
      for (const service of services) await service.start()
      const told = peers.all.filter(({ sendsTo, url }) => sendsTo !== null && url !== null)
      for (const peer of told)
        void announceTo(peer, { tenantPool, caller, logger, signal: stopping.signal })
    },
    async stop() {
      stopping.abort()
      for (const service of services.toReversed()) await service.stop()
      caller.close()
    },
  }
}

interface Announcing {
  readonly tenantPool: Pool
  readonly caller: PeerCaller
  readonly logger: Logger
  readonly signal: AbortSignal
}

const ANNOUNCE_MS = 10_000
const OWN_CONTEXT = 'handshake:baton'

// At the start every orchestrator is told who works here (S02). Who does not hear it hears it with its first task.
async function announceTo(
  peer: KnownPeer,
  { tenantPool, caller, logger, signal }: Announcing,
): Promise<void> {
  try {
    const agentType = peer.sendsTo ?? ''
    const own = { agentType, contextId: OWN_CONTEXT, isFresh: true }
    const announce = await actFor(tenantOf(peer), () => ownAnnounce(tenantPool, own))
    await caller.call(peer, {
      messageId: crypto.randomUUID(),
      role: 'agent',
      contextId: OWN_CONTEXT,
      text: JSON.stringify(announce),
      timeoutMs: ANNOUNCE_MS,
      signal,
    })
  } catch (error) {
    if (!signal.aborted)
      logger.warn({ event: 'session.unannounced', peer: peer.name, code: codeOf(error) })
  }
}

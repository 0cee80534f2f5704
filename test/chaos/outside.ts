// Everybody outside a campaign's Baton: agents that pull or are called, peers of other protocols, and what Baton is told of them.
import { hash, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SeededRandom } from '@baton/testkit'
import { createApiChannel } from './channels.ts'
import type { FaceChannels } from './channels.ts'
import { createOutsideWork } from './outside-work.ts'
import type { OutsideOptions } from './outside-work.ts'
import { createPeerLedger } from './peer-ledger.ts'
import type { PeerServer } from './peer-server.ts'
import { startPullers } from './puller.ts'
import { createPushAgent } from './push-agent.ts'
import {
  createReplyTaker,
  createSessionChannel,
  createSessionWorker,
  ORCHESTRATOR,
  WORKER,
} from './session-peers.ts'
import { createSwarmChannel, startSwarmAgent } from './swarm-peers.ts'

const PATHS = { push: '/push', replies: '/replies', worker: '/worker' }
const TOKENS = { [ORCHESTRATOR]: 'token-of-the-orchestrator', [WORKER]: 'token-of-the-worker' }
/** Its answers hardly wait, so that most outcomes are told later. */
const ASKING = { contextsMax: 1_000, waitMs: 50 }
/** Who cannot say that it is still at it has this long. */
const SWARM_LEASE_MS = 3_000

interface SettingsOptions {
  readonly folder: string
  readonly server: PeerServer
  readonly swarmPort: number
  /** Of the key by which agents outside settle what they took over. */
  readonly operator: string
  readonly leaseMs: number
}

type Environment = Readonly<Record<string, string>>

/** What gateways and receivers are told of them, some of it in files of the folder. */
export function outsideSettings(
  options: SettingsOptions,
): Readonly<Record<'gateway' | 'receiver', Environment>> {
  const { folder, server, swarmPort, operator, leaseMs } = options
  const file = (name: string, content: object): string => {
    const path = join(folder, name)
    writeFileSync(path, JSON.stringify(content))
    return path
  }
  const pushed = { type: 'pushed', version: '1.0.0', requires: ['text'], operator, leaseMs }
  const url = server.urlOf(PATHS.push)
  const agents = [{ ...pushed, url, secretEnv: 'CHAOS_PUSH_SECRET', allowPrivate: true }]
  const peer = (name: keyof typeof TOKENS, path: string) => ({
    name,
    inboundSha256: hash('sha256', TOKENS[name]),
    url: server.urlOf(path),
    allowPrivate: true,
  })
  const peers = [
    { ...peer(ORCHESTRATOR, PATHS.replies), sendsTo: 'open', limits: ASKING },
    {
      ...peer(WORKER, PATHS.worker),
      worksAs: 'session-worker',
      limits: { tasksMax: 20, workMs: SWARM_LEASE_MS },
    },
  ]
  return {
    receiver: {
      BATON_PUSH_AGENTS: file('push-agents.json', { agents }),
      CHAOS_PUSH_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    },
    gateway: {
      BATON_PROFILES: file('profiles.json', { profiles: [{ id: 'driver' }, { id: 'open' }] }),
      BATON_PEERS: file('peers.json', { peers }),
      BATON_SESSION_REPLY_RETRY_MS: '100',
      BATON_SW4RM_PORT: String(swarmPort),
      BATON_SW4RM_LEASE_MS: String(SWARM_LEASE_MS),
    },
  }
}

interface StartOptions extends OutsideOptions {
  readonly server: PeerServer
  /** Of the SW4RM service, through its link. */
  readonly swarmAddress: string
  /** Who vouches for the gateway; in plain text without. */
  readonly authority: string | undefined
  readonly random: SeededRandom
}

export interface Outside {
  readonly channels: FaceChannels
  /** Takes nothing more; resolves when what was taken is settled or lost. */
  stop(): Promise<void>
}

export function startOutside(options: StartOptions): Outside {
  const { url, key, folder, server, swarmAddress: address, authority, random } = options
  const ledger = createPeerLedger(folder)
  const session = { url, tokens: TOKENS, ledger, random }
  const push = createPushAgent(createOutsideWork(options), random)
  const worker = createSessionWorker(session)
  const swarm = createSwarmChannel({ address, authority, key, ledger })
  server.serve(PATHS.push, push.handle)
  server.serve(PATHS.replies, createReplyTaker(session))
  server.serve(PATHS.worker, worker.handle)
  const agents = [
    startPullers(options),
    startSwarmAgent({ address, authority, key, ledger }),
    push,
    worker,
  ]
  return {
    channels: {
      api: createApiChannel(url, key),
      session: createSessionChannel(session),
      swarm,
    },
    async stop() {
      await Promise.all(agents.map((agent) => agent.stop()))
      swarm.close()
      await server.close()
    },
  }
}

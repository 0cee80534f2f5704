// Peers that speak SW4RM over gRPC: one that hands over, and an agent that asks what waits, accepts it and completes it.
import { status } from '@grpc/grpc-js'
import type { ServiceError } from '@grpc/grpc-js'
import { openClient } from '../integration/sw4rm-fixture.ts'
import type { Answered, SwarmClient } from '../integration/sw4rm-fixture.ts'
import type { Channel } from './channels.ts'
import { pause } from './fault.ts'
import type { PeerLedger } from './peer-ledger.ts'

const SWARM_AGENT = 'swarm-agent'

interface SwarmOptions {
  /** Of the gateway's port, through its link. */
  readonly address: string
  /** Who vouches for it; in plain text without. */
  readonly authority?: string | undefined
  readonly key: string
  readonly ledger: PeerLedger
}

type Call = (
  name: string,
  request: object,
  metadata?: Readonly<Record<string, string>>,
) => Promise<{ readonly answer: Answered } | { readonly code: status }>

const DEADLINE_MS = 4_000
/** After these the connection itself is doubted. */
const BROKEN: ReadonlySet<status> = new Set([status.UNAVAILABLE, status.DEADLINE_EXCEEDED])

/** Calls on a connection of their own; after it broke, on another one. */
function openCalls({ address, authority, key }: SwarmOptions): {
  readonly call: Call
  close(): void
} {
  let client: SwarmClient = openClient(address, { authority })
  return {
    async call(name, request, metadata = {}) {
      const own = client
      try {
        return { answer: await own.call(name, request, { key, metadata, deadlineMs: DEADLINE_MS }) }
      } catch (error) {
        const { code } = error as ServiceError
        if (BROKEN.has(code) && own === client) {
          client = openClient(address, { authority })
          own.close()
        }
        return { code }
      }
    },
    close: () => client.close(),
  }
}

/** After these nothing is stored. */
const FINAL: ReadonlySet<status> = new Set([
  status.INVALID_ARGUMENT,
  status.PERMISSION_DENIED,
  status.UNAUTHENTICATED,
  status.NOT_FOUND,
])

/** Hands over by RequestHandoff; that the request exists already says that it was taken. */
export function createSwarmChannel(options: SwarmOptions): Channel & { close(): void } {
  const { call, close } = openCalls(options)
  return {
    close,
    async send({ state, target }) {
      const request = {
        request_id: state.handoffId,
        from_agent: 'driver',
        to_agent: target,
        reason: 'the first step',
      }
      const told = await call('RequestHandoff', request, { traceparent: state.traceparent })
      if ('answer' in told || told.code === status.ALREADY_EXISTS) return { what: 'ok' }
      return { what: FINAL.has(told.code) ? 'fail' : 'info', code: status[told.code] }
    },
  }
}

const LOOPS = 2
const POLL_MS = 300
const WORK_MS = 50
const COMPLETE_TRIES = 20
const PAUSE_MS = 200

export interface SwarmAgent {
  /** Takes nothing more; resolves when what was taken is completed or lost. */
  stop(): Promise<void>
}

export function startSwarmAgent(options: SwarmOptions): SwarmAgent {
  const { ledger } = options
  const { call, close } = openCalls(options)
  let stopping = false

  async function take(handoffId: string): Promise<void> {
    // Accepting is no question that can be asked again: whose answer was lost waits until it is given anew.
    const accepted = await call('AcceptHandoff', { request_id: handoffId })
    if ('code' in accepted) return
    ledger.done({ what: 'given', handoffId })
    await pause(WORK_MS)
    ledger.done({ what: 'finished', handoffId })
    for (let tried = 0; tried < COMPLETE_TRIES; tried += 1) {
      const told = await call('CompleteHandoff', { request_id: handoffId, status: 'COMPLETED' })
      if ('answer' in told || told.code === status.FAILED_PRECONDITION) return
      await pause(PAUSE_MS)
    }
  }

  async function loop(): Promise<void> {
    while (!stopping) {
      const told = await call('GetPendingHandoffs', { agent_id: SWARM_AGENT })
      const pending = 'answer' in told ? told.answer['pending_requests'] : []
      const ids = (pending as readonly { request_id: string }[]).map((one) => one.request_id)
      await Promise.all(ids.map(take))
      await pause(POLL_MS)
    }
  }

  const loops = Array.from({ length: LOOPS }, loop)
  return {
    async stop() {
      stopping = true
      await Promise.all(loops)
      close()
    },
  }
}

// The ways a handoff is sent: SDK, HTTP gateway, the sender process, and those of somebody who means harm.
import { createHash, randomBytes } from 'node:crypto'
import { prepareHandoff } from '@baton/engine'
import { buildHandoffMessage } from '@baton/protocol'
import type { HandoffMessage, KeyRing } from '@baton/protocol'
import type { NewHandoff } from '@baton/store'
import { codeOf, kindOf } from '@baton/runtime'
import { createKeyRing, createSender } from '@baton/sdk'
import type { Sender } from '@baton/sdk'
import { createPool, sendHandoffs } from '@baton/store'
import type { Outcome } from './history.ts'
import type { Sending, Via } from './traffic.ts'

export interface Sent {
  readonly what: Outcome
  readonly code?: string
}

export interface Channel {
  /** Never rejects; sending the same again is the same request. */
  send(sending: Sending): Promise<Sent>
}

export interface Channels {
  of(via: Via): Channel
  /** Everything sent from now on is signed with the active key of this ring. */
  useKeys(keyRing: KeyRing): void
  close(): Promise<void>
}

interface ChannelOptions {
  readonly databaseUrl: string
  readonly keyRing: KeyRing
  readonly http: Channel
  readonly ndjson: Channel
  readonly faces: FaceChannels
}

/** By the protocols of others. */
export type FaceChannels = Readonly<Record<'api' | 'session' | 'swarm', Channel>>

const ATTEMPTS_MAX = 3

export function createChannels(options: ChannelOptions): Channels {
  const { databaseUrl } = options
  let keyRing = options.keyRing
  const own = { databaseUrl, attemptsMax: ATTEMPTS_MAX, sendsCritical: true }
  let sender = createSender({ ...own, keyRing })
  const retired: Sender[] = []
  const forger = createSender({
    databaseUrl,
    keyRing: forgedRing(keyRing.activeKeyId),
    connectionsMax: 1,
  })
  const pool = createPool({ url: databaseUrl, applicationName: 'scribbler', connectionsMax: 1 })
  const remembered = new Map<string, unknown>()
  const once = <Made>(sending: Sending, make: () => Made): Made => {
    const made = (remembered.get(sending.state.handoffId) as Made | undefined) ?? make()
    remembered.set(sending.state.handoffId, made)
    return made
  }
  const sendBy = async ({ state, target, constraints }: Sending, by: Sender) =>
    by.send(state, target, constraints)
  const channels: Readonly<Record<Via, Channel>> = {
    sdk: { send: (sending) => answered(() => sendBy(sending, sender)) },
    ...options.faces,
    http: options.http,
    ndjson: options.ndjson,
    forger: { send: (sending) => answered(() => sendBy(sending, forger)) },
    ready: {
      send: (sending) => {
        const message = once(sending, () => unfitMessage(sending))
        const ready = { message, addedCostMicroUSD: 0, checkpoint: {} }
        return answered(() => sender.sendMessage(ready))
      },
    },
    scribbler: {
      send: (sending) => {
        const handoff = once(sending, () => scribbled(sending, keyRing))
        return answered(() => sendHandoffs(pool, [handoff]))
      },
    },
  }
  return {
    of: (via) => channels[via],
    useKeys(next) {
      keyRing = next
      retired.push(sender)
      sender = createSender({ ...own, keyRing })
    },
    async close() {
      const senders = [sender, forger, ...retired]
      await Promise.allSettled([...senders.map((one) => one.close()), pool.end()])
    },
  }
}

/** What a sender makes of an answer: only a permanent error says that nothing was stored. */
export async function answered(work: () => Promise<unknown>): Promise<Sent> {
  try {
    await work()
    return { what: 'ok' }
  } catch (error) {
    return { what: kindOf(error) === 'permanent' ? 'fail' : 'info', code: codeOf(error) }
  }
}

/** A ring that names the key everybody knows and has another secret. */
const forgedRing = (id: string): KeyRing =>
  createKeyRing({ active: id, keys: [{ id, secret: randomBytes(32), status: 'active' }] })

/** Signed with the right key, but not a message of the schema. */
function unfitMessage({ state, target, constraints }: Sending): HandoffMessage {
  const { taskDescription: _, ...rest } = buildHandoffMessage(state, target, constraints)
  return rest as HandoffMessage
}

/** Bytes that are no JSON, under a signature that is not theirs. */
function scribbled({ state, target, constraints }: Sending, keyRing: KeyRing): NewHandoff {
  const request = { agentState: state, targetAgentType: target, constraints }
  const handoff = prepareHandoff(request, { keyRing, attemptsMax: ATTEMPTS_MAX })
  const body = Buffer.from(`{"handoffId":"${state.handoffId}",`)
  return { ...handoff, body, sha256: createHash('sha256').update(body).digest() }
}

const HTTP_MAX_MS = 8_000

/** Posts to the gateway with an Idempotency-Key, as an application in any language does. */
export const createHttpChannel = (url: string, apiKey: string): Channel => ({
  async send({ state, target, constraints }) {
    const body = { agentState: state, targetAgentType: target, constraints }
    const { status, code } = await post(new URL('/v2/handoffs', url), { apiKey, state, body })
    if (status === 202) return { what: 'ok' }
    return { what: isFinal(status, code) ? 'fail' : 'info', code }
  },
})

/** Posts to the Handoffs API, where the task is what both sides know it by. */
export const createApiChannel = (url: string, apiKey: string): Channel => ({
  async send({ state, target, constraints }) {
    const { status, code } = await post(new URL('/api/handoffs', url), {
      apiKey,
      state,
      body: {
        fromProfileId: 'driver',
        toProfileId: target,
        subject: state.taskDescription,
        body: 'something to work on',
        sourceTaskId: state.taskId,
        requiresApproval: constraints.requiresApproval ?? false,
      },
    })
    if (status === 201) return { what: 'ok' }
    return { what: status !== 409 && isFinal(status, code) ? 'fail' : 'info', code }
  },
})

interface Posting extends Pick<Sending, 'state'> {
  readonly apiKey: string
  readonly body: object
}

/** The status is 0 where there was no answer. */
async function post(url: URL, { apiKey, state, body }: Posting) {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${apiKey}`,
        'content-type': 'application/json',
        'idempotency-key': state.handoffId,
        traceparent: state.traceparent,
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(HTTP_MAX_MS),
    })
    const { code = String(response.status) } = (await response.json()) as { code?: string }
    return { status: response.status, code }
  } catch {
    return { status: 0, code: 'unanswered' }
  }
}

const isFinal = (status: number, code: string): boolean =>
  status > 0 && status < 500 && status !== 429 && code !== 'BATON_IDEMPOTENCY_KEY_RUNNING'

// One tenant's load over HTTP: at a fixed rate, or as fast as it is answered. Says at the end how much was taken and refused, by code.
import { constants, setPriority } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import { proseOf, stateOf } from './message.ts'

/** What a tenant sends. */
export interface TenantLoad {
  readonly url: string
  readonly key: string
  readonly tenant: string
  readonly seconds: number
  readonly bytes: number
  /** Agent types, in turn. */
  readonly types: readonly string[]
  /** Sends per second; as many as `atOnce` senders can where it is left out. */
  readonly ratePerSecond?: number
  readonly atOnce?: number
  /** Whether its processor time is given to whoever else wants any: a client is on another machine. */
  readonly elsewhere?: boolean
}

const load = JSON.parse(process.argv[2] ?? '{}') as TenantLoad
const { url, key, tenant, bytes, types, ratePerSecond, atOnce = 32, elsewhere = false } = load
if (elsewhere) setPriority(constants.priority.PRIORITY_LOW)
/** One text of a message may be no longer than 256 Ki characters: a large message has several. */
const TEXT_BYTES = 200_000
const TASK = 'the task of this send'

/** Written before the clock runs; each send gets a task of its own. */
const bodies = types.map((targetAgentType, seed) => {
  const state = stateOf(Math.min(bytes, TEXT_BYTES), seed + 1)
  const more = Array.from({ length: Math.floor(bytes / TEXT_BYTES) - 1 }, (_, nth) =>
    proseOf(TEXT_BYTES, seed + nth),
  )
  const agent = { agentId: `${tenant}/bench`, agentVersion: '1.0.0' }
  const currentState = { ...state.currentState, more }
  return JSON.stringify({
    agentState: { ...state, agent, currentState, taskId: TASK },
    targetAgentType,
  })
})
const answers: Record<string, number> = {}
let sent = 0

async function send(): Promise<void> {
  const body = bodies[sent % bodies.length]?.replace(TASK, crypto.randomUUID()) ?? ''
  sent += 1
  let answer = 'lost'
  try {
    const response = await fetch(`${url}/v2/handoffs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body,
    })
    const { code } = (await response.json()) as { code?: string }
    answer = code ?? String(response.status)
  } catch {
    // Whose connection was closed is counted as lost.
  }
  answers[answer] = (answers[answer] ?? 0) + 1
}

async function atRate(perSecond: number, until: number): Promise<void> {
  const underWay: Promise<void>[] = []
  const startedAt = performance.now()
  while (performance.now() < until) {
    underWay.push(send())
    const due = startedAt + (underWay.length * 1_000) / perSecond
    await setTimeout(Math.max(0, due - performance.now()))
  }
  await Promise.all(underWay)
}

async function asFastAsAnswered(until: number): Promise<void> {
  const one = async (): Promise<void> => {
    while (performance.now() < until) await send()
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

const until = performance.now() + load.seconds * 1_000
await (ratePerSecond === undefined ? asFastAsAnswered(until) : atRate(ratePerSecond, until))
process.stdout.write(`${JSON.stringify(answers)}\n`)

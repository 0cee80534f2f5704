// The agent that is called over HTTP: it answers at once or takes the work over; sometimes it is overloaded, or breaks the call off.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { SeededRandom } from '@baton/testkit'
import { bodyOf } from './peer-server.ts'
import type { Execution, OutsideWork } from './outside-work.ts'

/** Of first calls for a handoff only, so that what must complete has attempts left. */
const OVERLOADED_SHARE = 0.08
const BROKEN_OFF_SHARE = 0.05
const TAKEN_SHARE = 0.3

interface PushAgent {
  handle(request: IncomingMessage, response: ServerResponse): Promise<void>
  /** Resolves once nothing that it took over is under way. */
  stop(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly outcome?: object | undefined
}

export function createPushAgent(work: OutsideWork, random: SeededRandom): PushAgent {
  const known = new Set<string>()
  /** By the id of the call: one that was cut off may come again under it, and is answered as the first. */
  const answers = new Map<string, Promise<Answer>>()
  const taken = new Set<Promise<void>>()

  async function perform(execution: Execution, fate: number, gone: AbortSignal): Promise<Answer> {
    if (fate < OVERLOADED_SHARE) return { status: 503 }
    if (fate > 1 - TAKEN_SHARE) {
      const working = work.execute('pushed', execution).finally(() => taken.delete(working))
      taken.add(working)
      return { status: 202 }
    }
    const outcome = await work.answer('pushed', execution, gone)
    return { status: outcome === undefined ? 503 : 200, outcome }
  }

  return {
    async handle(request, response) {
      const gone = new AbortController()
      response.once('close', () => gone.abort())
      const id = String(request.headers['webhook-id'])
      const execution = JSON.parse(await bodyOf(request)) as Execution
      const isFirst = !known.has(execution.handoffId)
      known.add(execution.handoffId)
      const fate = isFirst ? random.next() : OVERLOADED_SHARE + random.next() / 2
      const answering = answers.get(id) ?? perform(execution, fate, gone.signal)
      answers.set(id, answering)
      const { status, outcome } = await answering
      const breaksOff = fate < OVERLOADED_SHARE + BROKEN_OFF_SHARE
      if (isFirst && status === 200 && breaksOff) return void request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(outcome === undefined ? undefined : JSON.stringify(outcome))
    },
    async stop() {
      await Promise.all(taken)
    },
  }
}

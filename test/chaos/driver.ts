// Sends at a steady rate whatever happens, repeats what is unknown, and writes down every attempt.
import type { SeededRandom } from '@baton/testkit'
import type { Channels } from './channels.ts'
import type { History } from './history.ts'
import { drawSending } from './traffic.ts'
import type { Sending } from './traffic.ts'
import { createHash } from 'node:crypto'

export interface Driver {
  /** Sends until `stop`; resolves when the last answer is in. */
  run(): Promise<void>
  stop(): void
  stopped(): boolean
  /** Multiplies the rate for a while. */
  burst(factor: number, forMs: number): void
  send(sending: Sending): Promise<void>
}

interface DriverOptions {
  readonly channels: Pick<Channels, 'of'>
  readonly history: History
  readonly random: SeededRandom
  readonly ratePerSecond: number
  /** What is sent; by default everything a campaign knows. */
  readonly draw?: (random: SeededRandom) => Sending
}

const STEP_MS = 25
const RETRY_BASE_MS = 150
const RETRY_CAP_MS = 2_000
/** After the end of the traffic nothing is repeated for longer than this. */
const PATIENCE_MS = 12_000
/** Of those whose answer is unknown, this share is never asked again. */
const GIVE_UP_SHARE = 0.2
const DUPLICATE_SHARE = 0.06
const COPIES_MAX = 9

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

export function createDriver(options: DriverOptions): Driver {
  const { channels, history, random, ratePerSecond, draw = drawSending } = options
  const underWay = new Set<Promise<void>>()
  let stoppedAt = Infinity
  let factor = 1

  async function attempt(sending: Sending, number: number): Promise<boolean> {
    const { state, kind, via, expect } = sending
    const { handoffId, taskId } = state
    history.record({
      what: 'invoke',
      at: Date.now(),
      handoffId,
      attempt: number,
      taskId,
      traceId: state.traceparent.split('-')[1] ?? '',
      kind,
      via,
      expect,
      ...(via === 'sdk' || via === 'ndjson' ? { askedSha256: askedDigest(sending) } : {}),
    })
    const sent = await channels.of(via).send(sending)
    history.record({ ...sent, at: Date.now(), handoffId, attempt: number })
    return sent.what !== 'info'
  }

  async function sendOne(sending: Sending, fate: { givesUp: boolean; copies: number }) {
    const copies = Array.from({ length: fate.copies }, (_, copy) => attempt(sending, copy + 2))
    let settled = await attempt(sending, 1)
    for (let tried = 2 + fate.copies; !settled && !fate.givesUp; tried += 1) {
      if (performance.now() - stoppedAt > PATIENCE_MS) break
      await pause(Math.min(RETRY_CAP_MS, RETRY_BASE_MS * 2 ** (tried - fate.copies - 2)))
      settled = await attempt(sending, tried)
    }
    await Promise.all(copies)
  }

  function begin(): void {
    const sending = draw(random)
    const givesUp = random.next() < GIVE_UP_SHARE
    const copies = random.next() < DUPLICATE_SHARE ? random.integer(1, COPIES_MAX) : 0
    track(sendOne(sending, { givesUp, copies }))
  }

  function track(sending: Promise<void>): void {
    underWay.add(sending)
    void sending.finally(() => underWay.delete(sending))
  }

  return {
    async run() {
      let owed = 0
      let last = performance.now()
      while (stoppedAt === Infinity) {
        await pause(STEP_MS)
        const now = performance.now()
        owed += ((now - last) / 1_000) * ratePerSecond * factor
        last = now
        for (; owed >= 1; owed -= 1) begin()
      }
      while (underWay.size > 0) await Promise.all(underWay)
    },
    stop: () => void (stoppedAt = performance.now()),
    stopped: () => stoppedAt < Infinity,
    burst(times, forMs) {
      factor = times
      setTimeout(() => (factor = 1), forMs).unref()
    },
    async send(sending) {
      const sent = sendOne(sending, { givesUp: false, copies: 0 })
      track(sent)
      await sent
    },
  }
}

/** The digest of a request as it must stand in the sender's checkpoint, word for word. */
const askedDigest = ({ state, target, constraints }: Sending): string =>
  createHash('sha256')
    .update(JSON.stringify({ agentState: state, targetAgentType: target, constraints }))
    .digest('hex')

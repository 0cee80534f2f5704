// A load that goes on whatever happens, by SDK and by HTTP, and remembers when each send was confirmed and each execution began.
import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { codeOf } from '@baton/runtime'
import type { AgentState, Sender } from '@baton/sdk'
import { newTask } from '../fault/driver.ts'
import { createHttpChannel } from './channels.ts'
import type { Sending } from './traffic.ts'

/** One send, repeated with the same ids until it was confirmed; times in milliseconds since the epoch. */
export interface Confirmed {
  readonly handoffId: string
  readonly begunAtMs: number
  readonly confirmedAtMs: number
}

export interface TopologyLoad {
  readonly confirmed: readonly Confirmed[]
  /** How often each code was answered before the send was confirmed. */
  readonly failures: ReadonlyMap<string, number>
  /** Sends no more and waits until everything sent is confirmed. */
  stop(): Promise<void>
}

interface LoadOptions {
  readonly driver: Sender
  /** Of gateways that do the same; a caller goes to the next one when one does not answer. */
  readonly gatewayUrls: readonly string[]
  readonly apiKey: string
  readonly ratePerSecond: number
}

const REPEAT_AFTER_MS = 250

export function startTopologyLoad(options: LoadOptions): TopologyLoad {
  const { driver, gatewayUrls, apiKey, ratePerSecond } = options
  const gateways = gatewayUrls.map((url) => createHttpChannel(url, apiKey))
  const confirmed: Confirmed[] = []
  const failures = new Map<string, number>()
  const underWay = new Set<Promise<void>>()
  let sends = 0

  /** Answers the code of what went wrong, and undefined once it is confirmed. */
  async function sendOnce(task: AgentState, way: number): Promise<string | undefined> {
    const gateway = gateways[way % (gateways.length + 1)]
    if (gateway === undefined)
      return await driver.send(task, 'first').then(
        (): string | undefined => undefined,
        (error: unknown) => codeOf(error),
      )
    const sending = { state: task, target: 'first', constraints: {} }
    const { what, code } = await gateway.send(sending as Sending)
    return what === 'ok' ? undefined : (code ?? what)
  }

  async function sendUntilConfirmed(way: number): Promise<void> {
    const handoffId = randomUUID()
    const task = { ...newTask(), handoffId }
    const begunAtMs = Date.now()
    for (let attempt = 0; ; attempt += 1) {
      const failed = await sendOnce(task, way + attempt)
      if (failed === undefined) break
      failures.set(failed, (failures.get(failed) ?? 0) + 1)
      await delay(REPEAT_AFTER_MS)
    }
    confirmed.push({ handoffId, begunAtMs, confirmedAtMs: Date.now() })
  }

  const timer = setInterval(() => {
    const sending = sendUntilConfirmed((sends += 1)).finally(() => underWay.delete(sending))
    underWay.add(sending)
  }, 1_000 / ratePerSecond)
  return {
    confirmed,
    failures,
    async stop() {
      clearInterval(timer)
      await Promise.all(underWay)
    },
  }
}

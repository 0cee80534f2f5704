// The load of a ledger campaign: handoffs through the SDK, and an appender that keeps every receipt it is given.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { randomUUID } from 'node:crypto'
import { createAuditClient } from '@baton/audit/client'
import type { AuditClient } from '@baton/audit/client'
import type { AuditEntry } from '@baton/ledger'
import { entryOf } from '@baton/ledger/fixtures/entry'
import { kindOf } from '@baton/runtime'
import { createSender, parseSigningKeys } from '@baton/sdk'
import { randomFrom } from '@baton/testkit'
import type { SeededRandom } from '@baton/testkit'
import { answered } from './channels.ts'
import { createDriver } from './driver.ts'
import { pause } from './fault.ts'
import { createHistory } from './history.ts'
import type { AcknowledgedAppend } from './ledger-evidence.ts'
import type { LedgerWorld } from './ledger-world.ts'
import { drawCompleting } from './ledger-traffic.ts'

export const HISTORY = 'history.jsonl'
export const RECEIPTS = 'receipts.jsonl'
/** The handoff ids of everything that was ever offered to the log directly. */
export const OFFERED = 'offered.jsonl'

interface Load {
  /** When the newest of the appends began that were acknowledged, in milliseconds since 1970. */
  lastAcknowledged(): number
  /** Ends it and waits for the last answers. */
  stop(): Promise<void>
}

interface LoadOptions {
  readonly world: LedgerWorld
  readonly seed: number
  readonly handoffsPerSecond: number
  readonly appendsPerSecond: number
}

const APPENDER_STREAM = 104_729
const ATTEMPTS_MAX = 5
const APPEND_MS = 2_000

export function startLoad({ world, seed, ...rates }: LoadOptions): Load {
  const { system, folder } = world
  const keyRing = parseSigningKeys(system.env['BATON_SIGNING_KEYS'] ?? '')
  const sender = createSender({
    databaseUrl: system.databaseUrl,
    keyRing,
    attemptsMax: ATTEMPTS_MAX,
  })
  const sdk = {
    send: ({ state, target, constraints }: ReturnType<typeof drawCompleting>) =>
      answered(() => sender.send(state, target, constraints)),
  }
  const driver = createDriver({
    channels: { of: () => sdk },
    history: createHistory(join(folder, HISTORY)),
    random: randomFrom(seed),
    ratePerSecond: rates.handoffsPerSecond,
    draw: drawCompleting,
  })
  const client = createAuditClient({
    url: system.auditorUrl,
    token: system.tokens.append,
    timeoutMs: APPEND_MS,
  })
  const appender = startAppender({
    client,
    folder,
    random: randomFrom(seed + APPENDER_STREAM),
    perSecond: rates.appendsPerSecond,
  })
  const sending = driver.run()
  return {
    lastAcknowledged: () => appender.lastAcknowledged(),
    async stop() {
      driver.stop()
      await Promise.all([sending, appender.stop()])
      await sender.close()
      client.close()
    },
  }
}

interface AppenderOptions {
  readonly client: Pick<AuditClient, 'append'>
  /** Receipts go here before they count, and before that what is offered. */
  readonly folder: string
  readonly random: SeededRandom
  readonly perSecond: number
}

const BATCH_MAX = 8
/** Batches that wait for an answer; no more are begun while nothing answers. */
const UNDER_WAY_MAX = 48
const RETRY_MS = { min: 50, max: 300 }
/** Of those that are acknowledged, this share is appended once more: the first receipt must come again. */
const AGAIN_SHARE = 0.1
/** After the end nothing is tried for longer than this. */
const PATIENCE_MS = 60_000

/** Appends records of tasks of their own; what is not answered is asked again until it is. */
function startAppender({ client, folder, random, perSecond }: AppenderOptions): Load {
  const underWay = new Set<Promise<void>>()
  let stoppedAt = Infinity
  let acknowledged = 0

  async function appendOnce(entries: readonly AuditEntry[]): Promise<boolean> {
    const begunAt = Date.now()
    try {
      const receipts = await client.append(entries)
      const at = Date.now()
      const lines = entries.map(({ handoffId, epoch }, index): AcknowledgedAppend => {
        const { origin, seq, recordHash } = receipts[index] ?? NO_RECEIPT
        return { handoffId, epoch, origin, seq, recordHash, begunAt, at }
      })
      writeLines(join(folder, RECEIPTS), lines)
      acknowledged = Math.max(acknowledged, begunAt)
      return true
    } catch (error) {
      // The log refuses for good only what is wrong, and nothing here is.
      if (kindOf(error) === 'permanent') throw error
      return false
    }
  }

  async function append(entries: readonly AuditEntry[], again: boolean): Promise<void> {
    while (!(await appendOnce(entries))) {
      if (performance.now() - stoppedAt > PATIENCE_MS) return
      await pause(random.integer(RETRY_MS.min, RETRY_MS.max))
    }
    if (again) await append(entries, false)
  }

  async function run(): Promise<void> {
    while (stoppedAt === Infinity) {
      if (underWay.size >= UNDER_WAY_MAX) {
        await Promise.race(underWay)
        continue
      }
      const count = random.integer(1, BATCH_MAX)
      const entries = Array.from({ length: count }, () => entryOf({ taskId: randomUUID() }))
      writeLines(
        join(folder, OFFERED),
        entries.map(({ handoffId }) => handoffId),
      )
      const appending = append(entries, random.next() < AGAIN_SHARE)
      underWay.add(appending)
      // One that was refused stays, and fails the campaign in the end.
      appending.then(
        () => underWay.delete(appending),
        () => undefined,
      )
      await pause((1_000 * count) / perSecond)
    }
    while (underWay.size > 0) await Promise.all(underWay)
  }

  const running = run()
  // A refusal is told by `stop`.
  running.catch(() => undefined)
  return {
    lastAcknowledged: () => acknowledged,
    async stop() {
      stoppedAt = performance.now()
      await running
    },
  }
}

const writeLines = (file: string, lines: readonly unknown[]): void =>
  appendFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))

/** An answer without a receipt stands nowhere in the log, so the checker names it. */
const NO_RECEIPT = { origin: 'no receipt', seq: -1, recordHash: '' }

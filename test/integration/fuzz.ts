// What every campaign of arbitrary inputs holds a face to, beside what that face itself answers: in time, in bounded memory, no text in a log.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { expect } from 'vitest'
import { createLogger } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { Pool } from '@baton/store'

/** How many inputs; few in the gate, 50,000 as a command. */
export const fuzzRuns = (inGate: number): number => Number(process.env['BATON_TEST_FUZZ'] ?? inGate)

/** The same inputs with every change, so that what a face is to answer at least once is asked; a campaign finds new ones. */
const SEED = process.env['BATON_TEST_FUZZ'] === undefined ? { seed: 20_261_122 } : {}

/** How long a test of so many inputs may take. */
export const fuzzMs = (runs: number): number => 60_000 + runs * 60

/** Stands in every text that is sent, and may not stand in a log. */
const CANARY = 'zqxcanary'

export const canaryText = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('', '\0', '\ud800', '__proto__', '../..', '%00', "'; drop table handoff; --"),
  )
  .map((words) => `${CANARY}${words}`)

/** An input that is not answered by then hangs. */
const ANSWER_MAX_MS = 5_000
/** What may be left of any number of inputs. */
const LEFT_MAX_BYTES = 64 * 1_048_576

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

function bytesInUse(): number {
  collectGarbage()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

interface Campaign<Input> {
  readonly inputs: fc.Arbitrary<Input>
  readonly runs: number
  readonly pool: Pool
  readonly log: WatchedLog
  /** Asks the face, and expects what it promises of any answer. */
  ask(input: Input): Promise<void>
}

/** For a face in this process: none of the inputs hangs, piles up memory, fails or leaves its text in the log. */
export async function holdsAgainst<Input>(campaign: Campaign<Input>): Promise<void> {
  const { log, ...asking } = campaign
  const before = bytesInUse()
  await askAll(asking)
  expect(bytesInUse() - before).toBeLessThan(LEFT_MAX_BYTES)
  expect(log.linesSeen()).toBeGreaterThan(0)
  expect(log.told()).toEqual([])
}

/** For a face in another process, whose memory is bounded from outside. */
export async function askAll<Input>(campaign: Omit<Campaign<Input>, 'log'>): Promise<void> {
  const { inputs, runs, pool, ask } = campaign
  let asked = 0
  const property = fc.asyncProperty(inputs, async (input) => {
    if ((asked += 1) % LETTING_GO_EVERY === 0) await letGo(pool)
    await ask(input)
  })
  await fc.assert(property, { numRuns: runs, timeout: ANSWER_MAX_MS, ...SEED })
}

const LETTING_GO_EVERY = 500

// Nobody works on what was taken; without this a campaign would soon meet nothing but refusals for want of room.
async function letGo(pool: Pool): Promise<void> {
  await pool.query({ text: 'delete from outbox' })
  const told = 'update session_reply set told_at = clock_timestamp() where told_at is null'
  await pool.query({ text: told })
}

export interface WatchedLog {
  readonly logger: Logger
  linesSeen(): number
  /** The lines that may not be there. */
  told(): readonly string[]
}

/** What a log may not have: text of any message, or a failure of the service itself. */
const UNWANTED = [CANARY, 'http.failed', 'grpc.failed', 'BATON_INTERNAL']

const isUnwanted = (log: string): boolean => UNWANTED.some((words) => log.includes(words))

/** A log that keeps nothing but what may not be there. */
export function watchLog(): WatchedLog {
  const told: string[] = []
  let linesSeen = 0
  const write = (line: string): void => {
    linesSeen += 1
    if (isUnwanted(line)) told.push(line)
  }
  const logger = createLogger({ service: 'gateway', level: 'debug', destination: { write } })
  return { logger, linesSeen: () => linesSeen, told: () => told }
}

/** The lines of a log that may not be there. */
export const unwantedIn = (log: string): readonly string[] => log.split('\n').filter(isUnwanted)

// Whether a scanner with another model may take the place of the running one: it knows the golden vectors, and is not much slower.
import { setImmediate as othersFirst } from 'node:timers/promises'
import { MODEL_ATTACKS, ORDINARY, PLAIN_ATTACKS } from './golden-vectors.ts'
import type { SafetyVerdict, Scanner } from './verdict.ts'

/** The best of many times counts, and of this thread alone, so that a busy machine decides nothing. */
const TIMED_RUNS_MAX = 25
const SLOWER_MAX = 2
const SPARE_MS = 1
const TIMED_CHARACTERS = 4_096

/**
 * What is wrong with a candidate, in words without a text of anybody; undefined where nothing is. It scans some fifty short texts, and whatever
 * else waits in the process goes on between them.
 */
export async function scannerFault(
  candidate: Scanner,
  running: Scanner,
  now: () => number = threadMs,
): Promise<string | undefined> {
  return (await vectorFault(candidate)) ?? latencyFault(candidate, running, now)
}

function threadMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1_000
}

async function vectorFault({ scan }: Scanner): Promise<string | undefined> {
  const verdictOn = (text: string): SafetyVerdict => scan({ currentState: { note: text } })
  const unknown = await failing(MODEL_ATTACKS, (text) => isModels(verdictOn(text)))
  if (unknown !== undefined) return `its model does not know ${unknown} attacks that it must know`
  const missed = await failing(PLAIN_ATTACKS, (text) => verdictOn(text).decision === 'reject')
  if (missed !== undefined) return `it lets ${missed} attacks pass that it must reject`
  const stopped = await failing(ORDINARY, (text) => verdictOn(text).decision === 'allow')
  return stopped && `it does not allow ${stopped} ordinary texts`
}

const isModels = ({ decision, findings }: SafetyVerdict): boolean =>
  decision !== 'allow' && findings.some(({ ruleId }) => ruleId === 'model')

async function failing(
  texts: readonly string[],
  isRight: (text: string) => boolean,
): Promise<string | undefined> {
  let wrong = 0
  for (const text of texts) {
    if (!isRight(text)) wrong += 1
    await othersFirst()
  }
  return wrong === 0 ? undefined : `${wrong} of ${texts.length}`
}

async function latencyFault(
  candidate: Scanner,
  running: Scanner,
  now: () => number,
): Promise<string | undefined> {
  const text = [...ORDINARY, ...MODEL_ATTACKS].join('\n').repeat(2).slice(0, TIMED_CHARACTERS)
  const message = { currentState: { note: text } }
  const best = { candidate: Infinity, running: Infinity }
  const timed = ({ scan }: Scanner): number => {
    const before = now()
    scan(message)
    return now() - before
  }
  for (let run = 0; run < TIMED_RUNS_MAX; run++) {
    best.running = Math.min(best.running, timed(running))
    best.candidate = Math.min(best.candidate, timed(candidate))
    if (best.candidate <= best.running * SLOWER_MAX + SPARE_MS) return undefined
    await othersFirst()
  }
  return `it takes ${best.candidate.toFixed(1)} ms for 4 KiB where the running one takes ${best.running.toFixed(1)} ms`
}

// Disguises attacks in one disguise after another, drawn at random, and counts what the scanner makes of them.
import { parentPort, workerData } from 'node:worker_threads'
import { createScanner, prepareScanner } from '@baton/safety'
import { DISGUISES } from '@baton/safety/fixtures/disguises'
import { randomFrom } from '@baton/testkit'

export interface MutantPlan {
  readonly attacks: readonly string[]
  readonly seed: number
  readonly depth: number
  /** This worker makes every mutant `first + n * step` below `mutants`. */
  readonly mutants: number
  readonly first: number
  readonly step: number
}

export interface MutantCounts {
  made: number
  rejected: number
  flagged: number
  /** Allowed although something was left unread. */
  allowedUnread: number
}

export interface MutantReport {
  readonly byDepth: MutantCounts[]
  /** By the disguises in their order, the innermost first. */
  readonly byDisguises: Map<string, MutantCounts>
  /** Some that were allowed, by their disguises. */
  readonly slipped: Map<string, string>
}

/** Told after each of so many mutants. */
const PROGRESS = 500
const BEFORE = 'Room 12 was painted in May. '
const AFTER = ' The invoice is attached.'

const INNERMOST = Object.keys(DISGUISES)
const AROUND = INNERMOST.filter((name) => DISGUISES[name]?.wordsOnly !== true)

export const noCounts = (): MutantCounts => ({
  made: 0,
  rejected: 0,
  flagged: 0,
  allowedUnread: 0,
})

async function makeMutants({
  attacks,
  seed,
  depth,
  mutants,
  first,
  step,
}: MutantPlan): Promise<MutantReport> {
  await prepareScanner()
  const { scan } = createScanner()
  const byDepth = Array.from({ length: depth }, noCounts)
  const byDisguises = new Map<string, MutantCounts>()
  const slipped = new Map<string, string>()
  let done = 0
  for (let index = first; index < mutants; index += step) {
    const random = randomFrom(seed + index)
    const names = Array.from({ length: 1 + (index % depth) }, (_, at) =>
      random.pick(at === 0 ? INNERMOST : AROUND),
    )
    const disguised = names.reduce(
      (text, name) => DISGUISES[name]?.encode(text) ?? text,
      random.pick(attacks),
    )
    const text = BEFORE + disguised + AFTER
    const verdict = scan({ currentState: { note: text } })
    const path = names.join(' > ')
    const counts = byDisguises.get(path) ?? noCounts()
    byDisguises.set(path, counts)
    for (const one of [byDepth[names.length - 1] ?? counts, counts]) {
      one.made += 1
      if (verdict.decision === 'reject') one.rejected += 1
      else if (verdict.decision === 'flag') one.flagged += 1
      else if (verdict.incomplete) one.allowedUnread += 1
    }
    if (verdict.decision === 'allow') slipped.set(path, text)
    if (++done % PROGRESS === 0) parentPort?.postMessage(PROGRESS)
  }
  return { byDepth, byDisguises, slipped }
}

parentPort?.postMessage(await makeMutants(workerData as MutantPlan))

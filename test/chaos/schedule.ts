// The plan of one seed: which fault when, where and how strong. The same seed always gives the same plan.
import { randomFrom } from '@baton/testkit'
import type { SeededRandom } from '@baton/testkit'
import { FAULT_KINDS } from './all-faults.ts'
import type { Fault, FaultKind } from './fault.ts'

export interface Plan {
  readonly seed: number
  readonly seconds: number
  readonly faults: readonly Fault[]
}

/** Nothing goes wrong before this, so that there is a system to disturb. */
const CALM_MS = 1_500
/** The last faults begin this long before the traffic ends. */
const TAIL_MS = 3_000
/** A longer seed ends in a quiet in which one receiver is overtaken, with nothing else to excuse what it does then. */
const UNDELIVERED_MS = 12_000
/** What came before has healed by then. */
const HEALED_MS = 3_500
const QUIET_FROM_SECONDS = 30
const OVERTAKEN = 'process.overtaken'
const FAULTS_PER_SECOND = 0.95

/** In every plan, so that no seed leaves out what the promises are about; the rest is drawn. */
const ALWAYS: readonly string[] = [
  'process.kill.receiver',
  'process.kill.receiver',
  'process.kill.relay',
  'process.stop',
  'process.stop',
  'redis.flushall',
  'redis.kill',
  'clock.jump-and-kill',
  'network.reset-in-answer',
  'postgres.terminate-storm',
  'traffic.replayed-jobs',
  'operations.cancel',
  'operations.release',
  'operations.correct-returns',
]

/** Draws a plan; the times of its faults lie within the traffic of `seconds`. */
export function planOf(seed: number, seconds: number): Plan {
  const random = randomFrom(seed)
  const count = Math.max(ALWAYS.length, Math.round(seconds * FAULTS_PER_SECOND))
  const always = ALWAYS.map((kind) => kindOf(kind))
  const drawn = Array.from({ length: count - always.length }, () => drawKind(random))
  const long = seconds >= QUIET_FROM_SECONDS
  const lastMs = seconds * 1_000 - (long ? UNDELIVERED_MS : TAIL_MS)
  const faults = [...always, ...drawn].map((kind) => draw(kind, { random, lastMs }))
  if (long)
    faults.push({ ...draw(kindOf(OVERTAKEN), { random, lastMs }), atMs: lastMs + HEALED_MS })
  return { seed, seconds, faults: faults.toSorted((one, other) => one.atMs - other.atMs) }
}

function draw(
  kind: FaultKind,
  { random, lastMs }: { readonly random: SeededRandom; readonly lastMs: number },
): Fault {
  const { latest = 1 } = kind
  return {
    atMs: random.integer(CALM_MS, Math.max(CALM_MS + 1, Math.round(lastMs * latest))),
    kind: kind.kind,
    target: random.pick(kind.targets),
    parameters: kind.draw(random),
  }
}

const TOTAL = FAULT_KINDS.reduce((sum, { weight }) => sum + weight, 0)

function drawKind(random: SeededRandom): FaultKind {
  let left = random.next() * TOTAL
  return FAULT_KINDS.find(({ weight }) => (left -= weight) < 0) ?? kindOf('redis.flushall')
}

/** The kind of that name. Throws where there is none. */
export function kindOf(name: string): FaultKind {
  const kind = FAULT_KINDS.find((one) => one.kind === name)
  if (kind === undefined) throw new Error(`there is no fault ${name}`)
  return kind
}

/** One line for each fault, as it is printed before a seed runs. */
export function describePlan({ faults }: Plan): string {
  return faults
    .map(({ atMs, kind, target, parameters }) => {
      const drawn = Object.entries(parameters).map(([name, value]) => `${name}=${value}`)
      const at = (atMs / 1_000).toFixed(2).padStart(6)
      return `  ${at} s  ${kind.padEnd(28)} ${target.padEnd(18)} ${drawn.join(' ')}`.trimEnd()
    })
    .join('\n')
}

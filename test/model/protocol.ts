// The delivery protocol as a whole: who may move, what must hold in every state, and when everything is settled.
import type { Decisions } from './decisions.ts'
import { jobMoves, relayMoves } from './moves-queue.ts'
import { timeMoves } from './moves-time.ts'
import { workerMoves } from './moves-worker.ts'
import { bytesOf, pack, unpack } from './pack.ts'
import type { Emit, Kind, Protocol } from './search.ts'
import { isEnded } from './statements.ts'
import type { Rules } from './statements.ts'
import { beginning, copyOf } from './world.ts'
import type { Flaw, Handoff, Size, World } from './world.ts'

/** Which choices and how many tries there are: what keeps the states countable. */
export interface Bounds {
  readonly decisions: Decisions
  readonly attemptsMax: number
  /** What each handoff may have wrong with it. */
  readonly flaws: readonly (readonly Flaw[])[]
  readonly approvals: boolean
  readonly deadlines: boolean
  readonly cancels: boolean
}

/** A number of faults that never runs out. */
export const ANY_FAULTS = 255

/** Emits a copy of the state that `change` has changed; it may answer which promise that breaks. */
export type Move = (
  kind: Kind,
  label: string,
  change: (next: World) => string | undefined | void,
) => void

export const ALL_RULES: Rules = {
  fence: true,
  sweeper: true,
  auditFirst: true,
  publishBeforeDelete: true,
  publishAttemptInJobId: true,
  heartbeatByFencingToken: true,
  releaseOnce: true,
}

export function protocolOf(size: Size, bounds: Bounds, rules: Rules): Protocol<World> {
  return {
    width: bytesOf(size),
    first: beginning(size),
    pack,
    unpack: (bytes) => unpack(bytes, size),
    moves(world: World, emit: Emit<World>) {
      const move: Move = (kind, label, change) => {
        if (kind === 'fault' && world.faults === 0) return
        const next = copyOf(world)
        if (kind === 'fault' && world.faults !== ANY_FAULTS) next.faults -= 1
        const wrong = change(next) ?? brokenIn(next, bounds)
        emit({ kind, label, next, wrong: wrong ?? undefined })
      }
      relayMoves(world, rules, move)
      jobMoves(world, move)
      workerMoves(world, { rules, bounds, move })
      timeMoves(world, { rules, bounds, move })
    },
    settled: isSettled,
  }
}

/** What must hold in every state. */
function brokenIn(world: World, bounds: Bounds): string | undefined {
  for (const one of world.handoffs) {
    const broken = brokenBy(one, bounds)
    if (broken !== undefined) return broken
  }
  for (const { step, on, decided } of world.workers) {
    if (step !== 'running' && step !== 'result') continue
    if (!decided) return 'I3: executes without an earlier decision record of its fencing token'
    if (world.handoffs[on]?.flaw === 'BUDGET_EXHAUSTED') return 'I6: what was rejected executes'
  }
  return undefined
}

function brokenBy(one: Handoff, bounds: Bounds): string | undefined {
  if (one.effects > 1) return 'I4: two effects committed'
  if ((one.state === 'COMPLETED') !== (one.effects === 1)) {
    return `I2: ${one.effects} effects, yet ${one.state}`
  }
  if (one.effects > 0 && one.flaw === 'SCHEMA_INVALID') return 'I6: what was rejected committed'
  if (one.attempt > bounds.attemptsMax) return 'I12: more attempts than allowed'
  if (isEnded(one) && (one.status === 'CLAIMED' || one.status === 'EXECUTING')) {
    return 'I2: ended, and still being executed'
  }
  return undefined
}

/** Every handoff has ended, nothing waits anywhere, and the audit store knows all of it. */
function isSettled(world: World): boolean {
  const free =
    world.workers.every(({ step }) => step === 'idle') &&
    world.relays.every(({ step }) => step === 'idle') &&
    world.sweeper.step === 'idle'
  return free && world.handoffs.every(isAtRest)
}

const isAtRest = (one: Handoff): boolean =>
  one.state === 'UNSENT' ||
  (isEnded(one) && !one.row && !one.staleRow && !one.retry && !one.unshipped)

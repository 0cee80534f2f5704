// What a worker does with a job: receive-handoff.ts and commit-outcome.ts, one interleaved step at a time.
import type { Decision } from './decisions.ts'
import { fetchMoves } from './moves-queue.ts'
import type { Bounds, Move } from './protocol.ts'
import {
  claim,
  complete,
  extend,
  handoffAt,
  isEnded,
  LEASE_EXPIRIES_MAX,
  release,
  settle,
  start,
} from './statements.ts'
import type { Rules } from './statements.ts'
import { IDLE } from './world.ts'
import type { Handoff, Worker, World } from './world.ts'

interface Turn {
  readonly world: World
  readonly index: number
  readonly worker: Worker
  readonly one: Handoff
  readonly who: string
  readonly name: string
  readonly rules: Rules
  readonly bounds: Bounds
  readonly move: Move
}

export function workerMoves(world: World, parts: Pick<Turn, 'rules' | 'bounds' | 'move'>): void {
  const idle = world.workers.findIndex((worker) => worker.step === 'idle')
  // Idle workers are interchangeable: one of them takes the job.
  if (idle !== -1) fetchMoves(world, idle, parts.move)
  for (const [index, worker] of world.workers.entries()) {
    if (worker.step === 'idle') continue
    const one = handoffAt(world, worker.on)
    const name = 'AB'.charAt(worker.on)
    const turn = { ...parts, world, index, worker, one, name, who: `worker ${index + 1}` }
    stepMoves(turn)
    parts.move('fault', `${turn.who} dies with ${name}`, (next) => {
      next.workers[index] = { ...IDLE }
    })
  }
}

function stepMoves(turn: Turn): void {
  switch (turn.worker.step) {
    case 'fetched':
      return claimMoves(turn)
    case 'claimed':
      return judgeMove(turn)
    case 'judged':
      return turn.rules.auditFirst ? recordMoves(turn, verdictStep(turn)) : startMoves(turn)
    case 'decided':
      return turn.rules.auditFirst ? startMoves(turn) : go(turn, 'result', 'has its record')
    case 'running':
      return runMoves(turn)
    case 'result':
      return settleMoves(turn, 'commits the result of', (next) =>
        complete(next, turn.worker.on, holdsIn(next, turn), turn.rules),
      )
    case 'failed':
    case 'broken':
    case 'refused':
    case 'quarantining':
      return settleMoves(turn, `settles (${turn.worker.step})`, (next) =>
        settle(next, turn.worker.on, holdsIn(next, turn), {
          decision: decisionOf(turn),
          rules: turn.rules,
        }),
      )
    case 'releasing':
      return settleMoves(turn, 'releases its lease', (next) =>
        release(next, turn.worker.on, holdsIn(next, turn)),
      )
    default:
  }
}

const holdsIn = (world: World, { index }: Turn): boolean => world.workers[index]?.holds === true

function decisionOf({ worker, one, bounds }: Turn): Decision {
  if (worker.step === 'refused') {
    // Its sender may have revised it meanwhile; the worker still knows what it read.
    const flaw = one.flaw === 'none' ? 'SCHEMA_INVALID' : one.flaw
    return bounds.decisions.rejected(flaw, one.attempt)
  }
  if (worker.step === 'quarantining') return bounds.decisions.quarantined()
  return bounds.decisions.failed(worker.step === 'failed', one.attempt)
}

function go(turn: Turn, step: Worker['step'], what: string): void {
  turn.move('step', `${turn.who} ${what} (${turn.name})`, (next) => {
    next.workers[turn.index] = { ...turn.worker, step }
  })
}

// The handler returns, so the queue counts the job as done.
function finish(next: World, { index, worker }: Turn): void {
  const one = handoffAt(next, worker.on)
  if (next.workers[index]?.live === true && one.job === 'taken') one.job = 'finished'
  next.workers[index] = { ...IDLE }
}

function claimMoves(turn: Turn): void {
  const { index, worker, who, name, move } = turn
  move('step', `${who} claims ${name}`, (next) => {
    if (!claim(next, worker.on)) return finish(next, turn)
    next.workers[index] = { ...worker, step: 'claimed', holds: true }
    return undefined
  })
  move('fault', `${who} claims ${name}, sees a time-out and lets it be`, (next) => {
    claim(next, worker.on)
    finish(next, turn)
  })
  move('fault', `${who} cannot reach the database to claim ${name}`, (next) => finish(next, turn))
}

function judgeMove(turn: Turn): void {
  const poison = turn.one.leaseExpiries >= LEASE_EXPIRIES_MAX
  go(turn, poison ? 'quarantining' : 'judged', poison ? 'sees poison' : 'judges')
}

// judgeHandoff: a release lets a safety violation pass, nothing else.
const isValid = ({ flaw, released }: Handoff): boolean =>
  flaw === 'none' || (flaw === 'SAFETY_VIOLATION' && released)

const verdictStep = ({ one }: Turn): Worker['step'] => (isValid(one) ? 'decided' : 'refused')

/** The decision record is appended and its receipt awaited. */
function recordMoves(turn: Turn, then: Worker['step']): void {
  const { world, index, worker, who, name, move } = turn
  if (!world.auditUp) return go(turn, 'releasing', 'gets no receipt')
  move('step', `${who} has the decision on ${name} recorded`, (next) => {
    next.workers[index] = { ...worker, step: then, decided: true }
  })
  move('fault', `${who} has ${name} recorded, but sees a time-out`, (next) => {
    next.workers[index] = { ...worker, step: 'releasing', decided: true }
  })
}

function startMoves(turn: Turn): void {
  const { index, worker, who, name, move } = turn
  const ended = isEnded(turn.one)
  if (!turn.rules.auditFirst && !isValid(turn.one)) return go(turn, 'refused', 'refuses')
  move('step', `${who} starts to execute ${name}`, (next) => {
    if (!start(next, worker.on, worker.holds)) return finish(next, turn)
    next.workers[index] = { ...worker, step: 'running' }
    return ended ? 'I2: executed after its end' : undefined
  })
  move('fault', `${who} starts ${name}, sees a time-out and lets it be`, (next) => {
    start(next, worker.on, worker.holds)
    finish(next, turn)
  })
}

function runMoves(turn: Turn): void {
  const { index, worker, who, name, rules, move } = turn
  if (rules.auditFirst) go(turn, 'result', 'has a result')
  else recordMoves(turn, 'decided')
  go(turn, 'failed', 'sees the agent fail for now')
  go(turn, 'broken', 'sees the agent fail for good')
  if (turn.one.cancel) go(turn, 'releasing', 'stops, as it is told to')
  move('step', `${who} extends its lease on ${name}`, (next) => {
    const holds = worker.holds || !rules.heartbeatByFencingToken
    if (extend(next, worker.on, holds)) {
      return worker.holds ? undefined : 'I4: a lost lease is said to hold'
    }
    next.workers[index] = { ...worker, step: 'releasing' }
    return undefined
  })
}

/** A settlement commits once; seen as a time-out it is tried again, and changes nothing then. */
function settleMoves(turn: Turn, what: string, change: (next: World) => void): void {
  turn.move('step', `${turn.who} ${what} ${turn.name}`, (next) => {
    change(next)
    finish(next, turn)
  })
  turn.move('fault', `${turn.who} ${what} ${turn.name}, but sees a time-out`, change)
  turn.move('fault', `${turn.who} gives up to settle ${turn.name}`, (next) => finish(next, turn))
}

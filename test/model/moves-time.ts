// What the sweeper, the calendar and people do.
import type { Bounds, Move } from './protocol.ts'
import {
  cancel,
  expire,
  handoffAt,
  isEnded,
  isHeld,
  isQuiet,
  nextPublishAttempt,
  releaseLetter,
  requestCancel,
  requeue,
  sweepExpiredLeases,
} from './statements.ts'
import type { Rules } from './statements.ts'
import type { Handoff, World } from './world.ts'

interface Parts {
  readonly rules: Rules
  readonly bounds: Bounds
  readonly move: Move
}

interface Turn extends Parts {
  readonly world: World
  readonly on: number
  readonly one: Handoff
  readonly name: string
}

export function timeMoves(world: World, parts: Parts): void {
  for (const [on, one] of world.handoffs.entries()) {
    const turn = { ...parts, world, on, one, name: 'AB'.charAt(on) }
    leaseMove(turn)
    if (parts.rules.sweeper) sweepMoves(turn)
    if (one.unshipped && world.auditUp) shipMove(turn)
    if (one.state === 'UNSENT') sendMoves(turn)
    else peopleMoves(turn)
  }
  if (parts.rules.sweeper) redriveMoves(world, parts)
  if (world.auditUp) {
    parts.move('fault', 'the audit store goes down', (next) => {
      next.auditUp = false
    })
  } else {
    parts.move('step', 'the audit store comes back', (next) => {
      next.auditUp = true
    })
  }
}

function leaseMove({ world, on, one, name, move }: Turn): void {
  if (!isHeld(one) || !one.leased) return
  const alive = world.workers.some((worker) => worker.holds && worker.on === on)
  move(alive ? 'fault' : 'step', `the lease on ${name} lease expiries`, (next) => {
    handoffAt(next, on).leased = false
  })
}

function sweepMoves({ on, one, name, rules, move }: Turn): void {
  if (one.retry) {
    move('step', `the sweeper finds the retry of ${name} due`, (next) => {
      handoffAt(next, on).retry = false
      requeue(next, on, rules)
    })
  }
  if (isHeld(one) && !one.leased) {
    move('step', `the sweeper takes ${name} from its silent owner`, (next) =>
      sweepExpiredLeases(next, on, rules),
    )
  }
  if (one.due) move('step', `the sweeper expires ${name}`, (next) => expire(next, on, rules))
  if (one.cancel && !isEnded(one)) {
    move('step', `the grace of ${name} is over: it is canceled`, (next) => cancel(next, on, rules))
  }
}

function shipMove({ on, name, move }: Turn): void {
  move('step', `the event of ${name} reaches the audit store`, (next) => {
    handoffAt(next, on).unshipped = false
  })
}

// UNDELIVERED, missing and REDRIVE are three steps, between which anything may happen.
function redriveMoves(world: World, { rules, move }: Parts): void {
  const { step, on } = world.sweeper
  const name = 'AB'.charAt(on)
  if (step === 'idle') return selectMoves(world, move)
  if (step === 'selected') {
    return move('step', `the sweeper asks the queue for the job of ${name}`, (next) => {
      const { job } = handoffAt(next, on)
      const gone = job === 'absent' || job === 'finished'
      next.sweeper = gone ? { step: 'missing', on } : { step: 'idle', on: 0 }
    })
  }
  return move('step', `the sweeper drives ${name} again`, (next) => {
    next.sweeper = { step: 'idle', on: 0 }
    if (handoffAt(next, on).state === 'DISPATCHED') requeue(next, on, rules)
  })
}

function selectMoves(world: World, move: Move): void {
  for (const on of world.handoffs.keys()) {
    if (!isQuiet(world, on)) continue
    move('step', `the sweeper finds ${'AB'.charAt(on)} undelivered`, (next) => {
      next.sweeper = { step: 'selected', on }
    })
  }
}

// A task's handoffs are numbered as they are sent: SEND in send.ts.
function sendMoves({ world, on, name, bounds, move }: Turn): void {
  if (world.handoffs.slice(0, on).some((earlier) => earlier.state === 'UNSENT')) return
  for (const flaw of bounds.flaws[on] ?? []) {
    move('choice', `${name} is sent, flaw: ${flaw}`, (next) => {
      Object.assign(handoffAt(next, on), { state: 'QUEUED', row: true, flaw })
    })
  }
  if (!bounds.approvals) return
  move('choice', `${name} is sent and waits for approval`, (next) => {
    handoffAt(next, on).state = 'AWAITING_APPROVAL'
  })
}

function peopleMoves(turn: Turn): void {
  const { world, on, one, name, rules, bounds, move } = turn
  if (one.state === 'AWAITING_APPROVAL') {
    move('step', `${name} is approved`, (next) => nextPublishAttempt(next, on, rules))
    move('step', `${name} is refused`, (next) => requestCancel(next, on, rules))
  }
  if (bounds.deadlines && !one.due && !isEnded(one)) {
    move('choice', `the deadline of ${name} passes`, (next) => {
      handoffAt(next, on).due = true
    })
  }
  if (bounds.cancels && !one.cancel && !isEnded(one)) {
    move('choice', `${name} is to be canceled`, (next) => requestCancel(next, on, rules))
  }
  if (one.flaw === 'SCHEMA_INVALID' && one.retry && one.state === 'QUEUED') {
    move('choice', `the sender revises ${name}`, (next) => {
      Object.assign(handoffAt(next, on), { flaw: 'none', retry: false })
      nextPublishAttempt(next, on, rules)
    })
  }
  if (world.clicks > 0 && one.letter !== 'none') {
    move('choice', `a click on release reaches ${name}`, (next) => {
      next.clicks -= 1
      releaseLetter(next, on, rules)
    })
  }
}

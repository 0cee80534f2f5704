// What a relay does, one step of its transaction at a time, and what the queue may do to a job.
import type { Move } from './protocol.ts'
import { handoffAt } from './statements.ts'
import type { Rules } from './statements.ts'
import { AT_REST, IDLE } from './world.ts'
import type { World } from './world.ts'

const nameOf = (on: number): string => 'AB'.charAt(on)

export function relayMoves(world: World, rules: Rules, move: Move): void {
  for (const [index, relay] of world.relays.entries()) {
    const who = `relay ${index + 1}`
    if (relay.step === 'idle') claimMoves(world, { index, who, move })
    if (relay.step === 'claimed') {
      move('step', `${who} publishes the job of ${nameOf(relay.on)}`, (next) => {
        publish(next, index, rules)
        setRelay(next, index, { ...relay, step: 'published' })
      })
      move(
        'fault',
        `${who} publishes ${nameOf(relay.on)}, sees a time-out and rolls back`,
        (next) => {
          publish(next, index, rules)
          rollBack(next, index, rules)
        },
      )
    }
    if (relay.step === 'published') {
      move('step', `${who} marks ${nameOf(relay.on)} dispatched and commits`, (next) => {
        // MARK_DISPATCHED in outbox.ts.
        const one = handoffAt(next, relay.on)
        if (one.state === 'QUEUED') one.state = 'DISPATCHED'
        setRelay(next, index, { ...AT_REST })
      })
    }
    if (relay.step !== 'idle') {
      move('fault', `${who} dies with its transaction open`, (next) => rollBack(next, index, rules))
    }
  }
}

interface Claiming {
  readonly index: number
  readonly who: string
  readonly move: Move
}

// CLAIM in outbox.ts: one row at a time shows every order that sets of rows can have.
function claimMoves(world: World, { index, who, move }: Claiming): void {
  for (const [on, one] of world.handoffs.entries()) {
    if (one.row) {
      move('step', `${who} claims the row of ${nameOf(on)}`, (next) => {
        handoffAt(next, on).row = false
        setRelay(next, index, { step: 'claimed', on, live: true })
      })
    }
    if (one.staleRow) {
      move('step', `${who} claims an old row of ${nameOf(on)}`, (next) => {
        handoffAt(next, on).staleRow = false
        setRelay(next, index, { step: 'claimed', on, live: false })
      })
    }
  }
}

// A known job id is kept once: jobIdOf in transport.ts.
function publish(world: World, index: number, rules: Rules): void {
  const relay = world.relays[index] ?? AT_REST
  const one = handoffAt(world, relay.on)
  if (one.job !== 'absent') return
  if (relay.live) one.job = 'waiting'
  else if (!rules.publishAttemptInJobId) {
    one.job = 'waiting'
    one.staleJob = true
  }
}

function rollBack(world: World, index: number, rules: Rules): void {
  const relay = world.relays[index] ?? AT_REST
  const one = handoffAt(world, relay.on)
  if (rules.publishBeforeDelete) {
    if (relay.live) one.row = true
    else one.staleRow = true
  }
  setRelay(world, index, { ...AT_REST })
}

function setRelay(world: World, index: number, relay: World['relays'][number]): void {
  world.relays[index] = relay
}

/** Jobs may be lost, delivered again after a stall, or delivered twice. */
export function jobMoves(world: World, move: Move): void {
  for (const [on, one] of world.handoffs.entries()) {
    if (one.job === 'absent') continue
    const name = nameOf(on)
    move('fault', `the queue loses the job of ${name}`, (next) => {
      handoffAt(next, on).job = 'absent'
    })
    if (one.job === 'waiting') continue
    const running = world.workers.some((worker) => worker.live && worker.on === on)
    const again = one.job === 'taken' && !running
    move(again ? 'step' : 'fault', `the queue delivers the job of ${name} again`, (next) => {
      handoffAt(next, on).job = 'waiting'
    })
  }
}

export function fetchMoves(world: World, index: number, move: Move): void {
  for (const [on, one] of world.handoffs.entries()) {
    if (one.job !== 'waiting') continue
    const what = one.staleJob ? 'an old job' : 'the job'
    move('step', `worker ${index + 1} takes ${what} of ${nameOf(on)}`, (next) => {
      const taken = handoffAt(next, on)
      taken.job = one.staleJob ? 'finished' : 'taken'
      // A stale publish attempt is refused by the claim, so this worker is free again.
      if (!one.staleJob) next.workers[index] = { ...IDLE, step: 'fetched', on, live: true }
    })
  }
}

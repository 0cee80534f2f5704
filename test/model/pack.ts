// A state as a few bytes and back. Equal workers and equal relays are interchangeable, so they are sorted.
import {
  FLAWS,
  JOBS,
  LETTERS,
  RELAY_STEPS,
  STATES,
  STATUSES,
  SWEEPER_STEPS,
  WORKER_STEPS,
} from './world.ts'
import type { Handoff, Relay, Size, Worker, World } from './world.ts'

const HANDOFF_BYTES = 10
const WORKER_BYTES = 2

export const bytesOf = ({ handoffs, workers, relays }: Size): number =>
  handoffs * HANDOFF_BYTES + workers * WORKER_BYTES + relays + 3

const rankOf = (names: readonly string[]): Readonly<Record<string, number>> =>
  Object.fromEntries(names.map((name, index) => [name, index]))

const STATE = rankOf(STATES)
const FLAW = rankOf(FLAWS)
const JOB = rankOf(JOBS)
const STATUS = rankOf(STATUSES)
const LETTER = rankOf(LETTERS)
const WORKER_STEP = rankOf(WORKER_STEPS)
const RELAY_STEP = rankOf(RELAY_STEPS)
const SWEEPER_STEP = rankOf(SWEEPER_STEPS)

const bit = (flag: boolean, place: number): number => (flag ? 1 << place : 0)
const isSet = (byte: number, place: number): boolean => ((byte >> place) & 1) === 1

/** Writes the state into `bytes`, which are `bytesOf` its size long. */
export function pack(world: World, bytes: Uint8Array): void {
  let at = 0
  for (const one of world.handoffs) at = packHandoff(one, bytes, at)
  for (const code of sorted(world.workers.map(workerCode))) {
    bytes[at] = code >> 8
    bytes[at + 1] = code & 255
    at += WORKER_BYTES
  }
  for (const code of sorted(world.relays.map(relayCode))) bytes[at++] = code
  bytes[at] = ((SWEEPER_STEP[world.sweeper.step] ?? 0) << 1) | world.sweeper.on
  bytes[at + 1] = (world.clicks << 1) | bit(world.auditUp, 0)
  bytes[at + 2] = world.faults
}

const sorted = (codes: number[]): number[] => codes.sort((a, b) => b - a)

function packHandoff(one: Handoff, bytes: Uint8Array, at: number): number {
  bytes[at] = STATE[one.state] ?? 0
  bytes[at + 1] = FLAW[one.flaw] ?? 0
  bytes[at + 2] = one.attempt
  bytes[at + 3] = JOB[one.job] ?? 0
  bytes[at + 4] = STATUS[one.status] ?? 0
  bytes[at + 5] = one.leaseExpiries
  bytes[at + 6] = LETTER[one.letter] ?? 0
  bytes[at + 7] = one.effects
  bytes[at + 8] = bit(one.row, 0) | bit(one.staleRow, 1) | bit(one.staleJob, 2) | bit(one.leased, 3)
  bytes[at + 9] =
    bit(one.retry, 0) |
    bit(one.cancel, 1) |
    bit(one.due, 2) |
    bit(one.released, 3) |
    bit(one.unshipped, 4)
  return at + HANDOFF_BYTES
}

const workerCode = (one: Worker): number =>
  ((WORKER_STEP[one.step] ?? 0) << 4) |
  (one.on << 3) |
  bit(one.holds, 2) |
  bit(one.live, 1) |
  bit(one.decided, 0)

const relayCode = (one: Relay): number =>
  ((RELAY_STEP[one.step] ?? 0) << 2) | (one.on << 1) | bit(one.live, 0)

/** The opposite of `pack`. */
export function unpack(bytes: Uint8Array, size: Size): World {
  const read = (at: number): number => bytes[at] ?? 0
  const workersAt = size.handoffs * HANDOFF_BYTES
  const relaysAt = workersAt + size.workers * WORKER_BYTES
  const restAt = relaysAt + size.relays
  return {
    handoffs: times(size.handoffs, (index) => unpackHandoff(read, index * HANDOFF_BYTES)),
    workers: times(size.workers, (index) => {
      const at = workersAt + index * WORKER_BYTES
      return workerOf((read(at) << 8) | read(at + 1))
    }),
    relays: times(size.relays, (index) => relayOf(read(relaysAt + index))),
    sweeper: { step: SWEEPER_STEPS[read(restAt) >> 1] ?? 'idle', on: read(restAt) & 1 },
    clicks: read(restAt + 1) >> 1,
    auditUp: isSet(read(restAt + 1), 0),
    faults: read(restAt + 2),
  }
}

function times<Item>(count: number, make: (index: number) => Item): Item[] {
  const items: Item[] = []
  for (let index = 0; index < count; index += 1) items.push(make(index))
  return items
}

function unpackHandoff(read: (at: number) => number, at: number): Handoff {
  const rows = read(at + 8)
  const flags = read(at + 9)
  return {
    state: STATES[read(at)] ?? 'UNSENT',
    flaw: FLAWS[read(at + 1)] ?? 'none',
    attempt: read(at + 2),
    job: JOBS[read(at + 3)] ?? 'absent',
    status: STATUSES[read(at + 4)] ?? 'NONE',
    leaseExpiries: read(at + 5),
    letter: LETTERS[read(at + 6)] ?? 'none',
    effects: read(at + 7),
    row: isSet(rows, 0),
    staleRow: isSet(rows, 1),
    staleJob: isSet(rows, 2),
    leased: isSet(rows, 3),
    retry: isSet(flags, 0),
    cancel: isSet(flags, 1),
    due: isSet(flags, 2),
    released: isSet(flags, 3),
    unshipped: isSet(flags, 4),
  }
}

const workerOf = (code: number): Worker => ({
  step: WORKER_STEPS[code >> 4] ?? 'idle',
  on: (code >> 3) & 1,
  holds: isSet(code, 2),
  live: isSet(code, 1),
  decided: isSet(code, 0),
})

const relayOf = (code: number): Relay => ({
  step: RELAY_STEPS[code >> 2] ?? 'idle',
  on: (code >> 1) & 1,
  live: isSet(code, 0),
})

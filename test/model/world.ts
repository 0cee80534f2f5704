// One state of the delivery protocol, small enough that millions of them can be looked at.

export const STATES = [
  'UNSENT',
  'AWAITING_APPROVAL',
  'QUEUED',
  'DISPATCHED',
  'EXECUTING',
  'COMPLETED',
  'REJECTED',
  'DEAD_LETTERED',
  'ROLLED_BACK',
  'EXPIRED',
  'CANCELED',
  'BLOCKED',
] as const
export type State = (typeof STATES)[number]

export const FLAWS = ['none', 'SCHEMA_INVALID', 'SAFETY_VIOLATION', 'BUDGET_EXHAUSTED'] as const
export type Flaw = (typeof FLAWS)[number]

/** What the queue knows of the job of the live publish attempt. A stale publish attempt's job changes nothing. */
export const JOBS = ['absent', 'waiting', 'taken', 'finished'] as const
export const STATUSES = ['NONE', 'CLAIMED', 'EXECUTING', 'DONE', 'ABANDONED'] as const
export const LETTERS = ['none', 'open', 'resolved'] as const

/**
 * One handoff in the operational database, in the queue, and in the audit store. Publish attempts and fencing tokens
 * are not counted: what matters is whether a row, a job or a worker belongs to the live one.
 */
export interface Handoff {
  state: State
  flaw: Flaw
  attempt: number
  /** Its outbox row of the live publish attempt is there, or one of an older publish attempt. */
  row: boolean
  staleRow: boolean
  job: (typeof JOBS)[number]
  /** Only where job ids lack the publish attempt: the known job names an older one. */
  staleJob: boolean
  status: (typeof STATUSES)[number]
  leased: boolean
  leaseExpiries: number
  retry: boolean
  cancel: boolean
  due: boolean
  letter: (typeof LETTERS)[number]
  released: boolean
  /** A lifecycle event has not reached the audit store yet. */
  unshipped: boolean
  effects: number
}

export const WORKER_STEPS = [
  'idle',
  'fetched',
  'claimed',
  'judged',
  'decided',
  'running',
  'result',
  'failed',
  'broken',
  'refused',
  'releasing',
  'quarantining',
] as const

export interface Worker {
  step: (typeof WORKER_STEPS)[number]
  on: number
  /** Its fencing token is the execution's. */
  holds: boolean
  /** The job it took is of the live publish attempt. */
  live: boolean
  /** The decision record of its fencing token is durable. */
  decided: boolean
}

export const RELAY_STEPS = ['idle', 'claimed', 'published'] as const

export interface Relay {
  step: (typeof RELAY_STEPS)[number]
  on: number
  /** The row it holds is of the live publish attempt. */
  live: boolean
}

export const SWEEPER_STEPS = ['idle', 'selected', 'missing'] as const

export interface World {
  handoffs: Handoff[]
  workers: Worker[]
  relays: Relay[]
  sweeper: { step: (typeof SWEEPER_STEPS)[number]; on: number }
  auditUp: boolean
  /** How often reviewers' clicks on "release" are still under way. */
  clicks: number
  /** How many faults may still happen. */
  faults: number
}

const UNSENT: Handoff = {
  state: 'UNSENT',
  flaw: 'none',
  attempt: 1,
  row: false,
  staleRow: false,
  job: 'absent',
  staleJob: false,
  status: 'NONE',
  leased: false,
  leaseExpiries: 0,
  retry: false,
  cancel: false,
  due: false,
  letter: 'none',
  released: false,
  unshipped: false,
  effects: 0,
}

export const IDLE: Worker = { step: 'idle', on: 0, holds: false, live: false, decided: false }
export const AT_REST: Relay = { step: 'idle', on: 0, live: false }

export interface Size {
  readonly handoffs: number
  readonly workers: number
  readonly relays: number
  readonly clicks: number
  readonly faults: number
}

export const beginning = (size: Size): World => ({
  handoffs: Array.from({ length: size.handoffs }, () => ({ ...UNSENT })),
  workers: Array.from({ length: size.workers }, () => ({ ...IDLE })),
  relays: Array.from({ length: size.relays }, () => ({ ...AT_REST })),
  sweeper: { step: 'idle', on: 0 },
  auditUp: true,
  clicks: size.clicks,
  faults: size.faults,
})

export const copyOf = (world: World): World => ({
  handoffs: world.handoffs.map((one) => ({ ...one })),
  workers: world.workers.map((one) => ({ ...one })),
  relays: world.relays.map((one) => ({ ...one })),
  sweeper: { ...world.sweeper },
  auditUp: world.auditUp,
  clicks: world.clicks,
  faults: world.faults,
})

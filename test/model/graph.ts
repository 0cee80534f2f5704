// One state of a task that fans out: who has ended, who works, what was given to whom, and how far fan-in is.

const HANDOFF_STATES = [
  'UNSENT',
  'QUEUED',
  'EXECUTING',
  'COMPLETED',
  'ROLLED_BACK',
  'CANCELED',
] as const
const OUTCOMES = ['none', 'COMPLETED', 'ROLLED_BACK', 'CANCELED'] as const
const FAN_OUT_STATES = ['NONE', 'OPEN', 'READY', 'JOINED', 'FAILED', 'CANCELED'] as const
const TASK_STATUSES = ['RUNNING', 'COMPLETED', 'FAILED', 'CANCELED'] as const
/** `seen`: it has listed a fan-out that is ready. `sent`: only where sending and closing are two transactions. */
const FAN_IN_STEPS = ['idle', 'seen', 'sent'] as const

/** The last handoff of a branch, or of the task's own way, with its branch. How it is delivered is the other model. */
export interface Party {
  state: (typeof HANDOFF_STATES)[number]
  /** Its worker has the fencing token and is alive. */
  alive: boolean
  /** A worker that lost its lease still works. */
  late: boolean
  /** A cancellation lets its execution finish. */
  grace: boolean
  /** A person has taken it up again, which happens once here. */
  resumed: boolean
  effects: number
  /** Of its branch; `none` while something of it goes on, or a person decides about it. */
  outcome: (typeof OUTCOMES)[number]
  given: number
  spent: number
}

export interface Graph {
  /** The handoff that fans out. */
  root: Party
  branches: Party[]
  join: Party
  joinsSent: number
  fanOut: (typeof FAN_OUT_STATES)[number]
  task: (typeof TASK_STATUSES)[number]
  cancelRequested: boolean
  fanIns: (typeof FAN_IN_STEPS)[number][]
  faults: number
}

export interface GraphSize {
  readonly branches: number
  readonly fanIns: number
  readonly faults: number
}

const UNSENT: Party = {
  state: 'UNSENT',
  alive: false,
  late: false,
  grace: false,
  resumed: false,
  effects: 0,
  outcome: 'none',
  given: 0,
  spent: 0,
}

export const firstGraph = ({ branches, fanIns, faults }: GraphSize): Graph => ({
  root: { ...UNSENT, state: 'QUEUED' },
  branches: Array.from({ length: branches }, () => ({ ...UNSENT })),
  join: { ...UNSENT },
  joinsSent: 0,
  fanOut: 'NONE',
  task: 'RUNNING',
  cancelRequested: false,
  fanIns: Array.from({ length: fanIns }, () => 'idle' as const),
  faults,
})

export const copyOfGraph = (graph: Graph): Graph => ({
  ...graph,
  root: { ...graph.root },
  branches: graph.branches.map((one) => ({ ...one })),
  join: { ...graph.join },
  fanIns: [...graph.fanIns],
})

export const isOpen = ({ state }: Party): boolean => state === 'QUEUED' || state === 'EXECUTING'

const REST_BYTES = 3
const PARTY_BYTES = 2

export const graphBytes = ({ branches, fanIns }: GraphSize): number =>
  (branches + 2) * PARTY_BYTES + fanIns + REST_BYTES

const bit = (flag: boolean, place: number): number => (flag ? 1 << place : 0)

const partyCode = (one: Party): number =>
  HANDOFF_STATES.indexOf(one.state) |
  bit(one.alive, 3) |
  bit(one.late, 4) |
  bit(one.grace, 5) |
  bit(one.resumed, 6) |
  (one.effects << 7) |
  (OUTCOMES.indexOf(one.outcome) << 9) |
  (one.given << 11) |
  (one.spent << 13)

const partyOf = (code: number): Party => ({
  state: HANDOFF_STATES[code & 7] ?? 'UNSENT',
  alive: ((code >> 3) & 1) === 1,
  late: ((code >> 4) & 1) === 1,
  grace: ((code >> 5) & 1) === 1,
  resumed: ((code >> 6) & 1) === 1,
  effects: (code >> 7) & 3,
  outcome: OUTCOMES[(code >> 9) & 3] ?? 'none',
  given: (code >> 11) & 3,
  spent: (code >> 13) & 7,
})

/** Branches are interchangeable, and so are the processes that join them: both are sorted. */
export function packGraph(graph: Graph, bytes: Uint8Array): void {
  const branches = graph.branches.map(partyCode).sort((a, b) => a - b)
  let at = 0
  for (const code of [partyCode(graph.root), partyCode(graph.join), ...branches]) {
    bytes[at] = code >> 8
    bytes[at + 1] = code & 255
    at += PARTY_BYTES
  }
  const fanIns = graph.fanIns.map((step) => FAN_IN_STEPS.indexOf(step)).sort((a, b) => a - b)
  for (const step of fanIns) bytes[at++] = step
  bytes[at] = FAN_OUT_STATES.indexOf(graph.fanOut) | (graph.joinsSent << 3)
  bytes[at + 1] = TASK_STATUSES.indexOf(graph.task) | bit(graph.cancelRequested, 2)
  bytes[at + 2] = graph.faults
}

/** The opposite of `packGraph`. */
export function unpackGraph(bytes: Uint8Array, size: GraphSize): Graph {
  const read = (at: number): number => bytes[at] ?? 0
  const party = (nth: number): Party =>
    partyOf((read(nth * PARTY_BYTES) << 8) | read(nth * PARTY_BYTES + 1))
  const fanInsAt = (size.branches + 2) * PARTY_BYTES
  const restAt = fanInsAt + size.fanIns
  return {
    root: party(0),
    join: party(1),
    branches: Array.from({ length: size.branches }, (_, nth) => party(nth + 2)),
    fanIns: Array.from(
      { length: size.fanIns },
      (_, nth) => FAN_IN_STEPS[read(fanInsAt + nth)] ?? 'idle',
    ),
    fanOut: FAN_OUT_STATES[read(restAt) & 7] ?? 'NONE',
    joinsSent: read(restAt) >> 3,
    task: TASK_STATUSES[read(restAt + 1) & 3] ?? 'RUNNING',
    cancelRequested: (read(restAt + 1) & 4) !== 0,
    faults: read(restAt + 2),
  }
}

// What protocol v0.1 documents: its fields, its state machine, its library calls, and files as peers write them, as data.
import { expect } from 'vitest'

/** The eight fields: why a file without one is no handoff; null where it is optional. */
export const FIELDS: readonly (readonly [name: string, whyNot: string | null])[] = [
  ['task_id', 'has no task_id of 1 to 512 characters'],
  ['from_agent', 'has no from_agent'],
  ['to_agent', null],
  ['status', 'has no status that is offered, accepted, completed, failed or rejected'],
  ['description', 'has no description'],
  ['context', null],
  ['created_at', 'has no created_at in ISO 8601'],
  ['updated_at', 'has no updated_at in ISO 8601'],
]

const STATUSES = ['offered', 'accepted', 'completed', 'failed', 'rejected'] as const

/** The state machine; nothing else follows anything. */
const NEXT: Readonly<Record<(typeof STATUSES)[number], readonly string[]>> = {
  offered: ['accepted', 'rejected'],
  accepted: ['completed', 'failed'],
  completed: [],
  failed: ['offered'],
  rejected: [],
}

const PAIRS = STATUSES.flatMap((status) => STATUSES.map((next) => [status, next] as const))

export const ALLOWED = PAIRS.filter(([status, next]) => NEXT[status].includes(next))

/** The other pairs, each with how to go on. */
export const FORBIDDEN = PAIRS.filter(([status, next]) => !NEXT[status].includes(next)).map(
  ([status, next]) => {
    const ways = NEXT[status].join(' or ')
    const ends = `It ends with ${status}; offer new work as a new handoff.`
    return [status, next, ways === '' ? ends : `From ${status} it may become ${ways}.`] as const
  },
)

/** What the library's example creates. */
export const EXAMPLE = {
  description: 'Review the auth module for timing attacks',
  from_agent: 'scanner',
  context: { file: 'src/auth.py', line: 42 },
}

/** A file as the peer's Python writes it. */
export const FILE = {
  task_id: 'a1b2c3d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
  from_agent: EXAMPLE.from_agent,
  to_agent: '',
  status: 'offered',
  description: EXAMPLE.description,
  context: EXAMPLE.context,
  created_at: '2026-02-18T14:55:00.123456+00:00',
  updated_at: '2026-02-18T14:55:00.123456+00:00',
}

const PARENT = FILE.task_id
const child = (digit: string): string => `b${digit}${FILE.task_id.slice(2)}`

/** Files that an import leaves as they are. */
export const LEFT: readonly (readonly [what: string, file: typeof FILE])[] = [
  ['offered to anyone', { ...FILE, task_id: child('0') }],
  ['offered to an agent that there is not', { ...FILE, task_id: child('1'), to_agent: 'nobody' }],
  ...(['accepted', 'completed', 'failed', 'rejected'] as const).map(
    (status, index) =>
      [
        `${status} by others`,
        { ...FILE, task_id: child(String(index + 2)), to_agent: 'reviewer', status },
      ] as const,
  ),
]

/** Files that it sends, each with what the message has of it. */
export const SENT: readonly (readonly [what: string, file: typeof FILE, message: object])[] = [
  [
    'offered to an agent',
    { ...FILE, task_id: PARENT, to_agent: 'reviewer' },
    {
      parentHandoffId: null,
      currentState: { description: EXAMPLE.description, ...EXAMPLE.context },
    },
  ],
  [
    'with the extensions in its context, chained to a parent',
    {
      ...FILE,
      task_id: child('6'),
      to_agent: 'reviewer',
      context: {
        priority: 'high',
        deadline: '2099-01-01T00:00:00Z',
        tags: ['auth'],
        parent_task_id: PARENT,
      } as never,
    },
    {
      parentHandoffId: expect.any(String) as string,
      priority: 1,
      deadline: '2099-01-01T00:00:00.000Z',
      constraints: ['tag:auth'],
    },
  ],
  [
    'without a context',
    { ...FILE, task_id: child('7'), to_agent: 'reviewer', context: null as never },
    { currentState: { description: EXAMPLE.description } },
  ],
]

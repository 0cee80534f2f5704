// Tools that only look: at tasks, handoffs, agents, what waits for people, and how well the service does.
import { HANDOFF_STATES, TASK_STATUSES, UUID_PATTERN } from '@baton/protocol'
import { COUNTED_PAGE } from '../cursor.ts'
import { TRANSPORTS } from '../level-schema.ts'
import { ref } from '../operation.ts'
import { FILTER_MAX } from '../refused-request.ts'
import { payload, UNTRUSTED } from './shown.ts'
import { closed, READS, tool } from './tool.ts'
import type { CallRoute } from './tool.ts'

const uuid = (description: string) => ({
  type: 'string',
  pattern: UUID_PATTERN,
  description,
})
const filter = { type: 'string', minLength: 1, maxLength: FILTER_MAX }

const LIMIT_MAX = 100
const LIMIT_DEFAULT = 20

/** What every list takes. */
const PAGE = {
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: LIMIT_MAX,
    default: LIMIT_DEFAULT,
    description: 'How many at most.',
  },
  cursor: {
    type: 'string',
    maxLength: 8_192,
    description: 'nextCursor of the page before, with the same filter; left out for the first.',
  },
}

interface Page {
  readonly nextCursor: string | null
  readonly total: number
  readonly totalIsExact: boolean
}

const listed = (name: string, items: object) => ({
  type: 'object',
  properties: { [name]: { type: 'array', items }, ...COUNTED_PAGE, ...UNTRUSTED },
  required: [name, 'nextCursor', 'total', 'totalIsExact'],
})

const read = <Answer>(call: CallRoute, path: string): Promise<Answer> =>
  call({ method: 'GET', path }) as Promise<Answer>

function readList<Answer>(call: CallRoute, path: string, query: object): Promise<Answer & Page> {
  const given = Object.entries(query).map(([name, value]) => [name, String(value)])
  return read(call, `${path}?${new URLSearchParams(given).toString()}`)
}

const counted = (shownNow: number, what: string, { total, totalIsExact, nextCursor }: Page) =>
  `${shownNow} of ${totalIsExact ? '' : 'more than '}${total} ${what}${nextCursor === null ? '' : '; nextCursor continues'}.`

export interface Handoff {
  readonly handoffId: string
  readonly taskId: string
  readonly taskSeq: number
  readonly fromAgent: string
  readonly toAgent: string
  readonly state: string
  readonly reason: string | null
  readonly result: unknown
  readonly details: unknown
  readonly returns?: readonly { readonly details: unknown }[]
}

interface Task {
  readonly taskId: string
  readonly status: string
  readonly budgetUSD: number
  readonly spentUSD: number
  readonly handoffs: number
  readonly result: unknown
}

export const boundedHandoff = (handoff: Handoff): object => {
  const href = `/v2/handoffs/${handoff.handoffId}`
  const { returns } = handoff
  return {
    ...handoff,
    result: payload(handoff.result, href),
    details: payload(handoff.details, href),
    ...(returns && {
      returns: returns.map((one) => ({ ...one, details: payload(one.details, href) })),
    }),
  }
}

const boundedTask = (task: Task): object => ({
  ...task,
  result: payload(task.result, `/v2/tasks/${task.taskId}`),
})

const told = ({ handoffId, fromAgent, toAgent, state, reason }: Handoff): string =>
  `Handoff ${handoffId}, ${fromAgent} to ${toAgent}, is ${state}${reason === null ? '' : ` (${reason})`}.`

/** A task may have as many handoffs as its agents make of it; a model is shown the latest. */
const HANDOFFS_MAX = 100

const getHandoff = tool<{ readonly handoffId: string }>({
  name: 'get_handoff',
  title: 'Get a handoff',
  description:
    'Look at one handoff: its state, attempts, returns, cost and what its agent answered. Ended states are COMPLETED, PARTIAL, FAILED, REJECTED, BLOCKED, EXPIRED, CANCELED, DEAD_LETTERED and ROLLED_BACK; in any other it is still on its way, so ask again later.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed({ handoffId: uuid('As the answer to sending it says.') }, ['handoffId']),
  outputSchema: { allOf: [ref('Handoff')], type: 'object', properties: UNTRUSTED },
  async run({ handoffId }, call) {
    const handoff = await read<Handoff>(call, `/v2/handoffs/${handoffId}`)
    return {
      data: boundedHandoff(handoff),
      text: told(handoff),
      untrusted: ['/result', '/details', '/returns/*/details'],
    }
  },
})

const getTask = tool<{ readonly taskId: string }>({
  name: 'get_task',
  title: 'Get a task',
  description:
    'Look at one task: its status, budget, what it has spent, its result, and its handoffs in the order they were sent (the latest 100).',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed({ taskId: uuid('The id of the task.') }, ['taskId']),
  outputSchema: {
    type: 'object',
    properties: {
      task: ref('Task'),
      handoffs: { type: 'array', items: ref('Handoff') },
      handoffsTotal: { type: 'integer' },
      ...UNTRUSTED,
    },
    required: ['task', 'handoffs', 'handoffsTotal'],
  },
  async run({ taskId }, call) {
    const { task, handoffs } = await read<{ task: Task; handoffs: readonly Handoff[] }>(
      call,
      `/v2/tasks/${taskId}`,
    )
    const latest = handoffs.slice(-HANDOFFS_MAX)
    return {
      data: {
        task: boundedTask(task),
        handoffs: latest.map(boundedHandoff),
        handoffsTotal: handoffs.length,
      },
      text: [
        `Task ${taskId} is ${task.status}: ${handoffs.length} handoffs, $${task.spentUSD} of $${task.budgetUSD} spent.`,
        ...latest.slice(-1).map(told),
      ].join('\n'),
      untrusted: ['/task/result', '/handoffs/*/result', '/handoffs/*/details'],
    }
  },
})

interface ListHandoffs {
  readonly taskId: string
  readonly state?: string
  readonly limit: number
  readonly cursor?: string
}

const listHandoffs = tool<ListHandoffs>({
  name: 'list_handoffs',
  title: 'List the handoffs of a task',
  description:
    'List the handoffs of one task in the order they were sent, all or those in one state, in pages.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed(
    {
      taskId: uuid('The id of the task.'),
      state: { type: 'string', enum: HANDOFF_STATES, description: 'Only handoffs in this state.' },
      limit: PAGE.limit,
      cursor: {
        type: 'string',
        pattern: '^[0-9]{1,9}$',
        description: 'nextCursor of the page before, with the same filter; left out for the first.',
      },
    },
    ['taskId'],
  ),
  outputSchema: listed('handoffs', ref('Handoff')),
  async run({ taskId, state, limit, cursor = '0' }, call) {
    const { handoffs } = await read<{ handoffs: readonly Handoff[] }>(call, `/v2/tasks/${taskId}`)
    const meant = handoffs.filter((one) => state === undefined || one.state === state)
    // A task only gets more handoffs, each with the next number.
    const rest = meant.filter(({ taskSeq }) => taskSeq > Number(cursor))
    const shownNow = rest.slice(0, limit)
    const last = shownNow.at(-1)
    const nextCursor =
      rest.length > shownNow.length && last !== undefined ? String(last.taskSeq) : null
    const page = { nextCursor, total: meant.length, totalIsExact: true }
    return {
      data: { handoffs: shownNow.map(boundedHandoff), ...page },
      text: counted(shownNow.length, `handoffs of task ${taskId}`, page),
      untrusted: ['/handoffs/*/result', '/handoffs/*/details'],
    }
  },
})

const listTasks = tool<object>({
  name: 'list_tasks',
  title: 'List tasks',
  description: 'List tasks, newest first, all or those of one status.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed({
    status: { type: 'string', enum: TASK_STATUSES, description: 'Only tasks of this status.' },
    idPrefix: {
      type: 'string',
      pattern: '^(?:[0-9a-f]-?){4,32}$',
      description: 'Only tasks whose id begins with these digits.',
    },
    ...PAGE,
  }),
  outputSchema: listed('tasks', ref('Task')),
  async run(args, call) {
    const page = await readList<{ tasks: readonly Task[] }>(call, '/v2/tasks', args)
    return {
      data: { ...page, tasks: page.tasks.map(boundedTask) },
      text: counted(page.tasks.length, 'tasks', page),
      untrusted: ['/tasks/*/result'],
    }
  },
})

const listAgents = tool<object>({
  name: 'list_agents',
  title: 'List agents',
  description:
    'List the agent types that have a live worker now, with their versions and capabilities: whom a handoff can be sent to.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed(PAGE),
  outputSchema: listed('agents', ref('Agent')),
  async run(args, call) {
    const page = await readList<{ agents: readonly object[] }>(call, '/v2/agents', args)
    return { data: page, text: counted(page.agents.length, 'agent types', page) }
  },
})

const listApprovals = tool<object>({
  name: 'list_approvals',
  title: 'List approvals',
  description:
    'List handoffs that wait until a person approves or refuses them, oldest first. decide_approval takes the decision.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed(PAGE),
  outputSchema: listed('approvals', ref('Approval')),
  async run(args, call) {
    const page = await readList<{ approvals: readonly object[] }>(call, '/v2/approvals', args)
    return {
      data: page,
      text: counted(page.approvals.length, 'handoffs wait for an approval', page),
    }
  },
})

interface DeadLetter {
  readonly handoffId: string
  readonly taskId: string
  readonly reason: string
  readonly details: unknown
}

const boundedLetter = (letter: DeadLetter): object => ({
  ...letter,
  details: payload(letter.details, `/v2/dead-letters/${letter.handoffId}`),
})

const listDeadLetters = tool<object>({
  name: 'list_dead_letters',
  title: 'List dead letters',
  description:
    'List handoffs that were stopped (unsafe, forged, or given up) and wait for a person, oldest first, with the evidence: where in the message and by which rule, never the text itself.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed({
    reason: {
      ...filter,
      description: 'Only those stopped for this reason, such as SAFETY_VIOLATION.',
    },
    cluster: { ...filter, description: 'Only those of this cluster, as a dead letter names it.' },
    ...PAGE,
  }),
  outputSchema: listed('deadLetters', ref('DeadLetter')),
  async run(args, call) {
    const page = await readList<{ deadLetters: readonly DeadLetter[] }>(
      call,
      '/v2/dead-letters',
      args,
    )
    return {
      data: { ...page, deadLetters: page.deadLetters.map(boundedLetter) },
      text: counted(page.deadLetters.length, 'dead letters wait for a person', page),
      untrusted: ['/deadLetters/*/details'],
    }
  },
})

const getDeadLetter = tool<{ readonly handoffId: string }>({
  name: 'get_dead_letter',
  title: 'Get a dead letter',
  description:
    'Look at one dead letter as a reviewer needs it: evidence, who proposed what, how many people each decision still needs, and what the audit log says. The quarantined text itself is never given to a model; a person reads it with `baton dlq show ID --text` or on the console, and is on record.',
  scope: 'handoffs:read',
  annotations: READS,
  inputSchema: closed({ handoffId: uuid('Of the dead letter.') }, ['handoffId']),
  outputSchema: { allOf: [ref('DeadLetterCase')], type: 'object', properties: UNTRUSTED },
  async run({ handoffId }, call) {
    const letter = await read<DeadLetter>(call, `/v2/dead-letters/${handoffId}`)
    return {
      data: boundedLetter(letter),
      text: `Dead letter ${handoffId} of task ${letter.taskId}: stopped for ${letter.reason}.`,
      untrusted: ['/details'],
    }
  },
})

const serviceLevels = tool<object>({
  name: 'service_levels',
  title: 'Service levels',
  description:
    'How the installation stands against what it promises: objectives and how much of their error budget is left, slow pairs of agents, rates, and what waits.',
  scope: 'metrics:read',
  annotations: READS,
  inputSchema: closed({
    transport: { type: 'string', enum: TRANSPORTS, description: 'Only this transport.' },
    from: { ...filter, description: 'Only pairs that this agent type hands on from.' },
    to: { ...filter, description: 'Only pairs that hand on to this agent type.' },
  }),
  outputSchema: { allOf: [ref('ServiceLevels')], type: 'object', properties: UNTRUSTED },
  async run(args, call) {
    const data = await readList<object>(call, '/v2/slo', args)
    return { data, text: 'How the service stands now, from its own counters.' }
  },
})

export const READ_TOOLS = [
  getHandoff,
  getTask,
  listHandoffs,
  listTasks,
  listAgents,
  listApprovals,
  listDeadLetters,
  getDeadLetter,
  serviceLevels,
]

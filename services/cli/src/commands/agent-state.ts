// From what a person types to the agent state of a task's first handoff.
import { randomUUID } from 'node:crypto'
import { parseMessage } from '@baton/protocol'
import type { AgentState } from '@baton/protocol'
import { permanent } from '@baton/runtime'
import { newTraceparent } from '@baton/telemetry'
import { readInput } from './read-input.ts'

export interface StateFlags {
  readonly file?: string
  readonly description?: string
  readonly state?: string
  readonly budget: number
}

const BYTES_MAX = 1_048_576
const KINDS = {
  taskId: 'text',
  handoffId: 'text',
  parentHandoffId: 'text',
  timestamp: 'text',
  agent: 'object',
  taskDescription: 'text',
  completedSubtasks: 'list',
  remainingSubtasks: 'list',
  currentState: 'object',
  relevantContext: 'list',
  conversationHistory: 'list',
  conversationHistorySummary: 'text',
  toolCallHistory: 'list',
  cost: 'object',
  traceparent: 'text',
  tracestate: 'text',
  personalData: 'object',
  dataClassification: 'text',
} as const

const INITIAL = 'INITIAL'
const isEmpty = (done: unknown): boolean => !Array.isArray(done) || done.length === 0

type Kind = (typeof KINDS)[keyof typeof KINDS]

/** What is not given is filled in: fresh ids, no cost so far. Throws BATON_USAGE naming what is wrong. */
export async function readAgentState(flags: StateFlags): Promise<AgentState> {
  const given =
    flags.file === undefined ? {} : parseObject(await readInput(flags.file, BYTES_MAX), flags.file)
  checkKinds(given)
  const { description } = flags
  if (description !== undefined && description !== INITIAL && isEmpty(given['completedSubtasks']))
    throw NOTHING_DONE
  const currentState = flags.state === undefined ? {} : parseObject(flags.state, '--state')
  return {
    taskId: randomUUID(),
    agent: { agentId: 'baton-cli', agentVersion: '1.0.0' },
    taskDescription: description ?? INITIAL,
    completedSubtasks: [],
    remainingSubtasks: [],
    currentState: currentState as AgentState['currentState'],
    traceparent: newTraceparent(),
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: flags.budget,
      ownCostUSD: 0,
      tokenSpent: { prompt: 0, completion: 0 },
    },
    ...(given as Partial<AgentState>),
  }
}

function parseObject(text: string, where: string): Readonly<Record<string, unknown>> {
  const parsed = parseMessage(Buffer.from(text))
  if (!parsed.ok) {
    const [first] = parsed.details
    const place = first?.pointer ? ` at ${first.pointer}` : ''
    throw usage(
      `${where}${place}: ${first?.message ?? 'is not JSON'}`,
      first?.fix ?? 'Give a JSON object.',
    )
  }
  const value: unknown = parsed.value
  if (kindOf(value) === 'object') return value as Record<string, unknown>
  throw usage(`${where} is not a JSON object`, 'Write { ... }.')
}

function checkKinds(given: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(given)) {
    const expected: Kind | undefined = KINDS[name as keyof typeof KINDS]
    if (expected === undefined) {
      throw usage(
        `/${name} is not a field of an agent state`,
        `Fields are ${Object.keys(KINDS).join(', ')}.`,
      )
    }
    if (kindOf(value) !== expected)
      throw usage(`/${name} is not ${expected}`, `Make /${name} ${expected}.`)
  }
}

function kindOf(value: unknown): Kind | undefined {
  if (typeof value === 'string') return 'text'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'object' && value !== null ? 'object' : undefined
}

const usage = (problem: string, fix: string) => permanent('BATON_USAGE', problem, { fix })

const NOTHING_DONE = usage(
  '--description is for a handoff that carries work done, and this one has no completedSubtasks',
  'Leave it out and say in --state what is to be done, or give completedSubtasks in --file.',
)

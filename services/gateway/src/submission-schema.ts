// The outer form of what may be posted. What is inside a message is the published schema's to check.
import { joinSchema } from '@baton/protocol/settlement'

const text = { type: 'string', maxLength: 262_144 }
const object = { type: 'object' }
const list = { type: 'array', items: { type: 'object' } }
const amount = { type: 'number', minimum: 0, maximum: 1_000_000_000 }
const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }

const closed = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** What an agent knows at the end of its execution. */
export const AGENT_STATE = closed(
  {
    taskId: text,
    handoffId: text,
    parentHandoffId: { type: ['string', 'null'] },
    timestamp: text,
    agent: closed({ agentId: text, agentVersion: text, executionId: text }, [
      'agentId',
      'agentVersion',
    ]),
    taskDescription: text,
    completedSubtasks: list,
    remainingSubtasks: list,
    currentState: object,
    relevantContext: list,
    conversationHistory: {
      type: 'array',
      items: {
        type: 'object',
        properties: { role: text, content: text },
        required: ['role', 'content'],
      },
    },
    conversationHistorySummary: text,
    toolCallHistory: list,
    cost: closed(
      {
        spentSoFarUSD: amount,
        budgetRemainingUSD: { ...amount, minimum: -1_000_000_000 },
        ownCostUSD: amount,
        tokenSpent: closed({ prompt: count, completion: count }, ['prompt', 'completion']),
      },
      ['spentSoFarUSD', 'budgetRemainingUSD', 'ownCostUSD', 'tokenSpent'],
    ),
    traceparent: text,
    tracestate: text,
    personalData: closed({ dataSubjects: { type: 'array', items: text }, payload: object }, [
      'dataSubjects',
      'payload',
    ]),
    dataClassification: text,
    residency: object,
    stream: object,
    contextSnapshot: object,
    externalRef: object,
    delegation: object,
    extensions: { type: 'object', propertyNames: { pattern: '^x-' } },
  },
  [
    'taskId',
    'agent',
    'taskDescription',
    'completedSubtasks',
    'remainingSubtasks',
    'currentState',
    'cost',
  ],
)

/** The same as a sender gives it. */
const GIVEN_STATE = {
  ...AGENT_STATE,
  description:
    'Without taskDescription, completedSubtasks and parentHandoffId it is the first handoff of a task: the message says INITIAL, and what is to be done stands in currentState.',
  required: ['taskId', 'agent', 'currentState', 'cost'],
}

/** What it asks of the receiver and of the delivery. */
export const CONSTRAINTS = closed(
  {
    list: { type: 'array', items: text },
    agentVersion: text,
    priority: { type: 'integer', minimum: 0, maximum: 3 },
    deadline: text,
    expiresAt: text,
    requiresApproval: { type: 'boolean' },
    tokenBudget: count,
    replySchema: text,
    replySchemaRef: text,
    requirements: object,
    receiverList: {
      ...list,
      description: 'Each gets a full copy as a branch of its own; the target is one of them.',
    },
    join: { ...joinSchema, description: 'What waits for those branches.' },
    schemaVersion: { type: 'string', enum: ['2.0', '2.1', '2.2'] },
    receiverContextWindowTokens: { type: 'integer', minimum: 1, maximum: 100_000_000 },
    compressionThreshold: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
    verbatimTurns: { type: 'integer', minimum: 0, maximum: 10_000 },
  },
  [],
)

/** What an agent knows at the end of its execution; Baton builds the message. */
export const STATE_SUBMISSION = closed(
  {
    agentState: GIVEN_STATE,
    targetAgentType: text,
    constraints: { ...CONSTRAINTS, default: {} },
  },
  ['agentState', 'targetAgentType'],
)

/** A message that was built elsewhere; Baton signs it. */
export const MESSAGE_SUBMISSION = closed(
  {
    message: { type: 'object', description: 'A handoff message: /schemas/handoff/2.1.json' },
    checkpoint: {
      type: 'object',
      description: 'The state of the sender, handed back byte for byte after a rollback.',
    },
    ownCostUSD: {
      ...amount,
      default: 0,
      description: 'What the sender spent since its own handoff was settled; added to the task.',
    },
    join: {
      ...joinSchema,
      description: "What waits for the branches of the message's receiverList.",
    },
  },
  ['message', 'checkpoint'],
)

// How an agent outside says what an execution came to, as JSON Schema: over /v2/executions/settle, and in the answer to a push.
import { CLASSIFICATIONS } from './classification.ts'
import { JURISDICTION_PATTERN } from './residency.ts'

const closed = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

/** Postgres stores no NUL, so nothing can be called so. */
const name = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^\\u0000]*$' }
const someNames = { type: 'array', items: name, minItems: 1, maxItems: 100 }
const names = { type: 'array', items: name, maxItems: 100, default: [] }
const count = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const code = {
  type: 'string',
  pattern: '^[A-Z][A-Z0-9_]{0,63}$',
  description:
    'An upper-case name. It stands in logs and records, so no text of the work may be in it.',
}
/** The name of a language model: one word of printable characters. */
export const MODEL_PATTERN = '^[!-~]{1,128}$'
const instant = { type: 'string', format: 'date-time' }

const SUBTASK = closed({ subtaskId: name, description: { type: 'string', maxLength: 8_192 } }, [
  'subtaskId',
  'description',
])

const NEXT = {
  to: name,
  agentVersion: { type: 'string', maxLength: 256 },
  taskDescription: { type: 'string', minLength: 1, maxLength: 8_192 },
  remainingSubtasks: { type: 'array', items: SUBTASK, maxItems: 10_000 },
  constraints: { type: 'array', items: { type: 'string', minLength: 1 }, maxItems: 10_000 },
  relevantContext: { type: 'array', items: { type: 'object' }, maxItems: 10_000 },
  priority: { type: 'integer', minimum: 0, maximum: 3 },
  budgetUSD: { type: 'number', minimum: 0, maximum: 1_000_000_000 },
  requiresApproval: { type: 'boolean' },
  deadline: instant,
  expiresAt: instant,
  requirements: closed({ mcp: names, capabilities: names }, []),
  tokenBudget: { type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER },
  replySchema: { type: 'string', enum: ['prose', 'structured', 'json'] },
  replySchemaRef: { type: 'string', minLength: 1, maxLength: 2_048 },
  dataClassification: {
    type: 'string',
    enum: [...CLASSIFICATIONS],
    description: 'As sensitive as before, or more.',
  },
  residency: closed(
    {
      jurisdiction: { type: 'string', pattern: JURISDICTION_PATTERN.source },
      transferMechanism: {
        type: 'string',
        enum: ['none', 'adequacy', 'scc', 'bcr', 'derogation'],
      },
    },
    ['jurisdiction', 'transferMechanism'],
  ),
  externalRef: closed({ protocol: name, id: { type: 'string', minLength: 1, maxLength: 1_024 } }, [
    'protocol',
    'id',
  ]),
  extensions: {
    type: 'object',
    propertyNames: { type: 'string', pattern: '^x-' },
    description: 'Private fields; those of the message that are not named here carry over.',
  },
  receiverContextWindowTokens: { type: 'integer', minimum: 1, maximum: 1_000_000_000 },
  compressionThreshold: { type: 'number', exclusiveMinimum: 0, maximum: 1 },
  verbatimTurns: { type: 'integer', minimum: 0, maximum: 10_000 },
}

const TURN = closed(
  {
    role: name,
    content: { type: 'string' },
    timestamp: instant,
    name: { type: 'string' },
    tool_call_id: { type: 'string' },
    metadata: { type: 'object' },
  },
  ['role', 'content'],
)

const TOOL_CALL = closed(
  {
    tool: name,
    calledAt: instant,
    inputHash: { type: 'string', pattern: '^sha256:[0-9a-f]{64}$' },
    outputTokens: count,
  },
  ['tool', 'calledAt', 'inputHash'],
)

/** What waits for branches. */
export const joinSchema = closed(
  {
    ...NEXT,
    waitFor: {
      description: 'How many branches must have completed; the others are canceled then.',
      default: 'all',
      anyOf: [
        { type: 'string', enum: ['all', 'any'] },
        { type: 'integer', minimum: 1, maximum: 100 },
      ],
    },
    onFailure: { type: 'string', enum: ['wait', 'skip', 'fail'], default: 'wait' },
  },
  ['to', 'taskDescription'],
)

const WORK = {
  result: { description: 'The outcome; that of the task where nothing is handed on.' },
  subtask: closed({ ...SUBTASK.properties, result: {} }, ['subtaskId', 'description']),
  conversation: {
    type: 'array',
    items: TURN,
    maxItems: 10_000,
    description: 'What was said in this execution: it goes on after the turns of the message.',
  },
  toolCalls: {
    type: 'array',
    items: TOOL_CALL,
    maxItems: 10_000,
    description: 'Tools that were called in this execution.',
  },
  personalData: {
    ...closed(
      {
        dataSubjects: { ...names, maxItems: 10_000 },
        payload: { type: 'object', default: {} },
      },
      ['dataSubjects'],
    ),
    description:
      'People whose data came in, and the data; they join those of the message. Erasing one of them erases what is answered here, also where nothing is handed on.',
  },
  state: { type: 'object', description: 'The next currentState; that of the message by default.' },
  costUSD: { type: 'number', minimum: 0, maximum: 1_000_000_000, default: 0 },
  tokens: closed({ prompt: count, completion: count }, ['prompt', 'completion']),
  model: {
    type: 'string',
    pattern: MODEL_PATTERN,
    description: 'The language model that was used; it stands in the audit record.',
  },
  chunks: {
    type: 'integer',
    minimum: 0,
    maximum: 10_000,
    default: 0,
    description: 'How many chunks its stream has in all: it commits only with exactly these.',
  },
  next: {
    type: 'array',
    maxItems: 100,
    items: closed({ ...NEXT, branch: name }, ['to', 'taskDescription']),
    default: [],
    description: 'Several begin a branch each and run at the same time.',
  },
  join: joinSchema,
}

/** What each outcome takes beside its name: members, and which of them it must have. */
const OUTCOMES: Readonly<Record<string, readonly [object, readonly string[]]>> = {
  complete: [WORK, []],
  partial: [
    {
      ...WORK,
      remaining: {
        type: 'array',
        items: SUBTASK,
        minItems: 1,
        maxItems: 10_000,
        description: 'What is left: it goes on with `next`, or by itself to the same agent type.',
      },
    },
    ['remaining'],
  ],
  fail: [{ code, retry: { type: 'boolean', default: false } }, ['code']],
  reject: [{ code }, ['code']],
  blocked: [{ unmet: someNames }, ['unmet']],
}

const isOutcome = (kind: string) => ({
  type: 'object',
  properties: { outcome: { const: kind } },
  required: ['outcome'],
})

/**
 * The schema of one settlement, with the members that say which execution it is of. Each outcome is held against its own
 * form only, so that what is wrong is told of the one that is meant.
 */
export const settlementSchema = (fence: object, required: readonly string[]) => ({
  type: 'object',
  properties: { outcome: { type: 'string', enum: Object.keys(OUTCOMES) } },
  required: ['outcome'],
  allOf: Object.entries(OUTCOMES).map(([kind, [members, needed]]) => ({
    if: { not: isOutcome(kind) },
    else: closed({ ...fence, outcome: { const: kind }, ...members }, [
      ...required,
      'outcome',
      ...needed,
    ]),
  })),
})

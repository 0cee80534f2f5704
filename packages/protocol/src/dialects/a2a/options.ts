// What the metadata of a message says by the extension: whom the handoff is for, and what is asked of its delivery.
import { createDocumentCheck, firstProblem } from '../../document-check.ts'
import type { JsonObject } from '../../json.ts'
import { HANDOFF_EXTENSION } from './words.ts'

/** The metadata of a message under the URI of the extension. */
export interface HandoffOptions {
  /** Needed at the endpoint of the instance; at that of an agent type it names no other. */
  readonly targetAgentType?: string
  /** As which agent the caller sends. */
  readonly fromAgent?: string
  readonly priority?: number
  readonly requiresApproval?: boolean
  readonly expiresAt?: string
  readonly deadline?: string
  readonly budgetUSD?: number
  /** Whose data the message holds: opaque ids, by which it can be erased. */
  readonly dataSubjects?: readonly string[]
  readonly constraints?: readonly string[]
}

const name = { type: 'string', minLength: 1, maxLength: 256 }
const time = { type: 'string', format: 'date-time', maxLength: 64 }

/** Published in the agent cards, with the extension. */
export const OPTIONS_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    targetAgentType: {
      ...name,
      description: 'The agent type that gets the handoff.',
    },
    fromAgent: { ...name, description: 'As which agent the caller sends.' },
    priority: {
      type: 'integer',
      minimum: 0,
      maximum: 3,
      description: '0 critical, 1 high, 2 medium, 3 low.',
    },
    requiresApproval: {
      type: 'boolean',
      description: 'A person of the installation has to approve it first.',
    },
    expiresAt: { ...time, description: 'When it expires unless an agent has taken it.' },
    deadline: { ...time, description: 'When the work must be done.' },
    budgetUSD: {
      type: 'number',
      minimum: 0,
      maximum: 1_000_000,
      description: 'What the task may cost in all.',
    },
    dataSubjects: {
      type: 'array',
      items: name,
      minItems: 1,
      maxItems: 100,
      uniqueItems: true,
      description: 'Opaque ids of the people whose data the message holds.',
    },
    constraints: {
      type: 'array',
      items: name,
      maxItems: 100,
      description: 'By convention key:value.',
    },
  },
} as const

const check = createDocumentCheck<HandoffOptions>(OPTIONS_SCHEMA)

type ReadOptions =
  | { readonly ok: true; readonly value: HandoffOptions }
  | { readonly ok: false; readonly pointer: string; readonly problem: string; readonly fix: string }

/** Those of a message; none where it says nothing by the extension. */
export function readOptions({ metadata }: JsonObject): ReadOptions {
  const given = (metadata as JsonObject | undefined)?.[HANDOFF_EXTENSION]
  if (given === undefined) return { ok: true, value: {} }
  const read = check(Buffer.from(JSON.stringify(given)))
  if (read.ok) return { ok: true, value: read.document }
  return {
    ok: false,
    pointer: `/metadata/${HANDOFF_EXTENSION}`,
    problem: firstProblem(read.details),
    fix: 'Compare it with the schema in the agent card.',
  }
}

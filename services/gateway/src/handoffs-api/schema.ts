// The Handoffs API as OpenAPI describes it. What is posted is checked by its mapping, which has the API's own words.
import { STATUSES } from '@baton/protocol/dialects/handoffs-api'
import { KEY_HEADER } from '../idempotency-key.ts'
import { answers, only, problemsIn, ref, TRACE_HEADERS } from '../operation.ts'
import { refusedQuery } from './refusals.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const time = { type: 'string', format: 'date-time' }
const timeOrNull = { type: ['string', 'null'], format: 'date-time' }
const priority = { type: 'integer', minimum: 0, maximum: 3 }
const described = (schema: object, description: string) => ({ ...schema, description })

const MESSAGE_MEMBERS = {
  id: { type: 'string', format: 'uuid' },
  fromProfileId: text,
  toProfileId: text,
  taskId: described(text, 'The sourceTaskId as it was given; without one, the task it began.'),
  targetTaskId: described(textOrNull, "Baton's task, once an agent has accepted."),
  subject: text,
  body: text,
  attachments: described(
    textOrNull,
    'JSON text: `{"result"}` of what is completed, with `partial` and `remaining` where some is left; `{"error"}` of what failed or was refused.',
  ),
  priority,
  status: { enum: STATUSES },
  requiresApproval: { type: 'boolean' },
  approvedBy: described(
    textOrNull,
    'The name that was given. Whose key decided stands in the audit log.',
  ),
  parentMessageId: textOrNull,
  chainDepth: { type: 'integer', minimum: 0, maximum: 4 },
  createdAt: time,
  respondedAt: timeOrNull,
  expiresAt: timeOrNull,
}

/** By the names under which OpenAPI lists them. */
export const MESSAGE_ANSWERS = {
  HandoffsApiMessage: {
    type: 'object',
    properties: MESSAGE_MEMBERS,
    required: Object.keys(MESSAGE_MEMBERS),
  },
  HandoffsApiProblem: {
    type: 'object',
    properties: {
      error: described(text, 'What is wrong, as other servers of this API say it.'),
      type: text,
      title: text,
      status: { type: 'integer' },
      detail: text,
      code: { type: 'string', pattern: '^BATON_' },
      fix: text,
      pointer: text,
      parameter: text,
      errors: { type: 'array', items: { type: 'object' } },
      traceId: text,
    },
    required: ['error', 'type', 'title', 'status', 'detail', 'code', 'fix'],
  },
}

export const MESSAGE_REQUESTS = {
  HandoffsApiCreate: {
    type: 'object',
    additionalProperties: false,
    required: ['fromProfileId', 'toProfileId', 'subject', 'body'],
    properties: {
      fromProfileId: text,
      toProfileId: text,
      subject: { type: 'string', minLength: 1, maxLength: 200 },
      body: { type: 'string', minLength: 1, maxLength: 4_000 },
      sourceTaskId: { type: ['string', 'null'], maxLength: 256 },
      priority: described(
        { type: ['integer', 'null'], minimum: 0, maximum: 3 },
        '0 critical, 1 high, 2 medium (where it is left out), 3 low.',
      ),
      requiresApproval: described(
        { type: ['boolean', 'null'] },
        'Nothing of it executes before it was approved. False where it is left out.',
      ),
      parentMessageId: { type: ['string', 'null'] },
      dataSubjects: described(
        { type: ['array', 'null'], items: text, maxItems: 100 },
        'Opaque ids of the people whom the text is about; erasing one of them erases it.',
      ),
    },
  },
  HandoffsApiDecision: {
    type: 'object',
    additionalProperties: false,
    required: ['action'],
    properties: {
      action: { enum: ['approve', 'reject'] },
      approvedBy: described(
        { type: ['string', 'null'], maxLength: 200 },
        'A name that is kept and shown; "user" where it is left out.',
      ),
    },
  },
}

const usual = problemsIn({ 400: 'The request is refused; `error` says why' })

type Documented = Readonly<
  Record<string, { readonly description: string; readonly content: object }>
>

/** The usual problems, which have `error` here. */
function refusals(own: readonly number[], words: Readonly<Record<number, string>> = {}) {
  const documented = usual(own, words) as Documented
  return Object.fromEntries(
    Object.entries(documented).map(([status, { description }]) => [
      status,
      {
        description,
        content: { 'application/problem+json': { schema: ref('HandoffsApiProblem') } },
      },
    ]),
  )
}

export const CREATE_MESSAGE = {
  operationId: 'createHandoffsApiMessage',
  summary: 'Handoffs API: send a message; answered once it is durable',
  description:
    'The message becomes a handoff to the agent type of its profile. Without approval it moves on by itself.',
  headers: { type: 'object', properties: { ...KEY_HEADER, ...TRACE_HEADERS } },
  body: {
    ...ref('HandoffsApiCreate'),
  },
  response: {
    201: answers(
      'The message as it was created; the same for a repeated Idempotency-Key',
      'HandoffsApiMessage',
      {
        Location: { type: 'string', description: 'Path of the message.' },
        traceparent: { type: 'string', description: 'The trace context the handoff carries.' },
        'Idempotency-Replayed': {
          const: 'true',
          description: 'Present where an earlier request had sent it.',
        },
      },
    ),
    ...refusals([413, 415, 500], {
      409: 'A request with the same Idempotency-Key is under way',
      422: 'The Idempotency-Key was used for another body',
    }),
  },
}

const status = { enum: STATUSES }
const profileId = { type: 'string', minLength: 1, maxLength: 256, pattern: '^[^\\u0000]*$' }
const listed = { type: 'array', items: ref('HandoffsApiMessage'), maxItems: 100 }

const listing = (
  operationId: string,
  summary: string,
  filters: object,
  own: readonly number[],
) => ({
  ...only('handoffs:read', {
    operationId,
    summary,
    querystring: { type: 'object', properties: filters },
    response: { 200: answers('The newest 100; [] where there is none', listed), ...refusals(own) },
  }),
  schemaErrorFormatter: refusedQuery,
})

export const LIST_MESSAGES = listing(
  'listHandoffsApiMessages',
  'Handoffs API: messages, newest first, at most 100',
  { status, profileId: described(profileId, 'Those to this profile.') },
  [],
)

export const LIST_OF_PROFILE = {
  inbox: listing(
    'listHandoffsApiInbox',
    'Handoffs API: messages to a profile, newest first, at most 100',
    { status },
    [404],
  ),
  sent: listing(
    'listHandoffsApiSent',
    'Handoffs API: messages from a profile, newest first, at most 100',
    { status },
    [404],
  ),
}

export const READ_MESSAGE = only('handoffs:read', {
  operationId: 'readHandoffsApiMessage',
  summary: 'Handoffs API: one message',
  response: { 200: answers('The message', 'HandoffsApiMessage'), ...refusals([404]) },
})

export const DECIDE_MESSAGE = {
  ...only('approvals:decide', {
    operationId: 'decideHandoffsApiMessage',
    summary:
      'Handoffs API: approve or reject a message that waits for it; the first decision is final',
    body: ref('HandoffsApiDecision'),
    response: {
      200: answers('The message as it was decided', 'HandoffsApiMessage'),
      ...refusals([404], { 409: 'It does not wait for a decision, or not any more' }),
    },
  }),
  attachValidation: true,
}

// What the gateway answers, by the names under which OpenAPI lists it. Descriptions only: nothing is cut to their form.
import { HANDOFF_STATES } from '@baton/protocol'
import { ALERT_ANSWERS } from './alert-schema.ts'
import { SUBSCRIPTION_ANSWERS } from './events/subscription-schema.ts'
import { CLAIMED, KEPT, SETTLED } from './executions/schema.ts'
import { MESSAGE_ANSWERS } from './handoffs-api/schema.ts'
import { SERVICE_LEVELS } from './level-schema.ts'
import { ref } from './operation.ts'
import { EMITTED, STREAM_PAGE } from './streams/schema.ts'

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const uuid = { type: 'string', format: 'uuid' }
const time = { type: 'string', format: 'date-time' }
const integer = { type: 'integer' }
const yesOrNo = { type: 'boolean' }
const object = { type: 'object' }
const usd = { type: 'number', description: 'US dollars.' }

const listOf = (items: object) => ({ type: 'array', items })
const described = (schema: object, description: string) => ({ ...schema, description })
const record = (properties: object, required?: readonly string[]) => ({
  type: 'object',
  properties,
  ...(required === undefined ? {} : { required }),
})

const BRANCHES = described(
  listOf(record({ branch: text, handoffId: uuid, toAgent: text })),
  'Of several receivers: the copy for each, in their order; handoffId is that for the target.',
)

const ANSWERS = {
  ClaimedExecutions: CLAIMED,
  KeptExecutions: KEPT,
  SettledExecutions: SETTLED,
  Emitted: EMITTED,
  StreamPage: STREAM_PAGE,
  ...SUBSCRIPTION_ANSWERS,
  Sent: record(
    {
      handoffId: uuid,
      taskId: uuid,
      taskSeq: described(integer, 'Place of the handoff in its task, from 1.'),
      traceparent: text,
      branches: BRANCHES,
      deliveredBy: described(textOrNull, 'Only with mode=sync: as in Delivered.'),
      handoff: described(ref('Handoff'), 'Only with mode=sync: how it stands.'),
    },
    ['handoffId', 'taskId', 'taskSeq', 'traceparent'],
  ),
  Delivered: record(
    {
      handoffId: uuid,
      taskId: uuid,
      taskSeq: described(integer, 'Place of the handoff in its task, from 1.'),
      traceparent: text,
      branches: BRANCHES,
      deliveredBy: {
        type: ['string', 'null'],
        enum: ['http', 'queue', null],
        description:
          'Whether the call over HTTP brought it to its receiver, or the queue did or will; null where an earlier request had sent it.',
      },
      handoff: ref('Handoff'),
    },
    ['handoffId', 'taskId', 'taskSeq', 'traceparent', 'deliveredBy', 'handoff'],
  ),
  Receipt: record(
    {
      origin: described(text, 'The chain of the audit log.'),
      seq: described(integer, 'Position in the chain, from 0.'),
      recordHash: described(text, 'SHA-256 of the record, in hexadecimal.'),
    },
    ['origin', 'seq', 'recordHash'],
  ),
  Handoff: record({
    revision: described(integer, '1 as it was first sent; one more with every correction.'),
    resumesHandoffId: described(
      textOrNull,
      'The rolled-back or expired handoff that it takes up again.',
    ),
    routedTo: described(
      textOrNull,
      'The agent type that gets it instead, after it was blocked at toAgent.',
    ),
    approval: {
      type: ['object', 'null'],
      properties: {
        decision: {
          enum: ['approve', 'reject', null],
          description: 'Null where nobody has decided.',
        },
        decidedBy: textOrNull,
      },
      description: 'Null where it was never held for a person.',
    },
    sha256: described(text, 'Digest of the signed bytes in hex: what an approval is about.'),
    cancelRequested: yesOrNo,
    cancelGraceUntil: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'Until when a result still counts although it is being canceled.',
    },
    handoffId: uuid,
    taskId: uuid,
    taskSeq: integer,
    parentHandoffId: textOrNull,
    fromAgent: text,
    toAgent: text,
    state: { enum: HANDOFF_STATES },
    reason: textOrNull,
    details: { description: 'What was wrong, where, and how to mend it.' },
    attempt: integer,
    attemptsMax: integer,
    priority: { type: 'integer', minimum: 0, maximum: 3 },
    traceparent: text,
    spentUSD: usd,
    remainingUSD: usd,
    costUSD: { type: ['number', 'null'] },
    result: { description: 'What the agent answered.' },
    createdAt: time,
    acceptedAt: textOrNull,
    endedAt: textOrNull,
    expiresAt: textOrNull,
    returns: described(
      listOf(object),
      'Every time it was handed back to its sender; only where one handoff is read.',
    ),
    branch: {
      type: ['object', 'null'],
      properties: {
        branchId: uuid,
        name: described(text, 'By the names of the branches it stands in, the outermost first.'),
        outcome: described(
          textOrNull,
          'Null while something of it goes on, or waits for a person to take it up again or cancel it.',
        ),
      },
      description: 'Null on the task\u2019s own way.',
    },
    links: object,
  }),
  JoinedBranch: record({
    branch: text,
    outcome: described(text, 'COMPLETED, or how it ended without a result.'),
    reason: textOrNull,
    handoffId: described(textOrNull, 'Its last handoff.'),
    result: { description: 'Null where nothing came out of it.' },
  }),
  Notice: record({
    noticeId: uuid,
    kind: { type: 'string', enum: ['return', 'rollback'] },
    handoffId: uuid,
    taskId: uuid,
    fromAgent: text,
    toAgent: text,
    attempt: described(integer, 'The attempt that failed, from 1.'),
    attemptsMax: integer,
    revision: described(integer, 'The revision that was refused; a correction is the next one.'),
    reason: text,
    details: {
      description: 'What was wrong, at which JSON pointer of the message, and how to mend it.',
    },
    traceparent: text,
    message: described(object, 'The message as it was refused.'),
    checkpointSha256: text,
    leaseUntil: described(time, 'Until then nobody else is told.'),
    retryAt: {
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When it is tried again unless it is corrected before.',
    },
    links: object,
  }),
  Notices: record({ notices: listOf(ref('Notice')) }),
  Acknowledged: record({ noticeId: uuid, acknowledged: { const: true } }),
  Revised: record({
    handoffId: uuid,
    revision: integer,
    state: text,
    repeated: described(yesOrNo, 'True where the same correction had been taken before.'),
  }),
  Resumed: record({
    handoffId: uuid,
    taskId: uuid,
    taskSeq: integer,
    state: text,
    traceparent: text,
    repeated: described(
      yesOrNo,
      'True where it had been resumed before; the answer is that handoff.',
    ),
  }),
  Task: record({
    taskId: uuid,
    status: text,
    budgetUSD: usd,
    spentUSD: usd,
    failedHandoffs: integer,
    handoffs: described(integer, 'How many there are.'),
    checkpointId: textOrNull,
    result: { description: 'The final outcome.' },
    createdAt: time,
    updatedAt: time,
    links: object,
  }),
  TaskWithHandoffs: record({ task: ref('Task'), handoffs: listOf(ref('Handoff')) }),
  TaskTrace: record({
    task: { anyOf: [ref('Task'), { type: 'null' }] },
    handoffs: listOf(ref('Handoff')),
    audit: described(
      record(
        {
          records: listOf(
            record(
              {
                recordHash: {
                  type: 'string',
                  pattern: '^[0-9a-f]{64}$',
                  description: 'Recomputed from the stored bytes.',
                },
                assurance: {
                  enum: ['committed', 'sealed', 'witnessed', 'archived'],
                  description:
                    'How well it is kept; each includes the ones before it: durable, signed, seen outside the database, copied to the cold store.',
                },
                tier: {
                  enum: ['hot', 'cold'],
                  description: 'Whether the database still has it, or the cold store alone.',
                },
                body: described(object, 'The decision record.'),
              },
              ['recordHash', 'assurance', 'tier', 'body'],
            ),
          ),
          verified: described(
            yesOrNo,
            'Nothing missing, nothing changed, every accepted handoff has its decision, and every stream its recorded chunks.',
          ),
          ends: described(
            listOf(
              record(
                {
                  proof: { enum: ['sealed', 'witnessed'] },
                  until: described(text, 'Nothing was missing at the end until then.'),
                  records: { type: 'integer', minimum: 0, description: 'How many it had.' },
                },
                ['proof', 'until', 'records'],
              ),
            ),
            'What signed maps of tasks say of the end of the task, the strongest proof first; empty where none does yet.',
          ),
          seenBy: described(
            { enum: ['witnesses', 'anchor file', 'database', null] },
            'By whose word something of it was seen outside: `database` is the word of whoever owns it, where the auditor knows neither policy nor anchor file.',
          ),
          isAbsent: described(yesOrNo, 'It is proven that the log never had a record of it.'),
          unrecorded: described(
            listOf(text),
            'Handoffs that were accepted although the log has no such decision; each is an alarm.',
          ),
          alteredStreams: described(
            listOf(text),
            'Handoffs whose chunks are not those that their record of completion names; each is an alarm.',
          ),
          expiredHandoffs: described(
            listOf(text),
            'Handoffs whose decision was recorded and has expired since; nothing is wrong with that.',
          ),
        },
        ['records', 'verified', 'unrecorded'],
      ),
      "The auditor's answer: records in their order, gaps, findings, cost.",
    ),
  }),
  DeadLetter: record({
    handoffId: uuid,
    taskId: uuid,
    fromAgent: text,
    toAgent: text,
    reason: text,
    details: {},
    createdAt: time,
    resolvedAt: textOrNull,
    branch: described(textOrNull, 'The name of its branch.'),
    links: object,
  }),
  ReleasedDeadLetter: {
    allOf: [
      ref('DeadLetter'),
      record({ artefactId: described(textOrNull, 'The scanner that stopped it.') }),
    ],
  },
  DeadLetterCase: {
    allOf: [
      ref('DeadLetter'),
      record({
        sentBy: textOrNull,
        earlierSenders: described(
          listOf(text),
          'Whose keys sent it before it was corrected; none of them decides either.',
        ),
        sha256: text,
        bytes: integer,
        revision: integer,
        state: text,
        artefactId: textOrNull,
        scanner: record({ reviewed: textOrNull, now: text }),
        own: yesOrNo,
        release: {
          type: ['object', 'null'],
          properties: { needed: { type: ['integer', 'null'] } },
        },
        redact: { type: ['object', 'null'], properties: { needed: { type: ['integer', 'null'] } } },
        proposals: listOf(
          record({
            proposal: text,
            action: { enum: ['RELEASE', 'REDACT'] },
            content: {},
            reviewers: listOf(record({ reviewer: text, at: time })),
          }),
        ),
        recorded: {
          type: ['object', 'null'],
          description: 'What the log says of it; null while the log cannot be asked.',
          properties: {
            verified: described(yesOrNo, 'The records of its task are what was recorded.'),
            records: listOf(
              record({
                event: text,
                recordedAt: time,
                reason: textOrNull,
                actor: textOrNull,
                recordHash: text,
                assurance: { enum: ['committed', 'sealed', 'witnessed', 'archived'] },
              }),
            ),
            unrecorded: described(
              listOf(text),
              'What is shown here and stands in no record, a few seconds after it happened at the latest.',
            ),
          },
        },
      }),
    ],
  },
  DeadLetterCluster: record({
    cluster: text,
    reason: text,
    count: integer,
    oldestAt: time,
    newestAt: time,
    exampleId: uuid,
  }),
  ReviewOutcome: record({
    handoffId: uuid,
    outcome: { enum: ['waiting', 'decided', 'asked'] },
    reviewers: listOf(text),
    needed: integer,
    proposal: text,
    resolution: text,
    repeated: yesOrNo,
    links: object,
  }),
  DryRunResult: record({
    scanner: text,
    total: described(integer, 'How many were meant; of a cluster, the oldest are judged.'),
    totalIsExact: yesOrNo,
    wouldPass: integer,
    letters: listOf(
      record({
        handoffId: uuid,
        wouldPass: yesOrNo,
        reason: textOrNull,
        details: listOf(object),
        agents: { description: 'Versions of the receiving agent that are live, or unknown' },
      }),
    ),
    notWaiting: listOf(uuid),
  }),
  Redrive: record({
    redriveId: uuid,
    state: { enum: ['CANARY', 'RUNNING', 'DONE', 'STOPPED', 'CANCELED'] },
    cluster: textOrNull,
    createdBy: text,
    stoppedBy: textOrNull,
    why: { type: ['object', 'null'] },
    ratePerSecond: integer,
    canaryIds: listOf(uuid),
    waiting: integer,
    driven: integer,
    skipped: integer,
    completed: integer,
    taken: integer,
    leftOut: listOf(record({ handoffId: uuid, reason: text })),
    createdAt: time,
    endedAt: textOrNull,
    links: object,
  }),
  Approval: record({
    handoffId: uuid,
    taskId: uuid,
    fromAgent: text,
    toAgent: text,
    sentBy: described(textOrNull, 'The operator whose key sent it'),
    priority: integer,
    requestedAt: time,
    expiresAt: { type: ['string', 'null'], format: 'date-time' },
    sha256: described(text, 'Digest of the signed bytes in hex: what is approved.'),
    branch: described(textOrNull, 'The name of its branch.'),
    links: object,
  }),
  DecidedApproval: record({
    handoffId: uuid,
    taskId: uuid,
    decision: { enum: ['approve', 'reject'] },
    decidedBy: described(text, 'The operator of the key that decided'),
    reasonCode: textOrNull,
    decidedAt: time,
    state: text,
    repeated: yesOrNo,
    links: object,
  }),
  Cancellation: record({
    ended: described(listOf(uuid), 'Handoffs that this request ended'),
    stopping: described(
      listOf(record({ handoffId: uuid, graceUntil: time })),
      'Handoffs that still execute: a result before graceUntil counts, then they end CANCELED',
    ),
    taskId: uuid,
    taskStatus: text,
    repeated: yesOrNo,
  }),
  Agent: record({
    type: text,
    versions: listOf(text),
    requires: listOf(text),
    capabilities: described(listOf(text), 'What every live worker of this type can do'),
    mcp: described(listOf(text), 'MCP servers that every live worker of this type can reach'),
    workers: integer,
    seenAt: time,
  }),
  ServiceLevels: SERVICE_LEVELS,
  Readiness: record({
    status: { enum: ['ready', 'not ready'] },
    checks: record({ database: yesOrNo, audit: yesOrNo }),
  }),
  Problem: described(
    record(
      {
        type: described(text, 'urn:baton:problem:<code>'),
        title: text,
        status: integer,
        detail: text,
        code: { type: 'string', pattern: '^BATON_' },
        fix: text,
        pointer: text,
        parameter: described(text, 'The parameter of path or query that is meant.'),
        errors: listOf(
          record({ pointer: text, rule: text, detail: text, fix: text, expected: text }),
        ),
        traceId: described(text, 'Finds the request in logs and traces.'),
      },
      ['type', 'title', 'status', 'detail', 'code', 'fix'],
    ),
    'RFC 9457. `code` is stable; `pointer` and the pointers of `errors` lead into the request body.',
  ),
}

export const ANSWER_SCHEMAS = Object.entries({
  ...ANSWERS,
  ...ALERT_ANSWERS,
  ...MESSAGE_ANSWERS,
}).map(([$id, schema]) => ({ $id, ...schema }))

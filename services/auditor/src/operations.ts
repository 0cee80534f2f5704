// What every route says of itself: who may call it, what it takes, what it answers. OpenAPI is made of it, and a test holds it to the routes.
import { COST_KEYS } from '@baton/audit'
import { RECORDS_BODY } from './append-records.ts'
import { CHECK_BODY } from './check-receipts.ts'
import {
  COMPLETE,
  CONFIRM,
  LIST as LIST_ERASURES,
  PLAN,
  SEARCH as SEARCH_SUBJECT,
} from './erasure-shapes.ts'
import { DRILL, EXPORT_TASKS, EXPORT_WITH_RECEIPTS } from './evidence-routes.ts'
import { FOLLOW_BODY } from './follow-part.ts'
import { HOLD, LIST as LIST_HOLDS } from './hold-part.ts'
import { COUNT, HASH, UUID } from './schemas.ts'
import { COSTS, SEARCH } from './search-shapes.ts'
import { NODES } from './tile-part.ts'

/** Each is a token of its own; who has an access token of an issuer needs the role that stands for it. */
type Token = 'append' | 'read' | 'evidence' | 'hold' | 'erase' | 'tiles'

type Schema = object

interface Shape {
  readonly properties?: Readonly<Record<string, object>>
}

export interface Operation {
  readonly method: 'get' | 'post' | 'put'
  readonly path: string
  readonly id: string
  readonly summary: string
  readonly description?: string
  /** Any of these; nobody needs one where there is none. */
  readonly tokens: readonly Token[]
  readonly query?: Shape
  readonly params?: Shape
  readonly body?: Schema
  /** The answer, and of which type where it is not JSON. */
  readonly answer: {
    readonly description: string
    readonly schema?: Schema
    readonly type?: string
  }
  readonly problems: Readonly<Record<number, string>>
}

const text = { type: 'string' }
const textOrNull = { type: ['string', 'null'] }
const flag = { type: 'boolean' }
const milliseconds = { type: 'number', minimum: 0 }
const time = { type: 'string', format: 'date-time' }
const timeOrNull = { type: ['string', 'null'], format: 'date-time' }
const anything = { type: 'object' }
const listOf = (items: Schema) => ({ type: 'array', items })
const answer = (properties: Schema) => ({
  type: 'object',
  required: Object.keys(properties),
  properties,
})
const described = (schema: Schema, description: string) => ({ ...schema, description })

const FINDINGS = described(
  listOf(anything),
  'What is wrong, each with its rule and where it stands.',
)
const ASSURANCE = described(text, 'How well it is kept: committed, sealed, witnessed and so on.')
const RECEIPT = answer({ origin: text, seq: COUNT, recordHash: HASH })
const LOOKED = answer({ records: COUNT, proven: COUNT, since: timeOrNull, findings: FINDINGS })
const CURSOR = described(textOrNull, 'For the next answer; null where this is the last.')
const TASK_PATH = { type: 'object', properties: { taskId: UUID } }
const ID_PATH = { type: 'object', properties: { id: UUID } }

const HOLD_STATES = ['held', 'lift_unproven', 'unverified', 'unrecorded']
const TOLD_HOLD = answer({
  taskId: UUID,
  state: { enum: HOLD_STATES },
  isListed: described(flag, 'Whether the table of holds has it too.'),
  record: described({ type: ['object', 'null'] }, 'The newest record about it.'),
})
const HOLDS_LOOKED = answer({ proven: flag, why: textOrNull, unread: COUNT, findings: FINDINGS })
const WITH_HOLDS = {
  holds: listOf(TOLD_HOLD),
  moreHolds: described(flag, 'Whether GET /v1/holds tells others.'),
  holdsLooked: HOLDS_LOOKED,
}

const ERASURE = answer({
  id: UUID,
  state: text,
  basis: text,
  requestedBy: text,
  requestedAt: time,
  confirmedBy: textOrNull,
  confirmedAt: timeOrNull,
  completedAt: timeOrNull,
  handoffIds: listOf(UUID),
  taskIds: listOf(UUID),
  receipt: { type: ['object', 'null'] },
  proven: described(flag, 'Whether it is what the auditor and its people signed.'),
})
const STORES = listOf({
  type: 'object',
  required: ['name', 'before', 'after'],
  properties: { name: text, before: COUNT, after: COUNT, note: text },
})

const TASK_PROBLEMS = {
  400: 'The task id is not a lower-case UUID',
  404: 'The log has no record of this task, or that it never had one cannot be proven',
}
const SIGNED = 'The signature is missing or does not count; Baton-Decision-Needed says what to sign'

const RECORDS: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/records',
    id: 'appendRecords',
    summary: 'Append entries to the log; each is durable before the answer',
    tokens: ['append'],
    body: RECORDS_BODY,
    answer: {
      description: 'A receipt for each entry, in their order',
      schema: answer({ receipts: listOf(RECEIPT) }),
    },
    problems: {
      400: 'An entry has another form; a pointer leads to it',
      403: 'The token may not record this event, or nobody whose decisions count signed it',
      409: 'The same handoff, event and epoch are recorded with other content',
    },
  },
  {
    method: 'post',
    path: '/v1/receipts/check',
    id: 'checkReceipts',
    summary: 'Whether the log still has the records of these receipts',
    tokens: ['append'],
    body: CHECK_BODY,
    answer: {
      description: 'A state for each receipt, in their order',
      schema: answer({
        states: listOf({ enum: ['sealed', 'recorded', 'waiting', 'different', 'missing'] }),
      }),
    },
    problems: { 400: 'The body is not a list of receipts' },
  },
  {
    method: 'get',
    path: '/v1/traces/{taskId}',
    id: 'readTrace',
    summary: 'Every record of a task out of both tiers, checked',
    tokens: ['read'],
    params: TASK_PATH,
    answer: {
      description: 'The records in their order, with what is missing or wrong',
      schema: answer({
        taskId: UUID,
        records: listOf(
          answer({
            recordHash: HASH,
            assurance: ASSURANCE,
            tier: { enum: ['hot', 'cold'] },
            body: described(anything, 'The record, as the schema decision-record describes it.'),
          }),
        ),
        expired: COUNT,
        gaps: listOf(anything),
        findings: FINDINGS,
        ends: described(listOf(anything), 'Until when nothing is missing at the end of the task.'),
        verified: flag,
        cost: anything,
      }),
    },
    problems: TASK_PROBLEMS,
  },
  {
    method: 'get',
    path: '/v1/verify',
    id: 'verify',
    summary:
      'Read the whole log again, and judge it; callers that come meanwhile get the same answer',
    tokens: ['read'],
    answer: {
      description: 'The verdict',
      schema: answer({
        ok: flag,
        verdict: { enum: ['verified', 'incomplete', 'tampered'] },
        records: COUNT,
        findings: FINDINGS,
        findingsTotal: COUNT,
      }),
    },
    problems: {},
  },
  {
    method: 'get',
    path: '/v1/scrub',
    id: 'scrubStatus',
    summary: 'How far the pass has come that reads everything again, and what it found last',
    tokens: ['read'],
    answer: { description: 'The position, and at most 100 findings', schema: anything },
    problems: {},
  },
  {
    method: 'post',
    path: '/v1/follow',
    id: 'followLog',
    summary: 'What the log has since the caller was there last, chain by chain and in order',
    description:
      'Records of all tenants, without any text and without proof. Go on with the positions of the answer; a chain that none names begins at `since`.',
    tokens: ['read'],
    body: FOLLOW_BODY,
    answer: {
      description: 'The records, and where to go on',
      schema: answer({
        records: listOf(anything),
        positions: listOf(anything),
        isMore: flag,
        restored: described(
          listOf(COUNT),
          'Chains that are not what was read of them, as after a restore: they begin at `since` again.',
        ),
      }),
    },
    problems: { 400: 'The body is no place in the log' },
  },
  {
    method: 'post',
    path: '/v1/search',
    id: 'search',
    summary:
      'Records by task, agent, reason, person, time or cost; each with how well it is proven',
    description:
      'How many fit in all is not counted: `looked` says how much of the log was read for the answer, and `cursor` goes on. A search for a person, or with `export`, needs the token `evidence`.',
    tokens: ['read', 'evidence'],
    body: SEARCH.schema.body,
    answer: {
      description: 'The hits',
      schema: answer({ hits: listOf(anything), looked: LOOKED, cursor: CURSOR }),
    },
    problems: { 400: 'The search asks for something that there is not' },
  },
  {
    method: 'post',
    path: '/v1/costs',
    id: 'readCosts',
    summary: `What was spent, by ${COST_KEYS.join(', ')}`,
    tokens: ['read', 'evidence'],
    body: COSTS.schema.body,
    answer: {
      description: 'The sums, with how much of the log was read for them',
      schema: anything,
    },
    problems: { 400: 'The search asks for something that there is not' },
  },
]

const KEEPING: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/tiers',
    id: 'readTiers',
    summary: 'How far each chain stands in which tier',
    tokens: ['read'],
    answer: {
      description: 'Each chain, and what the cold store was found to be',
      schema: answer({ store: textOrNull, chains: listOf(anything), ...WITH_HOLDS }),
    },
    problems: {},
  },
  {
    method: 'get',
    path: '/v1/retention',
    id: 'readRetention',
    summary: 'What is kept where and until when',
    tokens: ['read'],
    answer: {
      description: 'Each chain',
      schema: answer({
        store: textOrNull,
        hotDays: COUNT,
        retentionDays: COUNT,
        chains: listOf(anything),
        ...WITH_HOLDS,
      }),
    },
    problems: {},
  },
  {
    method: 'get',
    path: '/v1/holds',
    id: 'listHolds',
    summary: 'Tasks that are held, proven by their records; at most 200 in one answer',
    description:
      'Ask again with `after` until `next` is null. Where `looked.unread` is above 0 the log is not read to its end yet: the same request goes on.',
    tokens: ['read'],
    query: LIST_HOLDS.schema.querystring,
    answer: {
      description: 'The holds',
      schema: answer({ holds: listOf(TOLD_HOLD), looked: HOLDS_LOOKED, next: textOrNull }),
    },
    problems: { 400: '`after` is not a lower-case UUID' },
  },
  {
    method: 'put',
    path: '/v1/holds/{taskId}',
    id: 'holdTask',
    summary: 'Keep the records of a task from every deletion, or let them go; itself a record',
    tokens: ['hold'],
    params: TASK_PATH,
    body: HOLD.schema.body,
    answer: {
      description: 'How it stands',
      schema: answer({ taskId: UUID, held: flag, changed: flag }),
    },
    problems: {
      400: 'A hold names a task, whether it is held, and who says so',
      403: SIGNED,
      404: 'The log has no record of this task',
      409: 'This signature is on record for an earlier hold',
    },
  },
]

const EVIDENCE: readonly Operation[] = [
  {
    method: 'get',
    path: '/v1/evidence/{taskId}',
    id: 'exportTask',
    summary: 'Everything about a task as one file that proves itself; itself a record',
    description:
      'With the header Baton-Payload-Authorization, which carries a second token, also what was said. Baton-Verdict and Baton-Finding say what the file comes to.',
    tokens: ['evidence'],
    params: TASK_PATH,
    answer: { description: 'The bundle', type: 'application/x-tar' },
    problems: TASK_PROBLEMS,
  },
  {
    method: 'post',
    path: '/v1/evidence/{taskId}',
    id: 'exportTaskWithReceipts',
    summary: 'The same, held to receipts that somebody else has',
    tokens: ['evidence'],
    params: TASK_PATH,
    body: EXPORT_WITH_RECEIPTS.schema.body,
    answer: { description: 'The bundle', type: 'application/x-tar' },
    problems: TASK_PROBLEMS,
  },
  {
    method: 'post',
    path: '/v1/evidence',
    id: 'exportTasks',
    summary: 'Several tasks in one file',
    tokens: ['evidence'],
    body: EXPORT_TASKS.schema.body,
    answer: { description: 'The bundle', type: 'application/x-tar' },
    problems: TASK_PROBLEMS,
  },
  {
    method: 'get',
    path: '/v1/policy',
    id: 'readPolicy',
    summary: 'The policy that bundles of this log are verified with',
    tokens: ['evidence'],
    answer: { description: 'The policy', type: 'text/plain' },
    problems: {},
  },
  {
    method: 'post',
    path: '/v1/drills',
    id: 'runDrill',
    summary: 'Trace and verify a task that chance has named, as a regulator would; itself a record',
    tokens: ['evidence'],
    body: DRILL.schema.body,
    answer: {
      description: 'How long it took, and what it came to',
      schema: answer({
        seed: COUNT,
        taskId: UUID,
        records: COUNT,
        coldRecords: COUNT,
        traceMs: milliseconds,
        verifyMs: milliseconds,
        totalMs: milliseconds,
        limitMs: milliseconds,
        traceVerified: flag,
        verdict: text,
        spentMicroUSD: COUNT,
        result: { enum: ['passed', 'too slow', 'failed'] },
      }),
    },
    problems: { 400: 'The seed is not a whole number', 404: 'The log has no record yet' },
  },
]

const ERASURES: readonly Operation[] = [
  {
    method: 'post',
    path: '/v1/erasures',
    id: 'planErasure',
    summary: 'Note the signed request to erase a person, and count what would go',
    tokens: ['erase'],
    body: PLAN.schema.body,
    answer: {
      description: 'The plan',
      schema: answer({
        state: { enum: ['PLANNED', 'DEFERRED'] },
        heldTaskIds: listOf(UUID),
        stores: STORES,
      }),
    },
    problems: {
      400: 'The body does not have this form',
      403: SIGNED,
      409: 'Another erasure has this id',
    },
  },
  {
    method: 'get',
    path: '/v1/erasures',
    id: 'listErasures',
    summary: 'Erasures, newest first; they name no person',
    tokens: ['erase'],
    query: LIST_ERASURES.schema.querystring,
    answer: {
      description: 'One page of them, and how many there are',
      schema: answer({
        erasures: listOf(ERASURE),
        nextCursor: CURSOR,
        total: described(COUNT, 'How many there are in all; counted to 10000.'),
        totalIsExact: described(flag, 'False where there are more than `total`.'),
      }),
    },
    problems: { 400: 'A parameter has no valid value' },
  },
  {
    method: 'get',
    path: '/v1/erasures/{id}',
    id: 'readErasure',
    summary: 'How far an erasure has come, with its receipt',
    tokens: ['erase'],
    params: ID_PATH,
    answer: { description: 'The erasure', schema: ERASURE },
    problems: { 404: 'There is no such erasure' },
  },
  {
    method: 'post',
    path: '/v1/erasures/{id}/confirm',
    id: 'confirmErasure',
    summary: 'The second person confirms it; the log’s side is erased at once',
    tokens: ['erase'],
    params: ID_PATH,
    body: CONFIRM.schema.body,
    answer: { description: 'The erasure', schema: ERASURE },
    problems: {
      400: 'The body does not have this form',
      403: SIGNED,
      404: 'There is no such erasure',
      409: 'A legal hold stands, it is about somebody else, or the table was changed',
    },
  },
  {
    method: 'post',
    path: '/v1/erasures/{id}/complete',
    id: 'completeErasure',
    summary: 'End it with a signed receipt of every store; refused while anything is left',
    tokens: ['erase'],
    params: ID_PATH,
    body: COMPLETE.schema.body,
    answer: { description: 'The signed receipt', schema: anything },
    problems: {
      400: 'The body does not have this form',
      404: 'There is no such erasure',
      409: 'Something of the person is still stored, or nobody confirmed it',
    },
  },
  {
    method: 'post',
    path: '/v1/erasures/replay',
    id: 'replayErasures',
    summary: 'Carry on what was interrupted, and erase again what a restore brought back',
    tokens: ['erase'],
    answer: {
      description: 'What there was to do',
      schema: answer({ resumed: COUNT, keys: COUNT, payloads: COUNT, unproven: listOf(UUID) }),
    },
    problems: {},
  },
  {
    method: 'post',
    path: '/v1/subjects/search',
    id: 'searchSubject',
    summary: 'The records in which a person stands, without any text; at most 1,000',
    tokens: ['erase'],
    body: SEARCH_SUBJECT.schema.body,
    answer: {
      description: 'The records, each with whether it is what was recorded',
      schema: answer({ records: listOf(anything) }),
    },
    problems: { 400: 'The body does not have this form' },
  },
]

const CHAIN_PATH = {
  type: 'object',
  properties: { chain: { type: 'string', pattern: '^[0-9]{1,4}$' } },
}
const TILE_PATH = {
  type: 'object',
  properties: { tile: described(text, 'As C2SP tlog-tiles names tiles, slashes included.') },
}

const TILES: readonly Operation[] = [
  {
    method: 'get',
    path: '/checkpoint',
    id: 'readCheckpoint',
    summary: 'The newest signed tree head of the seal log, as a C2SP checkpoint',
    tokens: ['read', 'tiles'],
    answer: { description: 'The signed note', type: 'text/plain' },
    problems: { 404: 'Nothing is sealed yet' },
  },
  {
    method: 'get',
    path: '/tile/{tile}',
    id: 'readTile',
    summary: 'A tile of the seal log',
    tokens: ['read', 'tiles'],
    params: TILE_PATH,
    answer: { description: 'The tile', type: 'application/octet-stream' },
    problems: { 404: 'The published tree has no such tile' },
  },
  {
    method: 'get',
    path: '/chains/{chain}/checkpoint',
    id: 'readChainCheckpoint',
    summary: 'The newest checkpoint of a chain of records',
    tokens: ['read', 'tiles'],
    params: CHAIN_PATH,
    answer: { description: 'The signed note', type: 'text/plain' },
    problems: { 404: 'There is no such chain, or nothing of it is sealed' },
  },
  {
    method: 'get',
    path: '/chains/{chain}/tile/{tile}',
    id: 'readChainTile',
    summary: 'A tile of a chain of records',
    tokens: ['read', 'tiles'],
    params: { ...CHAIN_PATH, properties: { ...CHAIN_PATH.properties, ...TILE_PATH.properties } },
    answer: { description: 'The tile', type: 'application/octet-stream' },
    problems: { 404: 'The published tree has no such tile' },
  },
  {
    method: 'get',
    path: '/tasks/{seals}/{node}',
    id: 'readTaskMapNode',
    summary: 'A node of the map of tasks, as it stood after so many seals',
    tokens: ['read', 'tiles'],
    params: NODES.schema.params,
    answer: { description: 'The node', type: 'application/octet-stream' },
    problems: { 404: 'This version of the map has no such node, or it is no longer kept' },
  },
]

const ABOUT: readonly Operation[] = [
  {
    method: 'get',
    path: '/healthz',
    id: 'health',
    summary: 'Whether the process is alive',
    tokens: [],
    answer: { description: 'It is', schema: answer({ status: { const: 'ok' } }) },
    problems: {},
  },
  {
    method: 'get',
    path: '/readyz',
    id: 'readiness',
    summary: 'Whether its databases answer',
    tokens: [],
    answer: { description: 'They do', schema: anything },
    problems: { 503: 'One of them does not' },
  },
  {
    method: 'get',
    path: '/openapi.json',
    id: 'describe',
    summary: 'This document',
    tokens: [],
    answer: { description: 'OpenAPI 3.1', schema: anything },
    problems: {},
  },
]

export const OPERATIONS: readonly Operation[] = [
  ...RECORDS,
  ...KEEPING,
  ...EVIDENCE,
  ...ERASURES,
  ...TILES,
  ...ABOUT,
]

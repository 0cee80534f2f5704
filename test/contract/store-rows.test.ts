// The row types of statements that are text: their columns are those that Postgres says it answers.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  cancelAtOnce,
  claimAlertDeliveries,
  claimExecutions,
  claimOutbox,
  countErased,
  decideApproval,
  endCanceledHandoffs,
  expireHandoffs,
  extendLeases,
  findCancelState,
  findInterrupted,
  findRedrive,
  findSubjectHandoffs,
  findTaskBudget,
  graceExecutions,
  holdDeadLetters,
  listClassesOf,
  listLiveAgents,
  listPriorityClasses,
  listQueueWatermarks,
  listTaskOutcomes,
  listUndelivered,
  lockRevisable,
  measureAcceptLatencies,
  outboxDepth,
  outboxQueueDepths,
  takeLostSuffixes,
  takeNotifications,
} from '@baton/store'
import type {
  AlertDelivery,
  ClaimedHandoff,
  Database,
  ExpiredHandoff,
  HeldDeadLetter,
  SenderNotification,
} from '@baton/store'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'
import { SIGNED_BYTES } from './signed-fixture.ts'

/** What the driver makes of each type of Postgres. */
const KINDS: Readonly<Record<string, string>> = {
  bool: 'boolean',
  bytea: 'bytes',
  float8: 'number',
  int2: 'number',
  int4: 'number',
  int8: 'number',
  json: 'json',
  jsonb: 'json',
  text: 'string',
  _text: 'strings',
  timestamptz: 'Date',
  uuid: 'string',
  _uuid: 'strings',
  name: 'string',
}

// With `!` where the column may be null and what the statement selects may not.
type Kind<Value> =
  | (null extends Value ? `${Known<NonNullable<Value>>}?` : Known<Value> | `${Known<Value>}!`)
  | (unknown extends Value ? 'json' : never)
type Known<Value> = unknown extends Value
  ? 'json'
  : Value extends string
    ? 'string'
    : Value extends number
      ? 'number'
      : Value extends boolean
        ? 'boolean'
        : Value extends Date
          ? 'Date'
          : Value extends Uint8Array
            ? 'bytes'
            : Value extends readonly string[]
              ? 'strings'
              : 'json'

/** Every column of a row with its kind; one that the row type lacks, or a missing one, does not compile. */
type Answer<Row> = { readonly [Name in keyof Row]-?: Kind<Row[Name]> }
type RowOf<Read extends (...values: never[]) => unknown> =
  Awaited<ReturnType<Read>> extends infer Answered
    ? NonNullable<Answered extends readonly (infer Row)[] ? Row : Answered>
    : never

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store rows')
})
afterAll(() => store.close())

interface Field {
  readonly name: string
  readonly dataTypeID: number
  readonly tableID: number
  readonly columnID: number
}

/** The columns that `statement` answers when `read` runs it, in a transaction that is rolled back. */
async function fieldsOf(statement: string, read: (db: Database) => Promise<unknown>) {
  const client = await store.pool.connect()
  let fields: readonly Field[] = []
  const recording: Database = {
    async query(asked) {
      const answered = await client.query<never>(asked)
      if (asked.name === statement) fields = answered.fields
      return answered
    },
  }
  try {
    await client.query('begin')
    await read(recording)
  } finally {
    await client.query('rollback')
    client.release()
  }
  return fields
}

async function describeFields(fields: readonly Field[]): Promise<Record<string, string>> {
  const rows = await store.rows<{ name: string; type: string; nullable: boolean }>(
    `select f.name, t.typname as type, coalesce(not a.attnotnull, false) as nullable
     from unnest($1::text[], $2::oid[], $3::oid[], $4::int[]) as f (name, type, "table", "column")
     join pg_type t on t.oid = f.type
     left join pg_attribute a on a.attrelid = f."table" and a.attnum = f."column"`,
    [
      fields.map(({ name }) => name),
      fields.map(({ dataTypeID }) => dataTypeID),
      fields.map(({ tableID }) => tableID),
      fields.map(({ columnID }) => columnID),
    ],
  )
  return Object.fromEntries(
    rows.map(({ name, type, nullable }) => [name, `${KINDS[type] ?? type}${nullable ? '?' : ''}`]),
  )
}

const id = randomUUID()
const leases = [{ handoffId: id, fencingToken: 1 }]

const KNOWN: Answer<ExpiredHandoff> = {
  handoffId: 'string',
  taskId: 'string',
  parentId: 'string?',
  fencingToken: 'number',
  attempt: 'number',
  fromAgent: 'string',
  fromVersion: 'string',
  fromExecution: 'string',
  toAgent: 'string',
  toVersion: 'string?',
  traceparent: 'string',
  tenant: 'string',
}
const HELD: Answer<RowOf<typeof extendLeases>> = {
  handoffId: 'string',
  canceledUntil: 'Date?',
  graceMs: 'number?',
}
const CLASS: Answer<RowOf<typeof listPriorityClasses>> = {
  tenant: 'string',
  queue: 'string',
  priority: 'number',
  granted: 'boolean',
}
const DEPTH: Answer<RowOf<typeof outboxDepth>> = { depth: 'number', oldestAgeSeconds: 'number' }
const { known: _, ...CANCEL_STATE }: Answer<RowOf<typeof findCancelState>> = {
  taskId: 'string',
  taskStatus: 'string',
  taskCancelRequested: 'boolean',
  state: 'string',
  cancelRequested: 'boolean',
  graceUntil: 'Date?',
  known: 'json',
}

type Read = (db: Database) => Promise<unknown>
const STATEMENTS: readonly (readonly [string, Read, Readonly<Record<string, string>>])[] = [
  [
    'claim_executions',
    (db) =>
      claimExecutions(db, { owner: id, leaseMs: 1_000 }, [{ handoffId: id, publishAttempt: 1 }]),
    {
      handoffId: 'string',
      taskId: 'string',
      taskSeq: 'number',
      fencingToken: 'number',
      leaseExpiries: 'number',
      decided: 'boolean',
      attempt: 'number',
      attemptsMax: 'number',
      publishAttempt: 'number',
      body: 'bytes',
      keyId: 'string',
      signature: 'string',
      fromAgent: 'string',
      fromVersion: 'string',
      fromExecution: 'string',
      toAgent: 'string',
      toVersion: 'string?',
      routedTo: 'string?',
      parentId: 'string?',
      traceparent: 'string',
      tracestate: 'string?',
      queueSeconds: 'number',
      branchId: 'string?',
      joins: 'strings?',
      budgetMicroUSD: 'number',
      failedHandoffs: 'number',
      parentRemainingMicroUSD: 'number?',
      sentBy: 'string?',
      earlierSenders: 'strings',
      approval: 'json?',
      tenant: 'string',
      approvalOverride: 'json?',
    } satisfies Answer<Omit<ClaimedHandoff, 'kind'>>,
  ],
  [
    'claim_outbox',
    (db) =>
      claimOutbox(db, [{ tenant: 'default', queue: 'a', priority: 1, afterSeq: 0, limit: 1 }]),
    {
      seq: 'number',
      handoffId: 'string',
      taskId: 'string',
      tenant: 'string',
      publishAttempt: 'number',
      queue: 'string',
      priority: 'number',
      sha256: 'bytes',
      bytes: 'number',
      traceparent: 'string',
      tracestate: 'string?',
      createdAt: 'Date',
    } satisfies Answer<RowOf<typeof claimOutbox>>,
  ],
  [
    'claim_alert_deliveries',
    (db) => claimAlertDeliveries(db, { webhook: 'a', limit: 1, leaseMs: 1 }),
    {
      changeId: 'string',
      webhook: 'string',
      attempts: 'number',
      change: 'string',
      changedAt: 'Date',
      actor: 'string?',
      alert: 'json?',
    } satisfies Answer<AlertDelivery>,
  ],
  ['list_priority_classes', (db) => listPriorityClasses(db), CLASS],
  ['list_classes_of_queues', (db) => listClassesOf(db, ['a']), CLASS],
  ['outbox_depth', (db) => outboxDepth(db), DEPTH],
  [
    'outbox_queue_depths',
    (db) =>
      outboxQueueDepths(db, [{ queue: 'a', tenant: null }], {
        queueMax: 1,
        criticalMax: 1,
        tenantMax: 1,
      }),
    {
      ...DEPTH,
      queue: 'string',
      tenant: 'string',
      criticalDepth: 'number',
      tenantDepth: 'number',
      hosted: 'boolean',
    } satisfies Answer<RowOf<typeof outboxQueueDepths>>,
  ],
  ['extend_leases', (db) => extendLeases(db, leases, 1_000), HELD],
  [
    'find_interrupted',
    (db) => findInterrupted(db, leases),
    { ...HELD, held: 'boolean' } satisfies Answer<RowOf<typeof findInterrupted>>,
  ],
  [
    'list_undelivered',
    (db) => listUndelivered(db, 1),
    { handoffId: 'string', publishAttempt: 'number', queue: 'string' } satisfies Answer<
      RowOf<typeof listUndelivered>
    >,
  ],
  [
    'list_queue_watermarks',
    (db) => listQueueWatermarks(db),
    { queue: 'string', relay: 'string', watermark: 'number' } satisfies Answer<
      RowOf<typeof listQueueWatermarks>
    >,
  ],
  [
    'take_lost_suffixes',
    (db) => takeLostSuffixes(db, [{ queue: 'a', relay: id, watermark: 1, survived: null }]),
    { queue: 'string', since: 'Date', seenAt: 'Date' } satisfies Answer<
      RowOf<typeof takeLostSuffixes>
    >,
  ],
  ['expire_handoffs', (db) => expireHandoffs(db), KNOWN],
  ['end_canceled_handoffs', (db) => endCanceledHandoffs(db), KNOWN],
  ['cancel_at_once', (db) => cancelAtOnce(db, [id]), KNOWN],
  [
    'grace_executions',
    (db) => graceExecutions(db, [id], 1),
    { ...KNOWN, graceUntil: 'Date!' } satisfies Answer<RowOf<typeof graceExecutions>>,
  ],
  ['find_cancel_task', (db) => findCancelState(db, { taskId: id }), { ...KNOWN, ...CANCEL_STATE }],
  [
    'find_cancel_handoff',
    (db) => findCancelState(db, { handoffId: id }),
    { ...KNOWN, ...CANCEL_STATE },
  ],
  ...(['approve', 'reject'] as const).map(
    (decision) =>
      [
        decision === 'approve' ? 'approve_handoff' : 'refuse_handoff',
        (db: Database) =>
          decideApproval(db, {
            handoffId: id,
            decision,
            decidedBy: 'ann',
            reasonCode: null,
            ...SIGNED_BYTES,
          }),
        KNOWN satisfies Answer<RowOf<typeof decideApproval>>,
      ] as const,
  ),
  [
    'take_notifications',
    (db) =>
      takeNotifications(db, { agents: ['a'], kinds: ['return'], taker: 'b', leaseMs: 1, limit: 1 }),
    {
      noticeId: 'string',
      kind: 'string',
      handoffId: 'string',
      taskId: 'string',
      fromAgent: 'string',
      toAgent: 'string',
      attempt: 'number',
      attemptsMax: 'number',
      revision: 'number',
      reason: 'string',
      details: 'json',
      traceparent: 'string',
      body: 'bytes',
      keyId: 'string',
      signature: 'string',
      checkpoint: 'bytes',
      checkpointSha256: 'bytes',
      leaseUntil: 'Date!',
      retryAt: 'Date?',
      holds: 'boolean',
    } satisfies Answer<SenderNotification & { readonly holds: boolean }>,
  ],
  [
    'read_revisable',
    (db) => lockRevisable(db, [{ handoffId: id, revision: 2 }]),
    {
      ...KNOWN,
      revision: 'number',
      askedSha256: 'bytes?',
      state: 'string',
      taskStatus: 'string',
      live: 'boolean',
      returned: 'boolean',
      asked: 'boolean',
      spentMicroUSD: 'number',
      remainingMicroUSD: 'number',
      childRemainingMicroUSD: 'number?',
    } satisfies Answer<RowOf<typeof lockRevisable>>,
  ],
  [
    'hold_dead_letters',
    (db) => holdDeadLetters(db, [id]),
    {
      ...KNOWN,
      reason: 'string',
      quarantineAttempt: 'number',
      resolution: 'string?',
      sentBy: 'string?',
      earlierSenders: 'strings',
      asked: 'boolean',
      rulesetVersion: 'string?',
      sha256: 'string',
      taskStatus: 'string',
      overdue: 'boolean',
      canceling: 'boolean',
    } satisfies Answer<HeldDeadLetter>,
  ],
  [
    'find_redrive',
    (db) => findRedrive(db, id),
    {
      redriveId: 'string',
      state: 'string',
      cluster: 'string?',
      createdBy: 'string',
      stoppedBy: 'string?',
      why: 'json?',
      ratePerSecond: 'number',
      canaryIds: 'strings',
      waiting: 'number',
      driven: 'number',
      skipped: 'number',
      completed: 'number',
      createdAt: 'Date',
      endedAt: 'Date?',
    } satisfies Answer<RowOf<typeof findRedrive>>,
  ],
  [
    'list_live_agents',
    (db) => listLiveAgents(db, 1),
    {
      type: 'string',
      position: 'string',
      versions: 'strings',
      requires: 'strings',
      capabilities: 'strings',
      mcp: 'strings',
      workers: 'number',
      seenAt: 'Date',
    } satisfies Answer<RowOf<typeof listLiveAgents>>,
  ],
  [
    'list_task_outcomes',
    (db) => listTaskOutcomes(db, [id]),
    {
      taskId: 'string',
      status: 'string',
      result: 'json',
      spentMicroUSD: 'number',
      hopsMicroUSD: 'number',
      state: 'string',
      reason: 'string?',
    } satisfies Answer<RowOf<typeof listTaskOutcomes>>,
  ],
  [
    'measure_accept_latencies',
    (db) => measureAcceptLatencies(db, [id]),
    { p50: 'number', p95: 'number', p99: 'number', max: 'number' } satisfies Answer<
      RowOf<typeof measureAcceptLatencies>
    >,
  ],
  [
    'find_subject_handoffs',
    (db) => findSubjectHandoffs(db, 'ann'),
    {
      handoffId: 'string',
      taskId: 'string',
      state: 'string',
      createdAt: 'Date',
      erasedAt: 'Date?',
      open: 'boolean',
    } satisfies Answer<RowOf<typeof findSubjectHandoffs>>,
  ],
  [
    'find_task_budget',
    (db) => findTaskBudget(db, id),
    {
      budgetMicroUSD: 'number',
      spentMicroUSD: 'number',
      remainingMicroUSD: 'number!',
      isIdle: 'boolean!',
      traceparent: 'string',
    } satisfies Answer<RowOf<typeof findTaskBudget>>,
  ],
  [
    'count_erased',
    (db) => countErased(db, [id]),
    { name: 'string', before: 'number', after: 'number' } satisfies Answer<
      RowOf<typeof countErased>
    >,
  ],
]

// A column of a table says itself whether it may be null; of an expression or an outer join nobody does.
const settled = (declared: string, described: string | undefined): string =>
  described === declared.replace(/[?!]$/, '') ||
  (described === `${declared.slice(0, -1)}?` && /[?!]$/.test(declared))
    ? declared
    : `${described}`

describe('a statement answers the columns of its row type', () => {
  it.each(STATEMENTS)('%s', async (statement, read, declared) => {
    const described = await describeFields(await fieldsOf(statement, read))
    const compared = Object.entries(declared).map(([name, kind]) => [
      name,
      settled(kind, described[name]),
    ])
    expect({ ...described, ...Object.fromEntries(compared) }).toEqual(declared)
  })
})

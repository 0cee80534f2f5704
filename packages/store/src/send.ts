// The atomic send (I1): task, checkpoint, handoff, body and outbox row commit together or not at all.
import { transient } from '@baton/runtime'
import {
  BINARY,
  columns,
  hasCode,
  int2,
  int4,
  int8,
  nullable,
  text,
  timestamptz,
  uuid,
} from '@baton/postgres'
import { hasTaskEnded, isUuid } from '@baton/protocol'
import { run } from './database.ts'
import type { Database } from './database.ts'
import { ENDED_TASK } from './states.ts'

/** One signed handoff on its way into Postgres. */
export interface NewHandoff {
  readonly handoffId: string
  readonly taskId: string
  readonly parentId: string | null
  /** The branch it belongs to; null on the task’s own way. */
  readonly branchId: string | null
  /** The fan-out that it joins; null of all others. */
  readonly joinsId: string | null
  readonly fromAgent: string
  readonly fromVersion: string
  readonly fromExecution: string
  readonly toAgent: string
  readonly toVersion: string | null
  readonly priority: number
  readonly requiresApproval: boolean
  readonly attemptsMax: number
  readonly keyId: string
  readonly signature: string
  readonly traceparent: string
  readonly tracestate: string | null
  /** The earlier of `expiresAt` and `deadline`; never accepted afterwards. Once accepted, only the deadline counts. */
  readonly expiresAt: string | null
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  /** What the sender spent since its own handoff was settled; added to the task. */
  readonly addedCostMicroUSD: number
  readonly body: Uint8Array
  readonly sha256: Uint8Array
  /** Digest of what the sender asked for: the same request again is a duplicate, not a conflict. */
  readonly requestSha256: Uint8Array
  readonly checkpointId: string
  readonly checkpoint: Uint8Array
  readonly checkpointSha256: Uint8Array
  /** The operator whose API key sent it, or sent what led to it; nobody reviews a handoff of their own. */
  readonly sentBy: string | null
  /** For whom it is sent, whose task it must be in; null is for whose the task is, or the default tenant's where it begins. */
  readonly tenant: string | null
}

/** `duplicate`: the same request was sent before, so the first send's answer holds. */
export type SendOutcome =
  | { readonly kind: 'sent' | 'duplicate'; readonly taskSeq: number; readonly state: string }
  /** `task_of_other`: it is another tenant’s. */
  | { readonly kind: 'conflict' | 'task_ended' | 'task_of_other' }
  /** It is from, or to, an agent that is not its tenant’s. */
  | { readonly kind: 'agent_of_other'; readonly agent: string }
  | {
      readonly kind: 'budget_mismatch'
      readonly budgetMicroUSD: number
      readonly parentRemainingMicroUSD: number | null
    }

const HANDOFFS = columns({
  handoffId: uuid,
  taskId: uuid,
  parentId: nullable(uuid),
  branchId: nullable(uuid),
  joinsId: nullable(uuid),
  fromAgent: text,
  fromVersion: text,
  fromExecution: uuid,
  toAgent: text,
  toVersion: nullable(text),
  priority: int2,
  state: text,
  attemptsMax: int4,
  keyId: text,
  signature: text,
  traceparent: text,
  tracestate: nullable(text),
  expiresAt: nullable(timestamptz),
  spentMicroUSD: int8,
  remainingMicroUSD: int8,
  addedCostMicroUSD: int8,
  sha256: BINARY.bytea,
  requestSha256: BINARY.bytea,
  checkpointId: uuid,
  checkpointSha256: BINARY.bytea,
  sentBy: nullable(text),
  tenant: nullable(text),
  bodyFrom: int4,
  bodyBytes: int4,
  checkpointFrom: int4,
  checkpointBytes: int4,
})
/** Whether a row's tenant may send it as whom and to whom it does. Names without a tenant are the default one's: no table is asked. */
const REACHES = (
  row: string,
): string => `(case when ${row}.owner = 'default' and strpos(${row}.to_agent, '/') = 0
    and strpos(${row}.from_agent, '/') = 0 then true
  else reaches(${row}.owner, ${row}.to_agent) and (${row}.tenant is null or tenant_of_agent(${row}.from_agent) = ${row}.owner) end)`

const BODIES = `$${HANDOFFS.width + 1}::bytea`

// A task's first handoff brings its spent amount along; later ones add theirs to it. More than the task
// began with never remains, whatever parent a handoff names. A branch has a budget of its own.
const SEND = `
with input as (
  select * from ${HANDOFFS.unnest('t', { ordinality: 'ord' })}
), unknown as (
  select i.*, coalesce(i.tenant, task.tenant, first_value(i.tenant) over (partition by i.task_id order by i.ord), 'default') as owner,
    coalesce(task.tenant, first_value(i.tenant) over (partition by i.task_id order by i.ord), 'default') as task_owner, least(parent.remaining_micro_usd, task.budget_micro_usd - root.spent_micro_usd, i.remaining_micro_usd) as remaining_most,
    coalesce(branch.budget_micro_usd, task.budget_micro_usd,
      first_value(i.spent_micro_usd + i.remaining_micro_usd) over (partition by i.task_id order by i.ord)) as budget
  from input i
  left join task on task.id = i.task_id
  left join branch on branch.id = i.branch_id
  left join handoff parent on parent.id = i.parent_id and parent.task_id = i.task_id
  left join handoff root on root.task_id = i.task_id and root.task_seq = 1
  where not exists (select from handoff known where known.id = i.handoff_id)
), fresh as (
  select u.*, row_number() over (partition by task_id order by ord) as nth,
         count(*) over (partition by task_id) as total
  from unknown u where owner = task_owner and ${REACHES('u')} and spent_micro_usd + remaining_micro_usd = budget and remaining_micro_usd <= remaining_most
), tasks as (
  insert into task as t (id, tenant, status, checkpoint_id, next_seq, budget_micro_usd, spent_micro_usd)
  select task_id, (array_agg(owner))[1], 'PENDING_HANDOFF', (array_agg(checkpoint_id order by nth desc))[1], 1 + count(*),
         (array_agg(spent_micro_usd + remaining_micro_usd order by nth))[1],
         (array_agg(spent_micro_usd order by nth))[1] + coalesce(sum(added_cost_micro_usd) filter (where nth > 1), 0)
  from fresh group by task_id order by task_id
  on conflict (id) do update set
    status = 'PENDING_HANDOFF', checkpoint_id = excluded.checkpoint_id,
    spent_micro_usd = t.spent_micro_usd + (select sum(added_cost_micro_usd) from fresh where task_id = t.id),
    next_seq = t.next_seq + excluded.next_seq - 1, updated_at = clock_timestamp()
  where t.status not in ${ENDED_TASK} and not t.cancel_requested and t.tenant = excluded.tenant
  returning id, next_seq, budget_micro_usd
), accepted as (
  select f.*, t.next_seq - f.total - 1 + f.nth as seq
  from fresh f join tasks t on t.id = f.task_id
    and (f.branch_id is not null or t.budget_micro_usd = f.spent_micro_usd + f.remaining_micro_usd)
), bodies as (
  insert into handoff_body (handoff_id, body)
  select handoff_id, substring(${BODIES} from body_from for body_bytes) from accepted
), checkpoints as (
  insert into checkpoint (id, task_id, body, sha256)
  select checkpoint_id, task_id, substring(${BODIES} from checkpoint_from for checkpoint_bytes),
    checkpoint_sha256
  from accepted
), published as (
  insert into outbox (handoff_id, tenant, task_id, publish_attempt, queue, priority, sha256, bytes, traceparent,
    tracestate)
  select handoff_id, owner, task_id, 1, to_agent, priority, sha256, body_bytes, traceparent, tracestate
  from accepted where state = 'QUEUED' order by ord
), held as (
  insert into approval (handoff_id, task_id, tenant)
  select handoff_id, task_id, owner from accepted where state = 'AWAITING_APPROVAL' order by ord
)
insert into handoff (id, task_id, task_seq, parent_id, branch_id, joins_id, from_agent, from_version, from_execution,
  to_agent, to_version, priority, state, attempts_max, checkpoint_id, body_sha256, request_sha256, body_bytes,
  key_id, signature, traceparent, tracestate, expires_at, spent_micro_usd, remaining_micro_usd, sent_by, tenant)
select handoff_id, task_id, seq, parent_id, branch_id, joins_id, from_agent, from_version, from_execution, to_agent,
  to_version, priority, state, attempts_max, checkpoint_id, sha256, request_sha256, body_bytes, key_id, signature,
  traceparent, tracestate, expires_at, spent_micro_usd, remaining_micro_usd, sent_by, owner
from accepted
returning id as "handoffId", task_seq as "taskSeq", state`

const REFUSED = columns({
  handoffId: uuid,
  taskId: uuid,
  parentId: nullable(uuid),
  branchId: nullable(uuid),
  tenant: nullable(text),
  fromAgent: text,
  toAgent: text,
})

const WHY_NOT_SENT = `
select known.request_sha256 as "requestSha256", known.task_seq as "taskSeq",
       known.state, coalesce(i.tenant <> known.tenant, false) as "isOther", coalesce(i.tenant <> task.tenant, false) as "isTaskOfOther",
       case when not reaches(coalesce(i.tenant, task.tenant, 'default'), i.to_agent) then i.to_agent
         when tenant_of_agent(i.from_agent) <> i.tenant then i.from_agent end as "agentOfOther",
       case when task.cancel_requested then 'CANCELED' else task.status end as status, coalesce(branch.budget_micro_usd, task.budget_micro_usd) as "budgetMicroUSD",
       parent.remaining_micro_usd as "parentRemainingMicroUSD"
from ${REFUSED.unnest('i', { ordinality: 'ord' })}
left join handoff known on known.id = i.handoff_id
left join task on task.id = i.task_id
left join branch on branch.id = i.branch_id
left join handoff parent on parent.id = i.parent_id and parent.task_id = i.task_id
order by i.ord`

interface SentRow {
  handoffId: string
  taskSeq: number
  state: string
}

interface RefusedRow {
  requestSha256: Buffer | null
  taskSeq: number | null
  state: string | null
  /** The handoff, or the task, is another tenant’s. */
  isOther: boolean
  isTaskOfOther: boolean
  agentOfOther: string | null
  status: string | null
  budgetMicroUSD: number | null
  parentRemainingMicroUSD: number | null
}

/**
 * Sends a set in one statement, so that one commit covers all of them; answers in order.
 * Each handoff stands for itself: a refused one does not keep the others from being sent.
 * Run it on a pool for a transaction of its own, or inside the caller's transaction. Throws a
 * transient BATON_SEND_RACE where another sender commits one of the same handoffs at this moment:
 * sent again, that one is a duplicate.
 */
export async function sendHandoffs(
  db: Database,
  handoffs: readonly NewHandoff[],
): Promise<readonly SendOutcome[]> {
  const rows = await insertAll(db, handoffs)
  const sent = new Map(rows.map((row) => [row.handoffId, row]))
  const refused = handoffs.filter((handoff) => !sent.has(handoff.handoffId))
  const reasons = refused.length === 0 ? new Map() : await whyNotSent(db, refused)
  return handoffs.map((handoff): SendOutcome => {
    const row = sent.get(handoff.handoffId)
    if (row !== undefined) return { kind: 'sent', taskSeq: row.taskSeq, state: row.state }
    return refusal(handoff, reasons.get(handoff))
  })
}

/** Whether a handoff with this id is stored, whatever it says. */
export async function isSent(db: Database, handoffId: string | undefined): Promise<boolean> {
  if (handoffId === undefined || !isUuid(handoffId)) return false
  const text = 'select true as known from handoff where id = $1'
  return (await run(db, 'is_sent', text, [handoffId])).length > 0
}

const UNIQUE_VIOLATION = '23505'

async function insertAll(db: Database, handoffs: readonly NewHandoff[]): Promise<SentRow[]> {
  const { bodies, placed } = packBodies(handoffs)
  const rows = placed.map((one) => ({ ...one, state: stateOf(one) }))
  try {
    return await run<SentRow>(db, 'send_handoffs', SEND, [...HANDOFFS.values(rows), bodies])
  } catch (error) {
    if (!hasCode(error, UNIQUE_VIOLATION)) throw error
    throw transient('BATON_SEND_RACE', 'the same handoff is being sent twice at this moment', {
      cause: error,
    })
  }
}

async function whyNotSent(
  db: Database,
  handoffs: readonly NewHandoff[],
): Promise<Map<NewHandoff, RefusedRow>> {
  const rows = await run<RefusedRow>(db, 'why_not_sent', WHY_NOT_SENT, REFUSED.values(handoffs))
  return new Map(
    handoffs.flatMap((handoff, index) =>
      rows[index] === undefined ? [] : [[handoff, rows[index]]],
    ),
  )
}

function refusal(handoff: NewHandoff, row: RefusedRow | undefined): SendOutcome {
  if (row?.requestSha256 != null) {
    const same = !row.isOther && row.requestSha256.equals(handoff.requestSha256)
    return same
      ? { kind: 'duplicate', taskSeq: row.taskSeq ?? 0, state: row.state ?? '' }
      : { kind: 'conflict' }
  }
  const other = row === undefined ? undefined : tenantRefusal(row)
  if (other !== undefined) return other
  if (row?.status != null && hasTaskEnded(row.status)) return { kind: 'task_ended' }
  return {
    kind: 'budget_mismatch',
    budgetMicroUSD: row?.budgetMicroUSD ?? handoff.spentMicroUSD + handoff.remainingMicroUSD,
    parentRemainingMicroUSD: row?.parentRemainingMicroUSD ?? null,
  }
}

/** First, so that nothing is told of a task that is another’s. */
function tenantRefusal({ isTaskOfOther, agentOfOther }: RefusedRow): SendOutcome | undefined {
  if (isTaskOfOther) return { kind: 'task_of_other' }
  return agentOfOther === null ? undefined : { kind: 'agent_of_other', agent: agentOfOther }
}

/** Where a message that has just been stored waits. */
export const stateOf = (message: Pick<NewHandoff, 'requiresApproval'>): string =>
  message.requiresApproval ? 'AWAITING_APPROVAL' : 'QUEUED'

interface Bodies {
  readonly body: Uint8Array
  readonly checkpoint: Uint8Array
}

/**
 * Bodies travel as one binary parameter and are cut apart by offset where they are stored: no hex, no
 * array parsing, and no wide rows between the steps. Postgres counts bytes from 1.
 */
export function packBodies<Message extends Bodies>(messages: readonly Message[]) {
  let next = 1
  const place = ({ byteLength }: Uint8Array): number => {
    const from = next
    next += byteLength
    return from
  }
  const placed = messages.map((message) => ({
    ...message,
    bodyFrom: place(message.body),
    bodyBytes: message.body.byteLength,
    checkpointFrom: place(message.checkpoint),
    checkpointBytes: message.checkpoint.byteLength,
  }))
  const bodies = Buffer.concat(messages.flatMap((one) => [one.body, one.checkpoint]))
  return { bodies, placed }
}

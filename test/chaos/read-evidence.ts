// Reads a drained system: both databases past every role and link, the auditor's own verification, the doctor's rules.
import { createHash } from 'node:crypto'
import { EVENT_NUMBERS } from '@baton/ledger'
import { auditInvariants, createPool as createAuditPool, findRecordHashes } from '@baton/audit'
import { endingInvariant } from '@baton/engine'
import { createPool, storeInvariants } from '@baton/store'
import type { Pool } from '@baton/store'
import type { System } from '@baton/testkit'
import { listWaiting } from './drain.ts'
import type { CampaignTls } from './campaign-tls.ts'
import type { Evidence, HandoffRow, RecordRow, ReturnRow, StreamRow, TaskRow } from './evidence.ts'
import { GRAPH_RULES } from './graph-rules.ts'

type Read = Pick<
  Evidence,
  'handoffs' | 'tasks' | 'records' | 'returns' | 'streams' | 'tried' | 'stuck' | 'chain' | 'rules'
>

const ms = (column: string): string => `extract(epoch from ${column})::float8 * 1000`

const HANDOFFS = `
select h.id, h.task_id as "taskId", h.task_seq as "taskSeq", h.parent_id as "parentId",
  h.from_execution as "fromExecution", h.to_agent as "toAgent", h.branch_id as "branchId", f.id as "fanOutId", h.joins_id as "joinsId",
  coalesce(f.handoff_id, j.handoff_id) as "fannedOutBy",
  coalesce(b.budget_micro_usd, t.budget_micro_usd) as "budgetMicroUSD", h.state, h.reason, h.attempt, h.attempts_max as "attemptsMax",
  h.checkpoint_id as "checkpointId", h.traceparent, h.spent_micro_usd as "spentMicroUSD",
  h.remaining_micro_usd as "remainingMicroUSD", ${ms('h.created_at')} as "createdAt",
  ${ms('h.accepted_at')} as "acceptedAt", ${ms('h.ended_at')} as "endedAt",
  exists (select from handoff_body b where b.handoff_id = h.id) as "hasBody",
  exists (select from checkpoint c where c.id = h.checkpoint_id) as "hasCheckpoint",
  e.fencing_token as "fencingToken", e.status, e.cost_micro_usd as "costMicroUSD",
  (e.result::json ->> 'fencingToken')::int as "resultFencingToken",
  e.result::json #>> '{artifacts,said}' as said, encode(e.audit_hash, 'hex') as "auditHash"
from handoff h join task t on t.id = h.task_id left join execution e on e.handoff_id = h.id
  left join branch b on b.id = h.branch_id left join fan_out f on f.id = b.fan_out_id
  left join fan_out j on j.id = h.joins_id
order by h.created_at`

const TASKS = `
select t.id, t.status, t.budget_micro_usd as "budgetMicroUSD", t.spent_micro_usd as "spentMicroUSD",
  t.checkpoint_id as "checkpointId", case when t.status = 'PENDING_HANDOFF' then c.body end as checkpoint
from task t left join checkpoint c on c.id = t.checkpoint_id`

const RETURNS = `
select handoff_id as "handoffId", attempt, ${ms('(retry_at - created_at)')} as "delayMs"
from handoff_return`

const STREAMS = `
select c.handoff_id as "handoffId", h.state, e.chunks as counted, count(*)::int as chunks, max(c.seq) as "lastSeq",
  (count(*) filter (where c.said is distinct from c.fencing_token or c.fencing_token < c.before))::int as misplaced,
  encode(sha256(string_agg(c.sha256, '' order by c.seq)), 'hex') as sha256
from (select *, (convert_from(body, 'UTF8')::json #>> '{content,fencingToken}')::int as said,
    lag(fencing_token) over (partition by handoff_id order by seq) as before from stream_chunk) c
join handoff h on h.id = c.handoff_id join execution e on e.handoff_id = c.handoff_id
group by c.handoff_id, h.state, e.chunks`

const TRIED = 'select handoff_id as id from session_reply where attempts > 0'

// The auditor's clock may be wrong on purpose; when its transaction committed is Postgres' own word.
const RECORDS = `
select r.handoff_id as "handoffId", r.task_id as "taskId", r.event as number,
  encode(r.record_hash, 'hex') as hash, b.body ->> 'epoch' as epoch,
  b.body ->> 'traceparent' as traceparent, b.body -> 'stream' as stream, ${ms(`coalesce(case when
    current_setting('track_commit_timestamp') = 'on' then pg_xact_commit_timestamp(r.xmin) end,
    r.recorded_at)`)} as at
from audit.record r
cross join lateral (select convert_from(r.body, 'UTF8')::jsonb as body offset 0) b`

/** Reads everything there is. Call it when nothing is under way any more. */
export async function readEvidence(system: System, tls?: CampaignTls): Promise<Read> {
  const pool = createPool({
    url: system.adminUrls.store,
    applicationName: 'checker',
    connectionsMax: 1,
  })
  const auditPool = createAuditPool({
    url: system.adminUrls.audit,
    applicationName: 'checker',
    connectionsMax: 1,
  })
  try {
    const tasks = await rowsOf<TaskRow & { checkpoint: Buffer | null }>(pool, TASKS)
    const records = await auditPool.query<StoredRecord & Record<string, unknown>>({ text: RECORDS })
    return {
      handoffs: await rowsOf<HandoffRow>(pool, HANDOFFS),
      tasks: tasks.map(({ checkpoint, ...task }) => ({
        ...task,
        requestSha256: requestDigest(checkpoint),
      })),
      records: records.rows.map(toRecord),
      returns: await rowsOf<ReturnRow>(pool, RETURNS),
      streams: await readStreams(pool, records.rows),
      tried: (await rowsOf<{ id: string }>(pool, TRIED)).map(({ id }) => id),
      stuck: await listWaiting(pool),
      chain: await verifyChain(system, tls),
      rules: await brokenRules(pool, auditPool),
    }
  } finally {
    await pool.end()
    await auditPool.end()
  }
}

async function readStreams(
  pool: Pool,
  records: readonly StoredRecord[],
): Promise<Evidence['streams']> {
  const recorded = new Map(
    records.flatMap(({ handoffId, stream }) => (stream === null ? [] : [[handoffId, stream]])),
  )
  const rows = await rowsOf<Omit<StreamRow, 'recorded'>>(pool, STREAMS)
  return rows.map((row) => ({ ...row, recorded: recorded.get(row.handoffId) ?? null }))
}

async function rowsOf<Row extends object>(pool: Pool, text: string): Promise<Row[]> {
  return (await pool.query<Row & Record<string, unknown>>({ text })).rows
}

interface StoredRecord {
  readonly handoffId: string
  readonly taskId: string
  readonly number: number
  readonly hash: string
  readonly epoch: string
  readonly traceparent: string
  readonly stream: StreamRow['recorded']
  readonly at: number
}

const EVENT_NAMES = new Map(
  Object.entries(EVENT_NUMBERS).map(([name, number]) => [Number(number), name]),
)

function toRecord({ number, epoch, traceparent, ...record }: StoredRecord): RecordRow {
  const { handoffId, taskId, hash } = record
  return {
    handoffId,
    taskId,
    hash,
    event: EVENT_NAMES.get(number) ?? `event ${number}`,
    epoch: Number(epoch),
    traceId: traceparent.split('-')[1] ?? '',
    at: Number(record.at),
  }
}

const REQUEST = ',"request":'

/** The request stands at the end of a checkpoint, word for word as it was asked. */
function requestDigest(checkpoint: Buffer | null): string | null {
  const from = checkpoint?.indexOf(REQUEST) ?? -1
  if (checkpoint === null || from < 0) return null
  const asked = checkpoint.subarray(from + REQUEST.length, -1)
  return createHash('sha256').update(asked).digest('hex')
}

async function verifyChain(
  system: System,
  tls: CampaignTls | undefined,
): Promise<Evidence['chain']> {
  const url = new URL('/v1/verify', system.auditorUrl)
  const headers = { authorization: `Bearer ${system.tokens.read}` }
  const answer =
    tls === undefined ? await (await fetch(url, { headers })).json() : await tls.ask(url, headers)
  const { findings } = answer as Partial<Pick<Evidence['chain'], 'findings'>>
  if (findings === undefined) throw new Error(`the log was not verified: ${JSON.stringify(answer)}`)
  // Nobody seals here, so nothing outside can agree: then the report is incomplete, and what counts are findings.
  return { ok: findings.length === 0, findings }
}

async function brokenRules(
  pool: Pool,
  auditPool: ReturnType<typeof createAuditPool>,
): Promise<Evidence['rules']> {
  const hashesOf = (recordIds: readonly string[]) => findRecordHashes(auditPool, recordIds)
  // Everything has ended and nothing waits: no time is left out.
  const endings = endingInvariant(pool, hashesOf, 0)
  const rules = [...storeInvariants(pool), ...auditInvariants(auditPool), endings]
  const broken: { promise: string; rule: string; ids: readonly string[] }[] = []
  for (const { promise, rule, check } of rules) {
    const ids = await check()
    if (ids.length > 0) broken.push({ promise, rule, ids })
  }
  for (const [named, text] of Object.entries(GRAPH_RULES)) {
    const ids = (await rowsOf<{ id: string }>(pool, text)).map(({ id }) => id)
    const [promise = ''] = named.split(' ', 1)
    if (ids.length > 0) broken.push({ promise, rule: named.slice(promise.length + 1), ids })
  }
  return broken
}

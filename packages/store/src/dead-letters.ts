// Dead letters as people look at them: lists, clusters, one with its votes, and what a dry run judges.
import type { StoredMessage } from './reviews.ts'
import { run } from './database.ts'
import type { Database } from './database.ts'

/** A quarantined message with what judging it today needs. */
export interface QuarantinedMessage extends StoredMessage {
  readonly handoffId: string
  readonly reason: string
  readonly round: number
  readonly sentBy: string | null
  readonly toAgent: string
  readonly budgetMicroUSD: number
  readonly parentRemainingMicroUSD: number | null
  readonly taskStatus: string
  readonly overdue: boolean
  readonly canceling: boolean
}

/** An agent type as a live worker hosts it. */
export interface LiveAgent {
  readonly type: string
  readonly version: string
  readonly requires: readonly string[]
  readonly capabilities: readonly string[]
  readonly mcp: readonly string[]
}

export interface DeadLetterView {
  readonly handoffId: string
  readonly taskId: string
  readonly fromAgent: string
  readonly toAgent: string
  readonly reason: string
  readonly cluster: string | null
  readonly details: unknown
  readonly round: number
  readonly attempt: number | null
  readonly createdAt: Date
  readonly askedAt: Date | null
  readonly resolvedAt: Date | null
  readonly resolution: string | null
}

const COLUMNS = `d.handoff_id as "handoffId", d.task_id as "taskId", h.from_agent as "fromAgent",
  h.to_agent as "toAgent", d.reason, d.cluster, d.details, d.round, d.attempt,
  d.created_at as "createdAt", d.asked_at as "askedAt", d.resolved_at as "resolvedAt", d.resolution`

export interface DeadLetterFilter {
  readonly limit: number
  readonly reason?: string | undefined
  readonly cluster?: string | undefined
}

/** Dead letters that still wait for a person, oldest first. */
export function listDeadLetters(
  db: Database,
  filter: number | DeadLetterFilter,
): Promise<DeadLetterView[]> {
  const { limit, reason, cluster }: DeadLetterFilter =
    typeof filter === 'number' ? { limit: filter } : filter
  const text = `select ${COLUMNS} from dead_letter d join handoff h on h.id = d.handoff_id
    where d.resolved_at is null and ($2::text is null or d.reason = $2)
      and ($3::text is null or d.cluster = $3)
    order by d.created_at limit $1`
  return run(db, 'list_dead_letters', text, [limit, reason ?? null, cluster ?? null])
}

export interface DeadLetterCase extends DeadLetterView {
  /** The operator whose key sent it. */
  readonly sentBy: string | null
  /** The scanner that judged it. */
  readonly artefactId: string | null
  /** Lower-case hex digest of the quarantined bytes. */
  readonly sha256: string
  readonly bytes: number
  readonly revision: number
  readonly state: string
  readonly expiresAt: Date | null
}

/** One dead letter, also a resolved one. */
export async function findDeadLetter(
  db: Database,
  handoffId: string,
): Promise<DeadLetterCase | undefined> {
  const text = `select ${COLUMNS}, h.sent_by as "sentBy", d.artefact_id as "artefactId",
      encode(h.body_sha256, 'hex') as sha256, h.body_bytes as bytes, h.revision, h.state,
      h.expires_at as "expiresAt"
    from dead_letter d join handoff h on h.id = d.handoff_id where d.handoff_id = $1`
  return (await run<DeadLetterCase & object>(db, 'find_dead_letter', text, [handoffId]))[0]
}

export interface DeadLetterCluster {
  readonly cluster: string
  readonly reason: string
  readonly count: number
  readonly oldestAt: Date
  readonly newestAt: Date
  /** The oldest handoff of it. */
  readonly exampleId: string
}

/** Waiting dead letters by their cluster, the largest first. */
export function listDeadLetterClusters(db: Database, limit: number): Promise<DeadLetterCluster[]> {
  return run(
    db,
    'list_dead_letter_clusters',
    `select coalesce(cluster, reason) as cluster, min(reason) as reason, count(*) as count,
       min(created_at) as "oldestAt", max(created_at) as "newestAt",
       (array_agg(handoff_id order by created_at))[1] as "exampleId"
     from dead_letter where resolved_at is null group by 1 order by count(*) desc, 1 limit $1`,
    [limit],
  )
}

/** The waiting letters of a cluster, oldest first. */
export async function listClusterLetters(
  db: Database,
  cluster: string,
  limit: number,
): Promise<readonly string[]> {
  const text = `select handoff_id as id from dead_letter
    where resolved_at is null and cluster = $1 order by created_at limit $2`
  const rows = await run<{ id: string }>(db, 'list_cluster_letters', text, [cluster, limit])
  return rows.map((row) => row.id)
}

/** What a dry run judges: those of `handoffIds` that still wait, with their bytes. */
export async function listQuarantinedMessages(
  db: Database,
  handoffIds: readonly string[],
): Promise<QuarantinedMessage[]> {
  const text = `select d.handoff_id as "handoffId", d.reason, d.round, h.sent_by as "sentBy",
      coalesce(h.routed_to, h.to_agent) as "toAgent", b.body, h.key_id as "keyId", h.signature,
      t.budget_micro_usd as "budgetMicroUSD", p.remaining_micro_usd as "parentRemainingMicroUSD",
      t.status as "taskStatus", coalesce(h.expires_at <= clock_timestamp(), false) as overdue,
      h.cancel_requested or t.cancel_requested as canceling
    from dead_letter d join handoff h on h.id = d.handoff_id
    join handoff_body b on b.handoff_id = d.handoff_id join task t on t.id = d.task_id
    left join handoff p on p.id = h.parent_id
    where d.handoff_id = any($1::uuid[]) and d.resolved_at is null`
  return run(db, 'list_quarantined_messages', text, [handoffIds])
}

/** The agents that live workers host now, of these types. */
export function listHostedAgents(db: Database, types: readonly string[]): Promise<LiveAgent[]> {
  return run(
    db,
    'list_hosted_agents',
    `select distinct type, version, requires, capabilities, mcp from agent_registration
     where type = any($1::text[]) and seen_at > clock_timestamp() - interval '30 seconds'`,
    [types],
  )
}

/** Dead letters that wait for a person. */
export async function deadLetterDepth(db: Database): Promise<number> {
  const [row] = await run<{ depth: number }>(
    db,
    'dead_letter_depth',
    'select count(*) as depth from dead_letter where resolved_at is null',
  )
  return row?.depth ?? 0
}

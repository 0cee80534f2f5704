// Dead letters as people look at them: lists, clusters, one with its votes, and what a dry run judges.
import { BRANCH_NAME } from './branch-places.ts'
import { text, uuid } from '@baton/postgres'
import { LIVE } from './agent-registrations.ts'
import type { StoredMessage } from './reviews.ts'
import { anyOf, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'
import { behind, COUNTED_MAX, positionOf } from '@baton/postgres/list-positions'
import { BRANCH_IS_OVER } from './states.ts'

/** A quarantined message with what judging it today needs. */
export interface QuarantinedMessage extends StoredMessage {
  readonly handoffId: string
  readonly reason: string
  readonly quarantineAttempt: number
  readonly sentBy: string | null
  readonly earlierSenders: readonly string[]
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
  readonly quarantineAttempt: number
  readonly attempt: number | null
  readonly createdAt: Date
  readonly askedAt: Date | null
  readonly resolvedAt: Date | null
  readonly resolution: string | null
  /** The name of its branch; null on the task’s own way. */
  readonly branch: string | null
}

const DEAD_LETTERS = tables
  .selectFrom('dead_letter as d')
  .innerJoin('handoff as h', 'h.id', 'd.handoff_id')
  .select([
    'd.handoff_id as handoffId',
    'd.task_id as taskId',
    'h.from_agent as fromAgent',
    'h.to_agent as toAgent',
    'd.reason',
    'd.cluster',
    'd.details',
    'd.quarantine_attempt as quarantineAttempt',
    'd.attempt',
    'd.created_at as createdAt',
    'd.asked_at as askedAt',
    'd.resolved_at as resolvedAt',
    'd.resolution',
    sql<string | null>`${sql.raw(BRANCH_NAME)}`.as('branch'),
  ])

export interface DeadLetterFilter {
  readonly reason?: string | undefined
  readonly cluster?: string | undefined
}

export interface DeadLetterPage extends DeadLetterFilter {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

export interface ListedDeadLetter extends DeadLetterView {
  readonly position: string
}

const waits = ({ reason, cluster }: DeadLetterFilter) => {
  const ofReason = reason ?? null
  const ofCluster = cluster ?? null
  return sql<boolean>`d.resolved_at is null and (${ofReason}::text is null or d.reason = ${ofReason})
    and (${ofCluster}::text is null or d.cluster = ${ofCluster})`
}

/** Dead letters that still wait for a person, oldest first. */
export function listDeadLetters(
  db: Database,
  filter: number | DeadLetterPage,
): Promise<ListedDeadLetter[]> {
  const asked: DeadLetterPage = typeof filter === 'number' ? { limit: filter } : filter
  const { limit, cursor = null, ...meant } = asked
  const written = DEAD_LETTERS.select(positionOf('d.handoff_id', 'd.created_at').as('position'))
    .where(waits(meant))
    .where(behind(cursor, { id: 'd.handoff_id', createdAt: 'd.created_at', newestFirst: false }))
    .orderBy('d.created_at')
    .orderBy('d.handoff_id')
    .limit(limit)
  return run(db, 'list_dead_letters', written)
}

/** How many wait for a person; one more than COUNTED_MAX says that there are more than those. */
export async function countDeadLetters(db: Database, filter: DeadLetterFilter): Promise<number> {
  const counted = tables
    .selectFrom('dead_letter as d')
    .select('d.handoff_id')
    .where(waits(filter))
    .limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_dead_letters', written))[0]?.count ?? 0
}

export interface ReleasedDeadLetter extends ListedDeadLetter {
  /** The scanner that stopped it. */
  readonly rulesetVersion: string | null
}

export interface ReleasedFilter {
  /** RFC 3339; of this moment and later. */
  readonly since?: string | undefined
}

export interface ReleasedPage extends ReleasedFilter {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

const isReleased = ({ since = '-infinity' }: ReleasedFilter) =>
  sql<boolean>`d.resolution = 'RELEASED' and d.reason = 'SAFETY_VIOLATION' and d.resolved_at >= ${since}::timestamptz
    and exists (select from approval_override o where o.handoff_id = d.handoff_id
      and o.quarantine_attempt = d.quarantine_attempt and o.body_sha256 = h.body_sha256)`

/**
 * What the scanner stopped and people released as it was, in the order of their decisions; the last decision about a handoff counts.
 * One that was corrected since is left out: nobody released what it says now.
 */
export function listReleasedDeadLetters(
  db: Database,
  asked: ReleasedPage,
): Promise<ReleasedDeadLetter[]> {
  const { limit, cursor = null, ...filter } = asked
  const written = DEAD_LETTERS.select('d.ruleset_version as rulesetVersion')
    .select(positionOf('d.handoff_id', 'd.resolved_at').as('position'))
    .where(isReleased(filter))
    .where(behind(cursor, { id: 'd.handoff_id', createdAt: 'd.resolved_at', newestFirst: false }))
    .orderBy('d.resolved_at')
    .orderBy('d.handoff_id')
    .limit(limit)
  return run(db, 'list_released_dead_letters', written)
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countReleasedDeadLetters(
  db: Database,
  filter: ReleasedFilter,
): Promise<number> {
  const counted = tables
    .selectFrom('dead_letter as d')
    .innerJoin('handoff as h', 'h.id', 'd.handoff_id')
    .select('d.handoff_id')
    .where(isReleased(filter))
    .limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_released_dead_letters', written))[0]?.count ?? 0
}

export interface DeadLetterCase extends DeadLetterView {
  /** The operator whose key sent it, or corrected it last. */
  readonly sentBy: string | null
  /** Whose keys sent it before it was corrected. */
  readonly earlierSenders: readonly string[]
  /** The scanner that judged it. */
  readonly rulesetVersion: string | null
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
  const written = DEAD_LETTERS.select([
    'h.sent_by as sentBy',
    'h.earlier_senders as earlierSenders',
    'd.ruleset_version as rulesetVersion',
    sql<string>`encode(h.body_sha256, 'hex')`.as('sha256'),
    'h.body_bytes as bytes',
    'h.revision',
    'h.state',
    'h.expires_at as expiresAt',
  ]).where('d.handoff_id', '=', handoffId)
  return (await run(db, 'find_dead_letter', written))[0]
}

export interface DeadLetterCluster {
  readonly cluster: string
  readonly reason: string
  readonly count: number
  readonly oldestAt: Date
  readonly newestAt: Date
  /** The oldest handoff of it. */
  readonly exampleId: string
  readonly position: string
}

/** Where a cluster stands in the list: how many are in it, and its name. */
export const CLUSTER_POSITION = /^(?<count>\d{1,16})\.(?<cluster>\P{Cc}{1,2048})$/u

export interface ClusterPage {
  readonly limit: number
  /** Only those behind this position. */
  readonly cursor?: string | undefined
}

/** Waiting dead letters by their cluster, the largest first. */
export function listDeadLetterClusters(
  db: Database,
  { limit, cursor = '' }: ClusterPage,
): Promise<DeadLetterCluster[]> {
  const { count = null, cluster = null } = CLUSTER_POSITION.exec(cursor)?.groups ?? {}
  const written = tables
    .selectFrom('dead_letter')
    .select(({ fn }) => [
      fn.coalesce('cluster', 'reason').as('cluster'),
      fn.min('reason').as('reason'),
      fn.countAll<number>().as('count'),
      fn.min('created_at').as('oldestAt'),
      fn.max('created_at').as('newestAt'),
      sql<string>`(array_agg(handoff_id order by created_at))[1]`.as('exampleId'),
      sql<string>`count(*) || '.' || coalesce(cluster, reason)`.as('position'),
    ])
    .where('resolved_at', 'is', null)
    .groupBy(({ fn }) => fn.coalesce('cluster', 'reason'))
    .having(
      sql<boolean>`${cluster}::text is null or count(*) < ${count}::bigint
        or (count(*) = ${count}::bigint and coalesce(cluster, reason) > ${cluster})`,
    )
    .orderBy('count', 'desc')
    .orderBy(({ fn }) => fn.coalesce('cluster', 'reason'))
    .limit(limit)
  return run(db, 'list_dead_letter_clusters', written)
}

/** How many there are; one more than COUNTED_MAX says that there are more than those. */
export async function countDeadLetterClusters(db: Database): Promise<number> {
  const counted = tables
    .selectFrom('dead_letter')
    .select(({ fn }) => fn.coalesce('cluster', 'reason').as('cluster'))
    .where('resolved_at', 'is', null)
    .distinct()
    .limit(COUNTED_MAX + 1)
  const written = tables
    .selectFrom(counted.as('counted'))
    .select(({ fn }) => fn.countAll<number>().as('count'))
  return (await run(db, 'count_dead_letter_clusters', written))[0]?.count ?? 0
}

/** The waiting dead letters of a cluster, oldest first. */
export async function listClusterDeadLetters(
  db: Database,
  cluster: string,
  limit: number,
): Promise<readonly string[]> {
  const written = tables
    .selectFrom('dead_letter')
    .select('handoff_id as id')
    .where('resolved_at', 'is', null)
    .where('cluster', '=', cluster)
    .orderBy('created_at')
    .limit(limit)
  return (await run(db, 'list_cluster_dead_letters', written)).map((row) => row.id)
}

/** What a dry run judges: those of `handoffIds` that still wait, with their bytes. */
export function listQuarantinedMessages(
  db: Database,
  handoffIds: readonly string[],
): Promise<QuarantinedMessage[]> {
  const written = tables
    .selectFrom('dead_letter as d')
    .innerJoin('handoff as h', 'h.id', 'd.handoff_id')
    .innerJoin('handoff_body as b', 'b.handoff_id', 'd.handoff_id')
    .innerJoin('task as t', 't.id', 'd.task_id')
    .leftJoin('handoff as p', 'p.id', 'h.parent_id')
    .select(({ fn }) => [
      'd.handoff_id as handoffId',
      'd.reason',
      'd.quarantine_attempt as quarantineAttempt',
      'h.sent_by as sentBy',
      'h.earlier_senders as earlierSenders',
      fn.coalesce('h.routed_to', 'h.to_agent').as('toAgent'),
      'b.body',
      'h.key_id as keyId',
      'h.signature',
      't.budget_micro_usd as budgetMicroUSD',
      'p.remaining_micro_usd as parentRemainingMicroUSD',
      't.status as taskStatus',
      sql<boolean>`coalesce(h.expires_at <= clock_timestamp(), false)`.as('overdue'),
      sql<boolean>`h.cancel_requested or t.cancel_requested or ${sql.raw(BRANCH_IS_OVER)}`.as(
        'canceling',
      ),
    ])
    .where('d.handoff_id', '=', anyOf(uuid, handoffIds))
    .where('d.resolved_at', 'is', null)
  return run(db, 'list_quarantined_messages', written)
}

/** The agents that live workers host now, of these types. */
export function listHostedAgents(db: Database, types: readonly string[]): Promise<LiveAgent[]> {
  const written = tables
    .selectFrom('agent_registration')
    .select(['type', 'version', 'requires', 'capabilities', 'mcp'])
    .distinct()
    .where('type', '=', anyOf(text, types))
    .where(sql<boolean>`${sql.raw(LIVE)}`)
  return run(db, 'list_hosted_agents', written)
}

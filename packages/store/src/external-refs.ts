// Handoffs that came in by another protocol: found again by the id they have there, and shown in its words.
import { DEFAULT_TENANT } from '@baton/ledger'
import { uuid } from '@baton/postgres'
import { anyOf, sql } from '@baton/postgres/statements'
import { run, tables } from './database.ts'
import type { Database } from './database.ts'

/** What a handoff is called in another protocol. */
export interface ExternalRef {
  readonly protocol: string
  /** Its id there; of the ids of one protocol, each names one handoff. */
  readonly id: string
  /** Who sends it and who gets it, by that protocol's names. */
  readonly sender: string
  readonly recipient: string
  /** How many messages of that protocol led to it; 0 by default. */
  readonly depth?: number
  /** Digest of what was asked, by which a repetition is told from another request with the same id. */
  readonly requestSha256: Uint8Array
}

/** Taken for one tenant: another may have the same id for something else. */
interface TakenRef extends ExternalRef {
  readonly handoffId: string
  /** The default one where none is named. */
  readonly tenant?: string | null
}

export type ExternalRefOutcome =
  | { readonly kind: 'new' }
  | { readonly kind: 'repeated'; readonly handoffId: string }
  | { readonly kind: 'other_request' }

/**
 * Takes the id in the caller's transaction, which must also send the handoff. A second request with the same id waits
 * here until the first has committed; 55P03 (lock time-out) means that the first is still running.
 */
export async function takeExternalRef(db: Database, ref: TakenRef): Promise<ExternalRefOutcome> {
  const requestSha256 = Buffer.from(ref.requestSha256)
  const tenant = ref.tenant ?? DEFAULT_TENANT
  const taken = tables
    .insertInto('external_ref')
    .values({
      tenant,
      protocol: ref.protocol,
      id: ref.id,
      handoff_id: ref.handoffId,
      sender: ref.sender,
      recipient: ref.recipient,
      depth: ref.depth ?? 0,
      request_sha256: requestSha256,
    })
    .onConflict((conflict) => conflict.columns(['tenant', 'protocol', 'id']).doNothing())
    .returning('id')
  if ((await run(db, 'take_external_ref', taken)).length > 0) return { kind: 'new' }
  const known = tables
    .selectFrom('external_ref')
    .select(['handoff_id as handoffId', 'request_sha256 as requestSha256'])
    .where('tenant', '=', tenant)
    .where('protocol', '=', ref.protocol)
    .where('id', '=', ref.id)
  const [first] = await run(db, 'find_external_ref', known)
  return first?.requestSha256?.equals(requestSha256) === true
    ? { kind: 'repeated', handoffId: first.handoffId }
    : { kind: 'other_request' }
}

/** The handoff that was sent under this id; undefined where there is none. */
export async function findRefHandoff(
  db: Database,
  { protocol, id, tenant }: Pick<TakenRef, 'protocol' | 'id' | 'tenant'>,
): Promise<string | undefined> {
  const known = tables
    .selectFrom('external_ref')
    .select('handoff_id as handoffId')
    .where('tenant', '=', tenant ?? DEFAULT_TENANT)
    .where('protocol', '=', protocol)
    .where('id', '=', id)
  return (await run(db, 'find_ref_handoff', known))[0]?.handoffId
}

/** A handoff as another protocol's face shows it. */
export interface ForeignHandoff {
  readonly id: string
  readonly sender: string
  readonly recipient: string
  readonly depth: number
  readonly handoffId: string
  readonly taskId: string
  readonly parentHandoffId: string | null
  readonly fromAgent: string
  readonly toAgent: string
  readonly state: string
  readonly reason: string | null
  readonly details: unknown
  readonly attempt: number
  readonly priority: number
  readonly traceparent: string
  readonly createdAt: Date
  readonly acceptedAt: Date | null
  readonly endedAt: Date | null
  readonly expiresAt: Date | null
  readonly erasedAt: Date | null
  readonly costMicroUSD: number | null
  /** What the agent answered. */
  readonly result: unknown
  /** Of a PARTIAL one the subtasks that were left, as the handoff that goes on with them names them. */
  readonly remaining: unknown
  /** The signed bytes of the message; a tombstone once it was erased. */
  readonly body: Buffer
  readonly approval: ForeignApproval | null
}

/** What a person decided about it; null where it was never held for one. */
export interface ForeignApproval {
  readonly decision: string | null
  readonly decidedBy: string | null
  readonly decidedAs: string | null
  /** In milliseconds since 1970. */
  readonly decidedAt: number | null
}

/** Of `handoff as h`, with its body, execution and approval. */
const HANDOFF_COLUMNS = [
  'h.id as handoffId',
  'h.task_id as taskId',
  'h.parent_id as parentHandoffId',
  'h.from_agent as fromAgent',
  'h.to_agent as toAgent',
  'h.state',
  'h.reason',
  'h.last_error as details',
  'h.attempt',
  'h.priority',
  'h.traceparent',
  'h.created_at as createdAt',
  'h.accepted_at as acceptedAt',
  'h.ended_at as endedAt',
  'h.expires_at as expiresAt',
  'h.erased_at as erasedAt',
  'e.cost_micro_usd as costMicroUSD',
  'b.body',
] as const

const WORKED_OUT = [
  sql<unknown>`e.result::json`.as('result'),
  sql<unknown>`case when h.state = 'PARTIAL' then (
      select convert_from(cb.body, 'UTF8')::json -> 'remainingSubtasks'
      from handoff c join handoff_body cb on cb.handoff_id = c.id
      where c.task_id = h.task_id and c.parent_id = h.id order by c.task_seq limit 1) end`.as(
    'remaining',
  ),
  sql<ForeignApproval | null>`case when a.handoff_id is not null then json_build_object(
      'decision', a.decision, 'decidedBy', a.decided_by, 'decidedAs', a.decided_as,
      'decidedAt', floor(extract(epoch from a.closed_at) * 1000)) end`.as('approval'),
] as const

const FOREIGN_HANDOFFS = tables
  .selectFrom('external_ref as r')
  .innerJoin('handoff as h', 'h.id', 'r.handoff_id')
  .innerJoin('handoff_body as b', 'b.handoff_id', 'r.handoff_id')
  .leftJoin('execution as e', 'e.handoff_id', 'r.handoff_id')
  .leftJoin('approval as a', 'a.handoff_id', 'r.handoff_id')
  .select(['r.id', 'r.sender', 'r.recipient', 'r.depth', ...HANDOFF_COLUMNS])
  .select(WORKED_OUT)

/** The handoff that has this id in a protocol. */
export async function findForeignHandoff(
  db: Database,
  { protocol, id }: Pick<ExternalRef, 'protocol' | 'id'>,
): Promise<ForeignHandoff | undefined> {
  const written = FOREIGN_HANDOFFS.where('r.protocol', '=', protocol).where('r.id', '=', id)
  return (await run(db, 'find_foreign_handoff', written))[0]
}

/** Those of these handoffs that came in by a protocol, in no order. */
export function findForeignHandoffs(
  db: Database,
  protocol: string,
  handoffIds: readonly string[],
): Promise<ForeignHandoff[]> {
  const written = FOREIGN_HANDOFFS.where('r.protocol', '=', protocol).where(
    'r.handoff_id',
    '=',
    anyOf(uuid, handoffIds),
  )
  return run(db, 'find_foreign_handoffs', written)
}

/**
 * Any handoff as a protocol shows it, by Baton's own id: one that did not come in by it has that id there, and is
 * between agents.
 */
export async function findHandoffAs(
  db: Database,
  protocol: string,
  handoffId: string,
): Promise<ForeignHandoff | undefined> {
  const written = tables
    .selectFrom('handoff as h')
    .innerJoin('handoff_body as b', 'b.handoff_id', 'h.id')
    .leftJoin('execution as e', 'e.handoff_id', 'h.id')
    .leftJoin('approval as a', 'a.handoff_id', 'h.id')
    .leftJoin('external_ref as r', (join) =>
      join.onRef('r.handoff_id', '=', 'h.id').on('r.protocol', '=', protocol),
    )
    .select([
      sql<string>`coalesce(r.id, h.id::text)`.as('id'),
      sql<string>`coalesce(r.sender, h.from_agent)`.as('sender'),
      sql<string>`coalesce(r.recipient, h.to_agent)`.as('recipient'),
      sql<number>`coalesce(r.depth, 0)`.as('depth'),
      ...HANDOFF_COLUMNS,
    ])
    .select(WORKED_OUT)
    .where('h.id', '=', handoffId)
  return (await run(db, 'find_handoff_as', written))[0]
}

export interface ForeignFilter {
  readonly sender?: string | undefined
  readonly recipient?: string | undefined
  /** In one of these lifecycle states, and not approved by a person; or in one of those, and approved. */
  readonly states?: readonly string[] | undefined
  readonly approvedStates?: readonly string[] | undefined
  readonly limit: number
}

/** The handoffs of a protocol, newest first, at most `limit`. Each combination of filters is planned by itself. */
export function listForeignHandoffs(
  db: Database,
  protocol: string,
  { sender, recipient, states, approvedStates = states, limit }: ForeignFilter,
): Promise<ForeignHandoff[]> {
  let written = FOREIGN_HANDOFFS.where('r.protocol', '=', protocol)
  if (sender !== undefined) written = written.where('r.sender', '=', sender)
  if (recipient !== undefined) written = written.where('r.recipient', '=', recipient)
  if (states !== undefined)
    written = written.where(
      sql<boolean>`h.state = any(case when a.decision = 'approve' then ${[...(approvedStates ?? [])]}::text[]
        else ${[...states]}::text[] end)`,
    )
  const given = { sender, recipient, states }
  const name = Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [key]))
  return run(
    db,
    ['list_foreign_handoffs', ...name].join('_by_'),
    written.orderBy('r.created_at', 'desc').orderBy('r.handoff_id').limit(limit),
  )
}

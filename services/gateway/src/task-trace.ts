// One task as both databases know it: what was done, and the record that allowed each part of it.
import { BatonError } from '@baton/runtime'
import { digestStreams, listStreams } from '@baton/store'
import type { HandoffView, Pool, TaskReceipt } from '@baton/store'
import type { AuditReads, AuditTrace } from './audit-reads.ts'
import { ProblemError } from '@baton/http/server'

export interface RecordedTrace extends AuditTrace {
  /** Handoffs that were accepted although the log has no such decision (I3); each is an alarm. */
  readonly unrecorded: readonly string[]
  /** Handoffs whose decision was recorded, and has expired since with the first records of the task. */
  readonly expiredHandoffs: readonly string[]
  /** Handoffs whose chunks are not those that their record of completion names; each is an alarm. */
  readonly alteredStreams: readonly string[]
  /** Whether it is proven that the log never had a record of the task. */
  readonly isAbsent: boolean
}

/**
 * What the audit log says of a task whose handoffs were read before, so that each decision they
 * rest on must be in it. `verified` holds only where none is missing, and every stream is of the chunks that were recorded. Throws 503
 * BATON_AUDIT_UNAVAILABLE while the log cannot be read, because half a trace would look like all of
 * it, and 502 BATON_AUDIT_TOKEN_REFUSED where an operator must mend the gateway's settings first.
 */
export async function readTaskTrace(
  { audit, pool }: { readonly audit: AuditReads; readonly pool: Pool },
  taskId: string,
  known: KnownTask,
): Promise<RecordedTrace> {
  const found = await askedOfAuditor(() => audit.trace(taskId))
  const recorded = typeof found === 'string' ? NOTHING_RECORDED : found
  const accepted = new Set(recorded.records.flatMap(acceptedHandoff))
  const without = known.handoffs
    .filter(({ acceptedAt, handoffId }) => acceptedAt !== null && !accepted.has(handoffId))
    .map(({ handoffId }) => handoffId)
  const expired = expiredAmong(recorded, known.receipts)
  const expiredHandoffs = without.filter((handoffId) => expired.has(handoffId))
  const unrecorded = without.filter((handoffId) => !expired.has(handoffId))
  const alteredStreams = await listAltered(pool, recorded.records, known.handoffs)
  const verified = recorded.verified && unrecorded.length + alteredStreams.length === 0
  const isAbsent = found === 'absent'
  return { ...recorded, unrecorded, expiredHandoffs, alteredStreams, isAbsent, verified }
}

/** What was erased with the people it may tell of is not altered. */
async function listAltered(
  pool: Pool,
  records: readonly object[],
  handoffs: readonly HandoffView[],
): Promise<string[]> {
  const stored = new Set(handoffs.map(({ handoffId }) => handoffId))
  const named = new Map(records.flatMap(namedStream).filter(([id]) => stored.has(id)))
  if (named.size === 0) return []
  const ids = [...named.keys()]
  const views = await listStreams(pool, ids)
  const erased = new Set(views.flatMap((view) => (view.erased ? view.handoffId : [])))
  const digests = await digestStreams(pool, ids)
  return ids.filter((id) => !erased.has(id) && digests.get(id)?.sha256 !== named.get(id))
}

/** The handoff and the digest of what it yielded, where the record names one. */
function namedStream(record: object): [string, string][] {
  const { body } = record as {
    body?: { handoffId?: unknown; stream?: { sha256?: unknown } | null }
  }
  const { handoffId, stream } = body ?? {}
  return typeof handoffId === 'string' && typeof stream?.sha256 === 'string'
    ? [[handoffId, stream.sha256]]
    : []
}

/** What this database knows of a task: receipts say where the decisions of its handoffs stood in the log. */
interface KnownTask {
  readonly handoffs: readonly HandoffView[]
  readonly receipts: readonly TaskReceipt[]
}

/**
 * Handoffs whose decision stood before the first record of the task that is left. Only where the auditor has proven that so
 * many of its first records have expired: otherwise a decision that is not there is missing.
 */
function expiredAmong(
  { records, verified, expired }: AuditTrace,
  receipts: readonly TaskReceipt[],
): ReadonlySet<string> {
  if (!verified || typeof expired !== 'number') return NONE
  const firstLeft = new Map<string, number>()
  for (const { origin, seq } of records.flatMap(placeOf))
    firstLeft.set(origin, Math.min(seq, firstLeft.get(origin) ?? Infinity))
  const before = receipts.filter(({ origin, seq }) => seq < (firstLeft.get(origin) ?? Infinity))
  return before.length > expired ? NONE : new Set(before.map(({ handoffId }) => handoffId))
}

const NONE: ReadonlySet<string> = new Set()

function placeOf(record: object): { origin: string; seq: number }[] {
  const { body } = record as { body?: { origin?: unknown; seq?: unknown } }
  const { origin, seq } = body ?? {}
  return typeof origin === 'string' && typeof seq === 'number' ? [{ origin, seq }] : []
}

const MISCONFIGURED = new ProblemError({
  status: 502,
  code: 'BATON_AUDIT_TOKEN_REFUSED',
  detail: 'the auditor refuses the gateway’s read token',
  fix: 'Trying again does not help: tell the operator to give the gateway the BATON_AUDIT_READ_TOKEN of the auditor.',
})

const NOTHING_RECORDED: AuditTrace = { records: [], verified: true }

function acceptedHandoff(record: object): string[] {
  const { body } = record as { body?: { event?: unknown; handoffId?: unknown } }
  const { event, handoffId } = body ?? {}
  return event === 'HANDOFF_ACCEPTED' && typeof handoffId === 'string' ? [handoffId] : []
}

/** Throws the problems that every route has which asks the auditor. */
export async function askedOfAuditor<Answer>(ask: () => Promise<Answer>): Promise<Answer> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof BatonError && error.code === 'BATON_AUDIT_TOKEN_REFUSED')
      throw MISCONFIGURED
    // Waiting does not help: the log was read in its database, which somebody must migrate first.
    if (error instanceof BatonError && error.code === 'BATON_SCHEMA_OUTDATED') throw error
    throw new ProblemError({
      status: 503,
      code: 'BATON_AUDIT_UNAVAILABLE',
      detail: 'the audit log cannot be read now',
      fix: 'Try again after the time in Retry-After; /v2/tasks/{id} shows the task meanwhile.',
      headers: { 'retry-after': '1' },
    })
  }
}

// Erasing a person: planned by one, confirmed by another, carried through every store, and safe to run again.
import { crashPoint } from '@baton/runtime'
import {
  countErased,
  eraseHandoffs,
  findSubjectHandoffs,
  findUnreflected,
  inTransaction,
  readStorageLeft,
} from '@baton/store'
import type { ErasedRows, Pool, StorageLeft, SubjectHandoff } from '@baton/store'

/** How many items of the person a place held, and how many it holds now. */
type ErasedStore = ErasedRows & { readonly note?: string }

/** An erasure as the audit store knows it; names no person. */
export interface ErasureView {
  readonly id: string
  readonly state: 'PLANNED' | 'DEFERRED' | 'CONFIRMED' | 'ERASED' | 'COMPLETED'
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
  /** The operator who planned it. */
  readonly requestedBy: string
}

interface Named {
  readonly id: string
  readonly subject: string
  /** Whose person it is; the default tenant’s where it is undefined. */
  readonly tenant?: string | undefined
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
}

/** The audit side of an erasure, which only the auditor can carry out. */
export interface AuditErasures {
  plan(plan: Named & { readonly basis: string; readonly requestedBy: string }): Promise<{
    readonly state: 'PLANNED' | 'DEFERRED'
    readonly stores: readonly ErasedStore[]
    readonly heldTaskIds: readonly string[]
  }>
  /** Erases the audit side. Throws where the plan, the person or the confirming operator do not fit. */
  confirm(confirmation: Named & { readonly confirmedBy: string }): Promise<ErasureView>
  complete(id: string, erased: ErasedOutside): Promise<object>
  list(): Promise<readonly ErasureView[]>
  replay(): Promise<object>
}

/** What the audit side cannot know: the operational stores, the files under them, and the operator's back-ups. */
export interface ErasedOutside {
  readonly stores: readonly ErasedStore[]
  readonly storage: readonly StorageLeft[]
  readonly backupDays: number | null
}

interface ErasureParts {
  readonly pool: Pool
  readonly erasures: AuditErasures
  /** How long the operator says that back-ups are kept, for receipts; 0 where it is not stated. */
  readonly backupDays: number
}

export interface ErasureRequest {
  readonly id: string
  readonly subject: string
  /** Whose person it is; the default tenant’s where it is undefined. */
  readonly tenant?: string | undefined
  readonly operator: string
}

export interface ErasurePlanView {
  readonly erasureId: string
  readonly state: 'PLANNED' | 'DEFERRED'
  readonly handoffs: number
  readonly taskIds: readonly string[]
  /** None of them may be open when the erasure is confirmed. */
  readonly openHandoffIds: readonly string[]
  readonly heldTaskIds: readonly string[]
  readonly stores: readonly ErasedStore[]
}

const AT_ONCE = 100

const idsOf = (handoffs: readonly SubjectHandoff[]) => ({
  handoffIds: handoffs.map((one) => one.handoffId),
  taskIds: [...new Set(handoffs.map((one) => one.taskId))],
})

const openIds = (handoffs: readonly SubjectHandoff[]): string[] =>
  handoffs.filter((one) => one.open).map((one) => one.handoffId)

/** Says what would be erased; nothing is, but the request is noted for the second person (E26). */
export async function planErasure(
  parts: ErasureParts,
  { id, subject, tenant, operator, basis }: ErasureRequest & { readonly basis: string },
): Promise<ErasurePlanView> {
  const handoffs = await findSubjectHandoffs(parts.pool, subject)
  const found = idsOf(handoffs)
  const planned = await parts.erasures.plan({
    id,
    subject,
    tenant,
    basis,
    requestedBy: operator,
    ...found,
  })
  const operational = await countErased(parts.pool, found.handoffIds)
  return {
    erasureId: id,
    state: planned.state,
    handoffs: handoffs.length,
    taskIds: found.taskIds,
    openHandoffIds: openIds(handoffs),
    heldTaskIds: planned.heldTaskIds,
    stores: [...operational, ...planned.stores],
  }
}

export type ErasureRun =
  | { readonly kind: 'completed'; readonly receipt: object }
  | { readonly kind: 'open'; readonly handoffIds: readonly string[] }

/**
 * The second person's confirmation and everything that follows from it. Refused while a handoff of the person is
 * open: it could still execute, or be recorded, with the text that is being erased.
 */
export async function confirmErasure(
  parts: ErasureParts,
  { id, subject, tenant, operator }: ErasureRequest,
): Promise<ErasureRun> {
  const handoffs = await findSubjectHandoffs(parts.pool, subject)
  const open = openIds(handoffs)
  if (open.length > 0) return { kind: 'open', handoffIds: open }
  const named = { id, subject, tenant, confirmedBy: operator, ...idsOf(handoffs) }
  const erasure = await parts.erasures.confirm(named)
  return { kind: 'completed', receipt: await finishErasure(parts, erasure) }
}

/** Erases the operational stores and has the audit store record the end; answers the receipt. */
async function finishErasure(parts: ErasureParts, erasure: ErasureView): Promise<object> {
  const { pool } = parts
  await eraseAll(pool, erasure.handoffIds)
  crashPoint('erasure.after_store')
  const stores = [...(await countErased(pool, erasure.handoffIds)), ...ELSEWHERE]
  const storage = [await readStorageLeft(pool)]
  const backupDays = parts.backupDays === 0 ? null : parts.backupDays
  return parts.erasures.complete(erasure.id, { stores, storage, backupDays })
}

async function eraseAll(pool: Pool, handoffIds: readonly string[]): Promise<void> {
  for (let from = 0; from < handoffIds.length; from += AT_ONCE) {
    const some = handoffIds.slice(from, from + AT_ONCE)
    await inTransaction(pool, (transaction) => eraseHandoffs(transaction, some))
  }
}

const nothingIn = (name: string, note: string): ErasedStore => ({ name, before: 0, after: 0, note })

const ELSEWHERE = [
  nothingIn('queue', 'carries ids, digests and trace context, never text'),
  nothingIn('logs, metrics and spans', 'never hold text of a message, nor the id of a person'),
]

export interface ErasureReplay {
  /** Erasures that a crash had interrupted and that are complete now. */
  readonly completed: readonly string[]
  /** Handoffs whose text a restore had brought back. */
  readonly handoffs: number
  /** What the audit store found to do. */
  readonly audit: object
}

/**
 * Completes what was interrupted and erases again what a restored database brought back; the latter reads
 * every erasure there was, so it can be left out. Safe to repeat.
 */
export async function replayErasures(
  parts: ErasureParts,
  { restored = true }: { readonly restored?: boolean } = {},
): Promise<ErasureReplay> {
  const audit = await parts.erasures.replay()
  const completed: string[] = []
  let handoffs = 0
  for (const erasure of await parts.erasures.list()) {
    if (erasure.state === 'CONFIRMED' || erasure.state === 'ERASED') {
      await finishErasure(parts, erasure)
      completed.push(erasure.id)
    } else if (restored && erasure.state === 'COMPLETED') {
      const stored = await findUnreflected(parts.pool, erasure.handoffIds)
      await eraseAll(parts.pool, stored)
      handoffs += stored.length
    }
  }
  return { completed, handoffs, audit }
}

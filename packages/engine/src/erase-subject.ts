// Erasing a person: planned by one and confirmed by another with a signature each, carried through every store, and safe to run
// again. Nothing is erased here that two people have not signed whom this process knows from its own settings.
import { erasureConfirmation, erasureFault, erasureRequest } from '@baton/ledger'
import type { DecisionSignature, People, SignedErasure } from '@baton/ledger'
import { crashPoint, permanent } from '@baton/runtime'
import {
  countErased,
  eraseHandoffs,
  findSubjectHandoffs,
  findUnreflected,
  inTransaction,
  readStorageLeft,
} from '@baton/store'
import type { ErasedRows, Pool, StorageLeft, SubjectHandoff } from '@baton/store'
import { readAct } from './decide/signed-decisions.ts'
import type { Unsigned } from './decide/signed-decisions.ts'

/** How many items of the person a place held, and how many it holds now. */
type ErasedStore = ErasedRows & { readonly note?: string }

/** An erasure as the audit store knows it; names no person. */
export interface ErasureView extends SignedErasure {
  readonly state: 'PLANNED' | 'DEFERRED' | 'CONFIRMED' | 'ERASED' | 'COMPLETED'
  readonly basis: string
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
}

interface Named {
  readonly id: string
  readonly subject: string
  /** Whose person it is; the default tenant’s where it is undefined. */
  readonly tenant?: string | undefined
  readonly handoffIds: readonly string[]
  readonly taskIds: readonly string[]
  /** What the operator signed: the auditor asks for it as well. */
  readonly signed: DecisionSignature | undefined
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
  find(id: string): Promise<ErasureView>
  /** All that are proven and in one of these states. */
  list(states: readonly ErasureView['state'][]): AsyncIterable<ErasureView>
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
  /** Whose decisions count. */
  readonly people: People
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
  /** What the operator signed. */
  readonly signed: DecisionSignature | undefined
}

type NotSigned = { readonly kind: 'unsigned' } & Unsigned

export type ErasurePlanned =
  | { readonly kind: 'planned'; readonly plan: ErasurePlanView }
  | NotSigned

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
  { id, subject, tenant, operator, basis, signed }: ErasureRequest & { readonly basis: string },
): Promise<ErasurePlanned> {
  const read = readAct(erasureRequest({ id, subject, basis }, operator), signed, parts.people)
  if ('why' in read) return { kind: 'unsigned', ...read }
  const handoffs = await findSubjectHandoffs(parts.pool, subject)
  const found = idsOf(handoffs)
  const planned = await parts.erasures.plan({
    id,
    subject,
    tenant,
    basis,
    requestedBy: operator,
    signed,
    ...found,
  })
  const operational = await countErased(parts.pool, found.handoffIds)
  const plan = {
    erasureId: id,
    state: planned.state,
    handoffs: handoffs.length,
    taskIds: found.taskIds,
    openHandoffIds: openIds(handoffs),
    heldTaskIds: planned.heldTaskIds,
    stores: [...operational, ...planned.stores],
  }
  return { kind: 'planned', plan }
}

export type ErasureRun =
  | { readonly kind: 'completed'; readonly receipt: object }
  | { readonly kind: 'open'; readonly handoffIds: readonly string[] }
  | NotSigned

/**
 * The second person's confirmation and everything that follows from it. Refused while a handoff of the person is
 * open: it could still execute, or be recorded, with the text that is being erased. What is confirmed already is signed: it
 * is carried to its end.
 */
export async function confirmErasure(
  parts: ErasureParts,
  planned: ErasureView,
  { subject, tenant, operator, signed }: Omit<ErasureRequest, 'id'>,
): Promise<ErasureRun> {
  const { id, state, requestedBy } = planned
  const handoffs = await findSubjectHandoffs(parts.pool, subject)
  const open = openIds(handoffs)
  if (open.length > 0) return { kind: 'open', handoffIds: open }
  // Whoever planned it is refused for that, whatever they sign.
  if (state === 'PLANNED' && operator !== requestedBy) {
    const read = readAct(
      erasureConfirmation({ ...planned, subject }, operator),
      signed,
      parts.people,
    )
    if ('why' in read) return { kind: 'unsigned', ...read }
  }
  const named = { id, subject, tenant, confirmedBy: operator, signed, ...idsOf(handoffs) }
  const erasure = await parts.erasures.confirm(named)
  if (!isSigned(parts, erasure)) throw UNSIGNED
  return { kind: 'completed', receipt: await finishErasure(parts, erasure) }
}

const UNSIGNED = permanent(
  'BATON_ERASURE_PLAN_UNSIGNED',
  'the erasure was not signed by two people whose decisions count here',
  {
    fix: 'Give this gateway and the auditor the same BATON_PEOPLE; then run `baton erase --replay`.',
  },
)

/**
 * Whether two people signed it with keys that count here. What the auditor has on record as confirmed before people signed
 * erasures has neither signature, and is carried to its end: no auditor signs the like of it any more.
 */
function isSigned({ people }: ErasureParts, erasure: ErasureView): boolean {
  const { requestedSigned, confirmedSigned } = erasure
  if (requestedSigned === null && confirmedSigned === null) return true
  return erasureFault(erasure, people) === undefined
}

/**
 * Whether it names two people, and the signature of both or, as before people signed erasures, of none. The keys of what was
 * completed may count here no more; what one person alone has planned was never completed.
 */
const isOfTwo = (erasure: ErasureView): boolean => {
  const { requestedBy, requestedSigned, confirmedBy, confirmedSigned } = erasure
  const isEven = (requestedSigned === null) === (confirmedSigned === null)
  return isEven && confirmedBy !== null && confirmedBy !== requestedBy
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
  /** Erasures under way that are left as they are: nobody whose decisions count here has signed them. */
  readonly unsigned: readonly string[]
  /** Handoffs whose text a restore had brought back. */
  readonly handoffs: number
  /** What the audit store found to do. */
  readonly audit: object
}

const UNDER_WAY = ['CONFIRMED', 'ERASED'] as const

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
  const unsigned: string[] = []
  let handoffs = 0
  const states = restored ? [...UNDER_WAY, 'COMPLETED' as const] : UNDER_WAY
  for await (const erasure of parts.erasures.list(states)) {
    if (erasure.state === 'CONFIRMED' || erasure.state === 'ERASED') {
      if (!isSigned(parts, erasure)) unsigned.push(erasure.id)
      else {
        await finishErasure(parts, erasure)
        completed.push(erasure.id)
      }
    } else if (restored && erasure.state === 'COMPLETED' && isOfTwo(erasure)) {
      const stored = await findUnreflected(parts.pool, erasure.handoffIds)
      await eraseAll(parts.pool, stored)
      handoffs += stored.length
    }
  }
  return { completed, unsigned, handoffs, audit }
}

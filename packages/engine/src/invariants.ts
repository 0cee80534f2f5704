// The promises I1 to I12. The rules they come down to stand beside their statements, in packages/store and packages/audit.
import { recordId } from '@baton/ledger'
import type { AuditEvent } from '@baton/ledger'
import {
  listEndings,
  listExecutionReceipts,
  listToldOperations,
  listWaitingRecords,
} from '@baton/store'
import type { PastEnding, Pool, ToldOperation } from '@baton/store'

export const PROMISES = {
  I1: 'Atomic send: task, checkpoint, handoff and outbox row commit together or not at all',
  I2: 'No loss: every acknowledged handoff ends exactly once or visibly waits',
  I3: 'Audit before effect: no agent runs before its decision record is durable',
  I4: 'One effect: at most one execution of a handoff commits',
  I5: 'Atomic step: result, cost, task state and next handoffs commit together',
  I6: 'Order of checks: nothing that was rejected ever executes',
  I7: 'Rollback restores the sender’s checkpoint byte for byte',
  I8: 'Budget: spent and remaining add up to the budget at every hop',
  I9: 'One trace id from the first request to the last effect',
  I10: 'Tamper evidence: every change of the log is found and located',
  I11: 'Erasure removes a person’s data and the log still verifies',
  I12: 'Bounded: every queue, batch, retry, payload and wait has a maximum',
} as const

export type PromiseId = keyof typeof PROMISES

/** A rule bound to a database, as `storeInvariants` and `auditInvariants` answer it. */
export interface Invariant {
  readonly promise: PromiseId
  /** What must hold, as a sentence. */
  readonly rule: string
  /** Ids of what breaks the rule, at most 100; empty when it holds. */
  check(): Promise<readonly string[]>
}

/** The recorded hashes (lower-case hex) by record id, of those that are recorded. */
type FindRecordHashes = (recordIds: readonly string[]) => Promise<ReadonlyMap<string, string>>

/** I3 across both databases: every receipt that one of the newest executions holds is a record in the audit store. */
export function receiptInvariant(pool: Pool, findRecordHashes: FindRecordHashes): Invariant {
  return {
    promise: 'I3',
    rule: 'every receipt held by an execution is in the audit store',
    async check() {
      const receipts = await listExecutionReceipts(pool, RECEIPTS_MAX)
      const idOf = ({ handoffId, epoch }: { handoffId: string; epoch: number }) =>
        recordId({ handoffId, epoch, event: 'HANDOFF_ACCEPTED' })
      const hashes = await findRecordHashes(receipts.map(idOf))
      return receipts
        .filter((receipt) => hashes.get(idOf(receipt)) !== receipt.auditHash)
        .map(({ handoffId }) => handoffId)
    },
  }
}

const RECEIPTS_MAX = 5_000

/** I10 across both databases: what operators did and people decided, and was forgotten here as recorded, is in the audit store. */
export function operationInvariant(pool: Pool, findRecordHashes: FindRecordHashes): Invariant {
  return {
    promise: 'I10',
    rule: 'what people decided, and did to the installation, in the last week is in the log',
    async check() {
      const told = await listToldOperations(pool, OPERATIONS_MAX)
      const hashes = await findRecordHashes(told.map(idOfOperation))
      return told
        .filter((one) => !hashes.has(idOfOperation(one)))
        .slice(0, MISSING_MAX)
        .map(({ event, actId }) => `${event} ${actId}`)
    },
  }
}

const OPERATIONS_MAX = 5_000
const MISSING_MAX = 100

const idOfOperation = ({ event, handoffId, actId, epoch }: ToldOperation): string =>
  recordId({
    event: event as AuditEvent,
    handoffId,
    epoch,
    act: { id: actId, actor: '' },
  })

/**
 * I10 across both databases: how a handoff ended is in the log once nothing of it waits to be shipped. Who may deliver may also forget
 * what waits, and the next look at the handoff itself shows it. What ended so recently that it may be on its way is left out.
 */
export function endingInvariant(
  pool: Pool,
  findRecordHashes: FindRecordHashes,
  settledMs = SETTLED_MS,
): Invariant {
  async function unrecorded(endings: readonly PastEnding[]): Promise<readonly PastEnding[]> {
    if (endings.length === 0) return []
    const hashes = await findRecordHashes(endings.map(idOfEnding))
    return endings.filter((one) => !hashes.has(idOfEnding(one)))
  }
  return {
    promise: 'I10',
    rule: 'how each of the newest 5,000 handoffs of the last week ended is in the log',
    async check() {
      const endings = await listEndings(pool, { settledMs, limit: ENDINGS_MAX })
      const missing = await unrecorded(endings)
      const waiting = await listWaitingRecords(pool, [...new Set(missing.map(handoffOf))])
      const waits = new Set(waiting.map(idOfEnding))
      // Asked again, because what was shipped meanwhile does not wait any more, and is in the log by now.
      const lost = await unrecorded(missing.filter((one) => !waits.has(idOfEnding(one))))
      return lost.slice(0, MISSING_MAX).map(({ event, handoffId }) => `${event} ${handoffId}`)
    },
  }
}

const SETTLED_MS = 600_000
const ENDINGS_MAX = 5_000

const handoffOf = ({ handoffId }: PastEnding): string => handoffId

const idOfEnding = ({ event, handoffId, epoch }: PastEnding): string =>
  recordId({ event: event as AuditEvent, handoffId, epoch })

// The promises I1 to I12 and the rules they come down to; stated once for tests, chaos campaigns and `doctor`.
import { recordId } from '@baton/ledger'

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

export interface Invariant {
  readonly promise: PromiseId
  /** What must hold, as a sentence. */
  readonly rule: string
  /** Ids of what breaks the rule, at most 100; empty when it holds. */
  check(): Promise<readonly string[]>
}

type Rule = Pick<Invariant, 'promise' | 'rule'>

const STORE_RULES = {
  findIncompleteSends: {
    promise: 'I1',
    rule: 'every handoff has its checkpoint and its signed bytes',
  },
  findTasksWithoutHandoff: { promise: 'I1', rule: 'every task has a handoff' },
  findStrandedHandoffs: {
    promise: 'I2',
    rule: 'every open handoff waits somewhere or is held by a lease',
  },
  findMisplacedApprovals: {
    promise: 'I2',
    rule: 'an approval is open exactly as long as its handoff waits for it',
  },
  findUndeadHandoffs: { promise: 'I2', rule: 'no handoff that has ended is still being executed' },
  findLostDeadLetters: {
    promise: 'I2',
    rule: 'every quarantined handoff shows up as a dead letter',
  },
  findExecutionsWithoutReceipt: {
    promise: 'I3',
    rule: 'nothing executes without an audit receipt',
  },
  findUncommittedCompletions: {
    promise: 'I4',
    rule: 'every completed handoff has one committed execution',
  },
  findHalfSteps: {
    promise: 'I5',
    rule: 'no task runs without a handoff, none is complete with one',
  },
  findExecutedRejections: { promise: 'I6', rule: 'no rejected handoff has a result' },
  findMisplacedDeadLetters: {
    promise: 'I2',
    rule: 'a dead letter waits exactly as long as its handoff is quarantined',
  },
  findUnboundReleases: {
    promise: 'I6',
    rule: 'a release covers one handoff and its bytes, and no ending without effect leaves it',
  },
  findUnreviewedExecutions: {
    promise: 'I6',
    rule: 'nothing quarantined executes unless two others than its sender released it',
  },
  findWrongRollbacks: {
    promise: 'I7',
    rule: 'a rolled-back task stands at its sender’s checkpoint',
  },
  findChangedCheckpoints: {
    promise: 'I7',
    rule: 'the newest 5,000 checkpoints have the bytes that were saved',
  },
  findBudgetMismatches: { promise: 'I8', rule: 'spent and remaining add up to the budget' },
  findRaisedBudgets: {
    promise: 'I8',
    rule: 'no handoff has more left over than its parent gave on',
  },
  findUnbookedCosts: { promise: 'I8', rule: 'every execution’s cost is booked on its task' },
  findSplitTraces: { promise: 'I9', rule: 'all handoffs of a task belong to one trace' },
  findExcessAttempts: { promise: 'I12', rule: 'nothing is tried more often than allowed' },
  findOversizedMessages: { promise: 'I12', rule: 'no message is larger than 1 MiB' },
} as const satisfies Record<string, Rule>

const AUDIT_RULES = {
  findUndecidedCompletions: {
    promise: 'I3',
    rule: 'every execution of the last day was decided before',
  },
  findUnreleasedAcceptances: {
    promise: 'I6',
    rule: 'nothing that the scanner rejects was accepted in the last day without a release before it',
  },
  findRepeatedCompletions: {
    promise: 'I4',
    rule: 'no handoff of the last day was completed twice',
  },
  findSplitRecords: { promise: 'I9', rule: 'all records of a task of the last day name one trace' },
} as const satisfies Record<string, Rule>

type Reads<Rules> = { readonly [Name in keyof Rules]: () => Promise<readonly string[]> }

/** The checks of the operational database. */
export const storeInvariants = (reads: Reads<typeof STORE_RULES>): readonly Invariant[] =>
  bind(STORE_RULES, reads)

/** The checks of the audit database. */
export const auditInvariants = (reads: Reads<typeof AUDIT_RULES>): readonly Invariant[] =>
  bind(AUDIT_RULES, reads)

function bind<Name extends string>(
  rules: Readonly<Record<Name, Rule>>,
  reads: Readonly<Record<Name, Invariant['check']>>,
): readonly Invariant[] {
  return (Object.keys(rules) as Name[]).map((name) => ({ ...rules[name], check: reads[name] }))
}

interface ReceiptReads {
  /** The newest executions that hold a receipt. `auditHash` is lower-case hex. */
  listExecutionReceipts(): Promise<
    readonly { readonly handoffId: string; readonly epoch: number; readonly auditHash: string }[]
  >
  /** The recorded hashes (lower-case hex) by record id, of those of `recordIds` that are recorded. */
  findRecordHashes(recordIds: readonly string[]): Promise<ReadonlyMap<string, string>>
}

/** I3 across both databases: every receipt that an execution holds is a record in the audit store. */
export function receiptInvariant(reads: ReceiptReads): Invariant {
  return {
    promise: 'I3',
    rule: 'every receipt held by an execution is in the audit store',
    async check() {
      const receipts = await reads.listExecutionReceipts()
      const idOf = ({ handoffId, epoch }: { handoffId: string; epoch: number }) =>
        recordId({ handoffId, epoch, event: 'HANDOFF_ACCEPTED' })
      const hashes = await reads.findRecordHashes(receipts.map(idOf))
      return receipts
        .filter((receipt) => hashes.get(idOf(receipt)) !== receipt.auditHash)
        .map(({ handoffId }) => handoffId)
    },
  }
}

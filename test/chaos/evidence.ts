// Everything a checker may look at once a system has drained: what was told, what was done, what is stored.
import type { FaultRun } from './fault-runner.ts'
import type { LedgerLine } from './effect-ledger.ts'
import type { Operation } from './history.ts'
import type { PeerLine, ToldLine } from './peer-ledger.ts'

/** A handoff beside its execution, as stored. Times in milliseconds since 1970, by Postgres' clock. */
export interface HandoffRow {
  readonly id: string
  readonly taskId: string
  readonly taskSeq: number
  readonly parentId: string | null
  readonly fromExecution: string
  readonly toAgent: string
  /** The branch it belongs to, and the fan-out of that; null on the task’s own way. */
  readonly branchId: string | null
  readonly fanOutId: string | null
  /** The fan-out that it joins. */
  readonly joinsId: string | null
  /** The handoff that fanned out into its branch, or into those that it joins on the task’s own way. */
  readonly fannedOutBy: string | null
  /** Of the task, or of the branch. */
  readonly budgetMicroUSD: number
  readonly state: string
  readonly reason: string | null
  readonly attempt: number
  readonly attemptsMax: number
  readonly checkpointId: string
  readonly traceparent: string
  readonly spentMicroUSD: number
  readonly remainingMicroUSD: number
  readonly createdAt: number
  readonly acceptedAt: number | null
  readonly endedAt: number | null
  readonly hasBody: boolean
  readonly hasCheckpoint: boolean
  /** Of the execution; null where nobody ever claimed the handoff. */
  readonly fencingToken: number | null
  readonly status: string | null
  readonly costMicroUSD: number | null
  /** The fencing token that the agent itself put into its result. */
  readonly resultFencingToken: number | null
  /** What a session worker said came of it; null of all others. */
  readonly said: string | null
  readonly auditHash: string | null
}

/** A handoff that has yielded chunks, beside what the log says of its stream. */
export interface StreamRow {
  readonly handoffId: string
  readonly state: string
  /** How many its execution has counted. */
  readonly counted: number
  readonly chunks: number
  readonly lastSeq: number
  /** Chunks that were committed under another fencing token than the one they were emitted under, or under an earlier one than the chunk before. */
  readonly misplaced: number
  /** SHA-256 over the digests of all of them, in hex. */
  readonly sha256: string
  /** Of the record of its completion; null where there is none. */
  readonly recorded: { readonly chunks: number; readonly sha256: string } | null
}

export interface TaskRow {
  readonly id: string
  readonly status: string
  readonly budgetMicroUSD: number
  readonly spentMicroUSD: number
  readonly checkpointId: string | null
  /** SHA-256 (hex) of the request in the checkpoint the task stands at; null where it holds none. */
  readonly requestSha256: string | null
}

/** A record of the audit log; `at` is when its transaction committed, where Postgres keeps that. */
export interface RecordRow {
  readonly handoffId: string
  readonly taskId: string
  readonly event: string
  /** The fencing token, as the log calls it. */
  readonly epoch: number
  readonly traceId: string
  readonly hash: string
  readonly at: number
}

export interface ReturnRow {
  readonly handoffId: string
  readonly attempt: number
  readonly delayMs: number | null
}

export interface Evidence {
  readonly operations: readonly Operation[]
  /** Whether these are all sends there were, so that anything else is a stranger. */
  readonly sendsKnown: boolean
  readonly ledger: readonly LedgerLine[]
  /** What agents did that are told no fencing token. */
  readonly peers: readonly PeerLine[]
  /** What session peers were told of their tasks. */
  readonly told: readonly ToldLine[]
  readonly handoffs: readonly HandoffRow[]
  readonly tasks: readonly TaskRow[]
  readonly records: readonly RecordRow[]
  readonly returns: readonly ReturnRow[]
  readonly streams: readonly StreamRow[]
  /** The handoffs whose outcome Baton has tried to tell a session peer. */
  readonly tried: readonly string[]
  /** What is still queued, leased, scheduled or unshipped after the drain. */
  readonly stuck: readonly string[]
  readonly chain: { readonly ok: boolean; readonly findings: readonly unknown[] }
  /** What `baton doctor` would say: a promise, its rule and the ids that break it. */
  readonly rules: readonly {
    readonly promise: string
    readonly rule: string
    readonly ids: readonly string[]
  }[]
  readonly faults: readonly FaultRun[]
  readonly limits: {
    readonly leaseMs: number
    readonly backoff: { readonly baseMs: number; readonly capMs: number }
  }
}

/** Something that must hold; the numbers are those of the campaign, `promise` is the architecture's. */
export interface CampaignInvariant {
  readonly id: string
  readonly promise: string
  /** What must hold, as a sentence. */
  readonly rule: string
  /** What breaks it, each with the ids; empty when it holds. */
  check(evidence: Evidence): readonly string[]
}

/** The items grouped by the id that `keyOf` gives. */
export function groupBy<Item>(
  items: readonly Item[],
  keyOf: (item: Item) => string,
): ReadonlyMap<string, readonly Item[]> {
  return Map.groupBy(items, keyOf) as ReadonlyMap<string, readonly Item[]>
}

/** The agent types whose protocols tell them no fencing token: whether one effect commits is seen by what they said. */
export const TOLD_NO_FENCING_TOKEN: ReadonlySet<string> = new Set(['session-worker', 'swarm-agent'])

export const traceIdOf = (traceparent: string): string => traceparent.split('-')[1] ?? ''

/** Whether an execution's result was committed, of all that was asked or of a part. */
export const hasEffect = ({ state }: HandoffRow): boolean =>
  state === 'COMPLETED' || state === 'PARTIAL'

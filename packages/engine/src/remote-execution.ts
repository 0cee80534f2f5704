// Executions by agents outside: what was accepted is given away under a lease, kept by heartbeats and settled by whoever
// took it. Nothing of it is remembered in a process: any gateway answers for any execution.
import { randomUUID } from 'node:crypto'
import { codeOf, crashPoint } from '@baton/runtime'
import type { Scanner } from '@baton/safety'
import {
  addOutboxEvents,
  findSettled,
  isTaken,
  keepRemoteLeases,
  loadTaken,
  releaseLeases,
  takeExecutions,
} from '@baton/store'
import type { ClaimedHandoff, Fence, Pool, TakenHandoff, Taker } from '@baton/store'
import { parseTraceparent } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import type { AgentRegistration, HandoffMessage } from '@baton/protocol'
import { commitChunks } from './commit-chunks.ts'
import type { SettledAs, Settler } from './commit-outcome.ts'
import { startedEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { breaksStream, LOST, numberChunk } from './decide/chunks.ts'
import type { Chunk } from './decide/chunks.ts'
import type { LargeWork } from './large-work.ts'
import type { Accepted, Executing, Execution, Executor } from './execute-handoff.ts'
import { executionOf } from './outside-agent.ts'
import type { Given, RemoteOutcome } from './outside-agent.ts'
import { readMessage } from './prepare-handoff.ts'
import type { EventShipper } from './record-audit.ts'

interface RemoteExecutorOptions {
  readonly pool: Pool
  readonly agent: AgentRegistration
  /** The operator who takes it. */
  readonly takenBy: string
  readonly leaseMs: number
  give(given: Given): void
}

/** Gives what it would execute to somebody outside, once that is written down. */
export const createRemoteExecutor = (options: RemoteExecutorOptions): Executor => ({
  agent: options.agent,
  async execute({ claimed, message, span }: Accepted) {
    const { pool, agent, takenBy, leaseMs } = options
    const { handoffId, fencingToken } = claimed
    const { traceparent } = span
    const [lease] = await takeExecutions(pool, [
      {
        handoffId,
        fencingToken,
        takenBy,
        agentType: agent.type,
        agentVersion: agent.version,
        leaseMs,
        firstLeaseMs: leaseMs,
        traceparent,
      },
    ])
    crashPoint('remote.after_take')
    if (lease !== undefined) options.give({ claimed, message, lease, traceparent })
    return { kind: 'elsewhere' }
  },
})

export interface StartedElsewhere {
  readonly claimed: ClaimedHandoff
  readonly agent: Executing
  /** Whose it is now. */
  readonly operator: string
  /** What the agent said of itself, as it said it. */
  readonly announced?: string | undefined
}

/** Stands with its task once it resolves, and in the audit log soon after: who began, and what it had announced. */
export async function recordStarted(
  { pool, shipper }: { readonly pool: Pool; readonly shipper: Pick<EventShipper, 'ship'> },
  { claimed, agent, operator, announced }: StartedElsewhere,
): Promise<void> {
  const act = { id: randomUUID(), actor: operator }
  const event = toOutboxEvent(startedEntry(claimed, { agent, act, announced }))
  await addOutboxEvents(pool, [event])
  void shipper.ship([event])
}

/** Nobody got what was given: somebody else gets it at once, no attempt is counted. */
export const releaseRemote = (pool: Pool, fences: readonly Fence[]): Promise<void> =>
  releaseLeases(pool, fences)

export interface SettleRequest extends Fence {
  readonly outcome: RemoteOutcome
  /** That of the caller; counts where it continues the handoff's trace. */
  readonly traceparent?: string | undefined
}

export type RemoteSettled =
  | { readonly kind: 'settled'; readonly state: string; readonly repeated: boolean }
  /** It is not theirs, or no longer: nothing was changed. */
  | { readonly kind: 'lost' }

export interface SettleParts {
  readonly pool: Pool
  readonly settle: Settler
  /** Has the summaries written of what an agent hands on; the extract where there is none. */
  readonly summarise?: Summarise | undefined
}

type Summarise = (executed: TakenStep, execution: Execution) => Promise<Execution>

interface TakenStep {
  readonly claimed: TakenHandoff
  readonly message: HandoffMessage
}

/**
 * Settles what `taker` has taken, each in the set of all that settle at the same time; the answers are in order. Repeating it answers
 * the state of what the first time came to.
 */
export async function settleRemote(
  parts: SettleParts,
  taker: Taker,
  requests: readonly SettleRequest[],
): Promise<readonly RemoteSettled[]> {
  const { pool } = parts
  const taken = await loadTaken(pool, requests, taker)
  const byId = new Map(taken.map((one) => [one.handoffId, one]))
  crashPoint('remote.before_settle')
  const keep = () => keepRemoteLeases(pool, taken, taker)
  const states = await Promise.all(
    requests.map((request) => settleOne({ ...parts, keep }, byId.get(request.handoffId), request)),
  )
  crashPoint('remote.after_settle')
  const unsettled = requests.filter((_, index) => states[index] === undefined)
  const before = unsettled.length === 0 ? [] : await findSettled(pool, unsettled, taker)
  const settledBefore = new Map(before.map(({ handoffId, state }) => [handoffId, state]))
  return requests.map(({ handoffId }, index) => {
    const state = states[index] ?? settledBefore.get(handoffId)
    if (state === undefined) return { kind: 'lost' }
    return { kind: 'settled', state, repeated: states[index] === undefined }
  })
}

export interface EmitRequest extends Fence {
  /** The number of the first chunk; the others follow it. */
  readonly seq: number
  readonly chunks: readonly Chunk[]
}

interface EmitParts {
  readonly pool: Pool
  readonly settle: Settler
  readonly largeWork: LargeWork
  readonly scanner: Pick<Scanner, 'scan'>
  readonly metrics: Pick<Metrics, 'chunksTotal'>
}

/**
 * Commits chunks of what `taker` has taken. What no other chunk can mend fails the execution, as its agent would. Throws what
 * `commitChunks` throws, and BATON_CHUNK_INVALID.
 */
export async function emitRemote(
  parts: EmitParts,
  taker: Taker,
  { handoffId, fencingToken, seq, chunks }: EmitRequest,
): Promise<void> {
  const { pool } = parts
  const fence = { handoffId, fencingToken }
  const numbered = chunks.map((chunk, index) => numberChunk(chunk, seq + index))
  if (!(await isTaken(pool, fence, taker))) throw LOST
  try {
    await commitChunks(parts, fence, { chunks: numbered, share: taker.operator })
  } catch (error) {
    const code = codeOf(error)
    if (breaksStream(code))
      await settleRemote(parts, taker, [
        { ...fence, outcome: { kind: 'failed', code, retry: false } },
      ])
    throw error
  }
}

async function settleOne(
  { settle, summarise, keep }: SettleParts & { keep(): Promise<unknown> },
  taken: TakenHandoff | undefined,
  { outcome, traceparent }: SettleRequest,
): Promise<SettledAs> {
  if (taken === undefined) return undefined
  const message = readMessage(taken.body)
  const execution = executionOf(outcome, {
    claimed: taken,
    message,
    agent: { type: taken.agentType, version: taken.agentVersion },
    traceparent: continuedTrace(traceparent, taken),
  })
  const handsOn = execution.kind === 'done' && execution.result.next.length > 0
  if (summarise === undefined || !handsOn) return settle.executed(taken, message, execution)
  const step = { claimed: taken, message }
  const whole = await whileKept(keep, () => summarise(step, execution))
  return settle.executed(taken, message, whole)
}

const KEEP_MS = 1_000

/** An agent that settles says no more that it is at it: its lease is kept while it waits. */
async function whileKept<Result>(
  keep: () => Promise<unknown>,
  work: () => Promise<Result>,
): Promise<Result> {
  const keepOn = () => void keep().catch(() => undefined)
  const keeping = setInterval(keepOn, KEEP_MS)
  keepOn()
  try {
    return await work()
  } finally {
    clearInterval(keeping)
  }
}

/** What is handed on hangs in the trace below the agent's own span, where it told one of this trace (I9). */
function continuedTrace(
  offered: string | undefined,
  { takenIn, traceparent }: TakenHandoff,
): string {
  const [own, theirs] = [parseTraceparent(traceparent), parseTraceparent(offered ?? '')]
  return theirs !== undefined && theirs.traceId === own?.traceId ? (offered ?? takenIn) : takenIn
}

// GetPendingHandoffs: what waits for an agent, from whichever protocol it came. Nothing is shown that would not pass the checks.
import { createRemoteExecutor } from '@baton/engine'
import type { ReadingRecorder } from '@baton/engine'
import { fromHandoff, Sw4rmError } from '@baton/protocol/dialects/sw4rm'
import { listPendingHandoffs } from '@baton/store'
import type { ClaimedHandoff, PendingHandoff, Pool } from '@baton/store'
import type { RemoteWork } from '../executions/remote-work.ts'
import type { Caller } from './calls.ts'
import type { JudgePending } from './judge-pending.ts'
import { agentFor } from './take-handoff.ts'
import { isName, writeRequest } from './wire.ts'
import type { WireRequest } from './wire.ts'

export interface PendingParts {
  readonly pool: Pool
  readonly judgePending: JudgePending
  readonly readings: ReadingRecorder
  readonly remoteWork: () => RemoteWork
}

/** Clients take 4 MiB by default. */
const LISTED = { limit: 100, bytesMax: 3_145_728 }
const LEASE_MS = 1_000

/** The most urgent first; what does not fit into one answer comes with the next, once these are accepted. */
export async function pendingFor(
  agentId: string,
  { key, address }: Caller,
  parts: PendingParts,
): Promise<readonly WireRequest[]> {
  if (!isName(agentId)) throw AGENT_ID_INVALID
  const waiting = await listPendingHandoffs(parts.pool, agentId, LISTED)
  const judged = waiting.map((pending) => ({ pending, message: parts.judgePending(pending) }))
  const refused = judged.filter(({ message }) => message === undefined)
  await Promise.all(refused.map(({ pending }) => refuse(pending, parts)))
  const shown = judged.flatMap(({ message }) => (message === undefined ? [] : [message]))
  const { operator, tenant, id: keyId } = key
  await parts.readings.read(
    { operator, tenant, keyId, address },
    shown.map(({ taskId, handoffId, traceparent }) => ({
      text: 'pending-message',
      taskId,
      handoffId,
      traceparent,
    })),
  )
  return shown.map((message) => writeRequest(fromHandoff(message)))
}

const AGENT_ID_INVALID = new Sw4rmError(
  'agent_id must be 1 to 1024 characters, none of them a control character',
)

// Refused on record, as any receiver would; what a person has released meanwhile waits on.
async function refuse(
  { handoffId, publishAttempt }: PendingHandoff,
  { pool, remoteWork }: PendingParts,
): Promise<void> {
  const remote = remoteWork()
  const executorOf = (claimed: ClaimedHandoff) =>
    createRemoteExecutor({
      pool,
      agent: agentFor(claimed),
      takenBy: '',
      leaseMs: LEASE_MS,
      give: (given) => remote.release([given.claimed]),
    })
  await remote.receiveFor(executorOf)({ handoffId, publishAttempt })
}

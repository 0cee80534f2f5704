// What must hold of what is counted: costs, attempts, waits, rollbacks, and the time until work flows again.
import { groupBy, hasEffect } from './evidence.ts'
import type { CampaignInvariant, Evidence } from './evidence.ts'
import { recoveriesMs } from './recovery.ts'

function costsOff({ handoffs, tasks, ledger }: Evidence): readonly string[] {
  const byTask = groupBy(handoffs, (row) => row.taskId)
  const booked = tasks.flatMap((task) => {
    const ofTask = byTask.get(task.id) ?? []
    const first = ofTask.find((row) => row.taskSeq === 1)
    const executions = ofTask.reduce((sum, row) => sum + (row.costMicroUSD ?? 0), 0)
    const expected = (first?.spentMicroUSD ?? 0) + executions
    return task.spentMicroUSD === expected
      ? []
      : [`booked ${task.spentMicroUSD}, executions and sender make ${expected}: task ${task.id}`]
  })
  const conserved = handoffs
    .filter((row) => row.spentMicroUSD + row.remainingMicroUSD !== row.budgetMicroUSD)
    .map((row) => `spent and remaining are not the budget: ${row.id}`)
  return [...booked, ...conserved, ...costsNotInLedger(handoffs, ledger)]
}

// Agents of other suites keep no costs in their ledger.
function costsNotInLedger(
  handoffs: Evidence['handoffs'],
  ledger: Evidence['ledger'],
): readonly string[] {
  const costs = new Map(
    ledger
      .filter((line) => line.what === 'end')
      .map((line) => [`${line.handoffId} ${line.fencingToken}`, line.costMicroUSD]),
  )
  return handoffs.filter(hasEffect).flatMap((row) => {
    const cost = costs.get(`${row.id} ${row.fencingToken}`)
    return cost === undefined || cost === row.costMicroUSD
      ? []
      : [`charged ${row.costMicroUSD}, its agent wrote down ${cost}: ${row.id}`]
  })
}

function rollbacksOff({ handoffs, tasks, operations, records }: Evidence): readonly string[] {
  const byTask = groupBy(handoffs, (row) => row.taskId)
  const revised = new Set(
    records.filter(({ event }) => event === 'HANDOFF_REVISED').map(({ handoffId }) => handoffId),
  )
  const asked = new Map(operations.map((one) => [one.handoffId, one.askedSha256]))
  return tasks.flatMap((task) => {
    const last = (byTask.get(task.id) ?? []).toSorted((a, b) => b.taskSeq - a.taskSeq)[0]
    if (last?.state !== 'ROLLED_BACK' || last.branchId !== null) return []
    if (task.status === 'CANCELED') return []
    if (task.status !== 'PENDING_HANDOFF') return [`${task.status} after a rollback: ${task.id}`]
    if (task.checkpointId !== last.checkpointId) {
      return [`stands at checkpoint ${task.checkpointId}, not ${last.checkpointId}: ${task.id}`]
    }
    // A correction brings a checkpoint of its own.
    if (revised.has(last.id)) return []
    const request = asked.get(last.id)
    return request === undefined || request === task.requestSha256
      ? []
      : [`its checkpoint is not what the sender asked, byte for byte: ${task.id}`]
  })
}

const ROUNDING_MS = 50

function attemptsOff({ handoffs, returns, ledger, limits }: Evidence): readonly string[] {
  const attemptsMax = new Map(handoffs.map((row) => [row.id, row.attemptsMax]))
  const { baseMs, capMs } = limits.backoff
  return [
    ...handoffs
      .filter((row) => row.attempt > row.attemptsMax)
      .map((row) => `attempt ${row.attempt} of ${row.attemptsMax}: ${row.id}`),
    ...ledger
      .filter((line) => line.attempt > (attemptsMax.get(line.handoffId) ?? Infinity))
      .map((line) => `executed in attempt ${line.attempt}: ${line.handoffId}`),
    ...returns.flatMap(({ handoffId, attempt, delayMs }) => {
      const mostMs = Math.min(capMs, baseMs * 2 ** (attempt - 1)) + ROUNDING_MS
      return delayMs === null || (delayMs >= -ROUNDING_MS && delayMs <= mostMs)
        ? []
        : [`waits ${Math.round(delayMs)} ms after attempt ${attempt}: ${handoffId}`]
    }),
  ]
}

/** From the end of a fault until a handoff is accepted within 2 s again. */
const RECOVERY_MAX_MS = 30_000

export const ACCOUNT_INVARIANTS: readonly CampaignInvariant[] = [
  {
    id: 'I9',
    promise: 'I8',
    rule: 'costs add up, in every task and for all effects',
    check: costsOff,
  },
  {
    id: 'I11',
    promise: 'I7',
    rule: 'a rolled-back task stands at its sender’s checkpoint, byte for byte',
    check: rollbacksOff,
  },
  {
    id: 'I12',
    promise: 'I12',
    rule: 'no attempt and no wait beyond its bound',
    check: attemptsOff,
  },
  {
    id: 'I14',
    promise: 'I2',
    rule: `within ${RECOVERY_MAX_MS / 1_000} s of a fault's end handoffs are accepted in time again`,
    check: (evidence) =>
      recoveriesMs(evidence)
        .filter(({ tookMs }) => tookMs > RECOVERY_MAX_MS)
        .map(({ kind, tookMs }) => `${Math.round(tookMs)} ms after ${kind}`),
  },
]

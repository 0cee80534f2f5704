// What must hold of delivery: nothing lost, nothing stuck, nothing twice, nothing that nobody sent, in order.
import type { LedgerLine } from './effect-ledger.ts'
import { groupBy, hasEffect, TOLD_NO_FENCING_TOKEN } from './evidence.ts'
import type { CampaignInvariant, Evidence, HandoffRow } from './evidence.ts'
import { overdueExecutions } from './overdue-executions.ts'

const handoffsById = ({ handoffs }: Evidence) => new Map(handoffs.map((row) => [row.id, row]))
const startsOf = ({ ledger }: Evidence): readonly LedgerLine[] =>
  ledger.filter((line) => line.what === 'start')

function lost(evidence: Evidence): readonly string[] {
  const known = handoffsById(evidence)
  return evidence.operations
    .filter(({ outcome, handoffId }) => outcome === 'acknowledged' && !known.has(handoffId))
    .map(({ handoffId, kind, via }) => `lost: ${handoffId} (${kind} by ${via})`)
}

function doubleEffects(evidence: Evidence): readonly string[] {
  const { handoffs, records } = evidence
  const ran = new Set(startsOf(evidence).map((line) => `${line.handoffId} ${line.fencingToken}`))
  const wrong = handoffs
    .filter((row) => hasEffect(row) && !TOLD_NO_FENCING_TOKEN.has(row.toAgent))
    .filter(
      (row) =>
        row.resultFencingToken !== row.fencingToken || !ran.has(`${row.id} ${row.fencingToken}`),
    )
    .map(
      (row) =>
        `effect of fencing token ${row.resultFencingToken} committed in fencing token ${row.fencingToken}: ${row.id}`,
    )
  return [
    ...wrong,
    ...repeatedSteps(handoffs),
    ...repeated(records.filter((record) => record.event === 'EXECUTION_COMPLETED')),
    ...keysPerHandoff(evidence),
  ]
}

// All handoffs that one execution sends name it; two names are two executions whose effects committed.
function repeatedSteps(handoffs: readonly HandoffRow[]): readonly string[] {
  const children = groupBy(
    handoffs.filter((row) => row.parentId !== null),
    (row) => row.parentId ?? '',
  )
  return [...children]
    .filter(([, ofOne]) => new Set(ofOne.map((row) => row.fromExecution)).size > 1)
    .map(([parent]) => `next handoffs committed by two executions: ${parent}`)
}

function repeated(completions: Evidence['records']): readonly string[] {
  return [...groupBy(completions, (record) => record.handoffId)]
    .filter(([, ofOne]) => ofOne.length > 1)
    .map(
      ([id, ofOne]) =>
        `completed in fencing tokens ${ofOne.map((one) => one.epoch).join(', ')}: ${id}`,
    )
}

function keysPerHandoff({ ledger }: Evidence): readonly string[] {
  return [...groupBy(ledger, (line) => line.handoffId)]
    .filter(([, lines]) => new Set(lines.map((line) => line.key)).size > 1)
    .map(([id]) => `two idempotency keys: ${id}`)
}

function unexpected(evidence: Evidence): readonly string[] {
  const sent = new Map(evidence.operations.map((one) => [one.handoffId, one]))
  const known = handoffsById(evidence)
  const roots = evidence.handoffs.filter((row) => row.parentId === null)
  const strangers = evidence.sendsKnown ? roots : []
  return [
    ...strangers
      .filter((row) => !sent.has(row.id) && !sent.has(row.fannedOutBy ?? ''))
      .map((row) => `nobody sent it: ${row.id}`),
    ...roots
      .filter((row) => sent.get(row.id)?.outcome === 'refused')
      .map((row) => `refused and stored all the same: ${row.id}`),
    ...evidence.handoffs
      .filter((row) => row.parentId !== null && !sentOnBy(known.get(row.parentId)))
      .map((row) => `sent on by a step that never completed: ${row.id}`),
    ...startsOf(evidence)
      .filter((line) => !known.has(line.handoffId))
      .map((line) => `executed without being stored: ${line.handoffId}`),
  ]
}

const sentOnBy = (parent: HandoffRow | undefined): boolean =>
  parent !== undefined && hasEffect(parent)

function fencingTokensOff(evidence: Evidence): readonly string[] {
  const known = handoffsById(evidence)
  const starts = groupBy(
    startsOf(evidence),
    (line) => `${line.handoffId} fencing token ${line.fencingToken}`,
  )
  const twice = [...starts].filter(([, lines]) => lines.length > 1)
  const ahead = startsOf(evidence).filter(
    (line) => line.fencingToken > (known.get(line.handoffId)?.fencingToken ?? Infinity),
  )
  return [
    ...twice.map(([which]) => `executed twice in one fencing token: ${which}`),
    ...ahead.map(
      (line) => `fencing token ${line.fencingToken} ran and is not stored: ${line.handoffId}`,
    ),
    ...overdueExecutions(evidence),
  ]
}

function disordered(evidence: Evidence): readonly string[] {
  const lines = groupBy(evidence.ledger, (line) => line.handoffId)
  const byTask = groupBy(evidence.handoffs, (row) => row.taskId)
  return [...byTask.values()].flatMap((ofTask) =>
    ofTask.flatMap((row) =>
      predecessorsOf(row, ofTask).flatMap((before) => {
        const began = lines.get(row.id)?.find((line) => line.what === 'start')
        const ended = lines
          .get(before.id)
          ?.find((line) => line.what === 'end' && line.fencingToken === before.fencingToken)
        const early = began !== undefined && ended !== undefined && began.at < ended.at
        return early ? [`began before ${before.id} had ended: ${row.id}`] : []
      }),
    ),
  )
}

// A join under `any` leaves behind what still executed when it was sent.
const endedBy = ({ endedAt }: HandoffRow, at: number): boolean => endedAt !== null && endedAt <= at

// The one before it on the task's own way or in its branch; of a join everything in the branches that it joins.
function predecessorsOf(row: HandoffRow, ofTask: readonly HandoffRow[]): readonly HandoffRow[] {
  const before = ofTask
    .filter(({ branchId, taskSeq }) => branchId === row.branchId && taskSeq < row.taskSeq)
    .toSorted((one, other) => other.taskSeq - one.taskSeq)
  const joined = ofTask.filter(({ fanOutId }) => fanOutId !== null && fanOutId === row.joinsId)
  const completed = joined.filter((other) => hasEffect(other) && endedBy(other, row.createdAt))
  return [...before.slice(0, 1), ...completed]
}

// What was committed stays, of whatever came of the handoff; a completion says how much it was.
function streamsOff({ streams }: Evidence): readonly string[] {
  return streams.flatMap((row) => {
    const { handoffId, chunks, lastSeq, counted, misplaced, recorded, sha256 } = row
    const completed = row.state === 'COMPLETED' || row.state === 'PARTIAL'
    const isRecorded = recorded?.chunks === chunks && recorded.sha256 === sha256
    return [
      ...(chunks === lastSeq ? [] : [`${chunks} chunks up to number ${lastSeq}: ${handoffId}`]),
      ...(chunks === counted ? [] : [`${chunks} chunks, ${counted} counted: ${handoffId}`]),
      ...(misplaced === 0 ? [] : [`${misplaced} chunks after the fence: ${handoffId}`]),
      ...(isRecorded || !completed ? [] : [`its record tells of another stream: ${handoffId}`]),
    ]
  })
}

function torn(evidence: Evidence): readonly string[] {
  const tasks = new Set(evidence.tasks.map((task) => task.id))
  return evidence.handoffs
    .filter((row) => !row.hasBody || !row.hasCheckpoint || !tasks.has(row.taskId))
    .map((row) => `stored by half: ${row.id}`)
}

export const DELIVERY_INVARIANTS: readonly CampaignInvariant[] = [
  { id: 'I1', promise: 'I2', rule: 'no acknowledged handoff is missing', check: lost },
  {
    id: 'I2',
    promise: 'I2',
    rule: 'after the drain nothing is open, queued, leased or unshipped',
    check: ({ stuck }) => stuck,
  },
  {
    id: 'I3',
    promise: 'I4',
    rule: 'at most one effect of a handoff commits',
    check: doubleEffects,
  },
  { id: 'I6', promise: 'I2', rule: 'nothing is there that was not sent', check: unexpected },
  {
    id: 'I7',
    promise: 'I4',
    rule: 'fencing tokens rise and only the last one commits',
    check: fencingTokensOff,
  },
  { id: 'I8', promise: 'I5', rule: 'the effects of a task come in its order', check: disordered },
  {
    id: 'I18',
    promise: 'I4',
    rule: 'a stream has every chunk once and in order, each of the execution that held the handoff, as its record says',
    check: streamsOff,
  },
  {
    id: 'I13',
    promise: 'I1',
    rule: 'a send whose answer was lost is stored whole or not at all',
    check: torn,
  },
]

// What must hold of peers of other protocols: agents that are told no fencing token, and session peers that are told outcomes.
import { groupBy, hasEffect, TOLD_NO_FENCING_TOKEN } from './evidence.ts'
import type { CampaignInvariant, Evidence, HandoffRow } from './evidence.ts'
import type { ToldLine } from './peer-ledger.ts'

/** Two clocks of one machine: a process's own and Postgres'. */
const CLOCKS_APART_MS = 5

/** Each time that somebody is given a handoff needs a decision record of its own, made before. */
function givenUnrecorded({ peers, records }: Evidence): readonly string[] {
  const accepted = groupBy(
    records.filter(({ event }) => event === 'HANDOFF_ACCEPTED'),
    ({ handoffId }) => handoffId,
  )
  const given = groupBy(
    peers.filter(({ what }) => what === 'given'),
    ({ handoffId }) => handoffId,
  )
  return [...given].flatMap(([handoffId, lines]) =>
    lines.flatMap(({ at }, index) => {
      const before = (accepted.get(handoffId) ?? []).filter(
        (record) => record.at <= at + CLOCKS_APART_MS,
      )
      return before.length > index
        ? []
        : [`given for the ${index + 1}. time after ${before.length} decision records: ${handoffId}`]
    }),
  )
}

function committedUnsaid({ peers, handoffs }: Evidence): readonly string[] {
  const finished = groupBy(
    peers.filter(({ what }) => what === 'finished'),
    ({ handoffId }) => handoffId,
  )
  return handoffs
    .filter((row) => hasEffect(row) && TOLD_NO_FENCING_TOKEN.has(row.toAgent))
    .flatMap((row) => {
      const lines = finished.get(row.id) ?? []
      const until = (row.endedAt ?? Infinity) + CLOCKS_APART_MS
      const said = lines.some((line) => line.at <= until && (line.said ?? null) === row.said)
      return said ? [] : [`committed what its agent has not said: ${row.id}`]
    })
}

/** The statuses of a result by the state of its handoff; everything else is blocked or an error. */
const STATUS_OF: Readonly<Record<string, string>> = { COMPLETED: 'done', PARTIAL: 'partial' }
const WITHOUT_EFFECT: readonly string[] = ['blocked', 'error']

function toldOtherwise(row: HandoffRow, told: readonly ToldLine[]): readonly string[] {
  const wanted = STATUS_OF[row.state]
  const fits = (status: string) =>
    wanted === undefined ? WITHOUT_EFFECT.includes(status) : status === wanted
  return told.flatMap(({ status, at }) => [
    ...(fits(status) ? [] : [`told ${status}, is ${row.state}: ${row.id}`]),
    ...(at >= (row.endedAt ?? Infinity) - CLOCKS_APART_MS
      ? []
      : [`told before its end: ${row.id}`]),
  ])
}

function untoldOrTwice({ operations, handoffs, told }: Evidence): readonly string[] {
  const roots = new Map(
    handoffs.filter((row) => row.parentId === null).map((row) => [row.taskId, row]),
  )
  const sessions = new Set(
    operations.filter(({ via }) => via === 'session').map((one) => one.taskId),
  )
  return [...groupBy(told, ({ taskId }) => taskId)].flatMap(([taskId, lines]) => {
    const row = roots.get(taskId)
    if (row === undefined || !sessions.has(taskId)) return [`told of what nobody asked: ${taskId}`]
    const results = lines.filter(({ status }) => status !== 'queued')
    const ids = new Set(lines.map(({ messageId }) => messageId))
    const over = row.endedAt !== null && results.length === 0
    return [
      ...(over ? [`never told that it is ${row.state}: ${row.id}`] : []),
      ...(ids.size > 1 ? [`told under ${ids.size} ids: ${row.id}`] : []),
      ...toldOtherwise(row, results),
    ]
  })
}

// Also those whose asker never heard that its task was taken.
function triedInVain({ tried, handoffs, told }: Evidence): readonly string[] {
  const tasks = new Map(handoffs.map((row) => [row.id, row.taskId]))
  const heard = new Set(
    told.filter(({ status }) => status !== 'queued').map(({ taskId }) => taskId),
  )
  return tried
    .filter((id) => !heard.has(tasks.get(id) ?? ''))
    .map((id) => `tried to tell, and never told: ${id}`)
}

export const PEER_INVARIANTS: readonly CampaignInvariant[] = [
  {
    id: 'I16',
    promise: 'I4',
    rule: 'agents that are told no fencing token work on what was recorded, and what committed is what they said',
    check: (evidence) => [...givenUnrecorded(evidence), ...committedUnsaid(evidence)],
  },
  {
    id: 'I17',
    promise: 'I2',
    rule: 'a session peer is told how each task ended, under one id and never otherwise',
    check: (evidence) => [...untoldOrTwice(evidence), ...triedInVain(evidence)],
  },
]

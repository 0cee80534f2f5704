// Whether the map of tasks that the newest seal commits to says of every record what the chains say. Takes about 300 bytes of memory per task.
import { equalBytes, fromBase64 } from '@baton/ledger'
import type { Finding, SealedTasks, TaskEnd } from '@baton/ledger'
import { columns, int2, int4, int8, uuid } from '@baton/postgres'
import { readArchivePositions } from '../cold/archive-positions.ts'
import { run } from '../database.ts'
import type { Snapshot } from '../database.ts'
import type { ChainHead } from '../append/heads.ts'
import { walkTaskMap } from '../seals/task-map.ts'
import type { ScannedRecord } from './scan-chain.ts'

export interface TaskEnds {
  /** Takes every record of every chain. */
  next(head: ChainHead, record: ScannedRecord): void
  /** Where the map differs from the chains. Says something new only of chains that have no finding themselves. */
  finish(): Promise<readonly Finding[]>
}

interface MapToCompare {
  readonly tasks: SealedTasks | undefined
  /** How many records of a chain the map holds, by origin. */
  readonly sizes: ReadonlyMap<string, number>
}

const FINDINGS_MAX = 1_000
const ORIGIN = 'the map of tasks'

/** A map with an altered node is told of, and compared with nothing. */
export async function openTaskEnds(
  snapshot: Snapshot,
  { tasks, sizes }: MapToCompare,
): Promise<TaskEnds & { readonly findings: readonly Finding[] }> {
  const ends = new Map<string, TaskEnd>()
  const findings: Finding[] = []
  const root = tasks && (fromBase64(tasks.root) as Uint8Array)
  const map = root && { root, seals: tasks.seals }
  for await (const node of map === undefined ? [] : walkTaskMap(snapshot, map)) {
    if ('unproven' in node) findings.push(damaged(node.unproven))
    else for (const [taskId, end] of node.ends) ends.set(taskId, end)
  }
  const isCompared = tasks !== undefined && findings.length === 0
  const differing: Finding[] = []
  return {
    findings,
    next({ origin }, { reading, recordHash, columns: { seq } }) {
      if (!isCompared || reading === undefined || seq >= (sizes.get(origin) ?? 0)) return
      const { taskId, taskSeq } = reading
      const end = ends.get(taskId)
      if (end !== undefined && taskSeq < end.records - 1) return
      const isLast = end?.records === taskSeq + 1 && equalBytes(end.lastHash, recordHash)
      if (isLast) ends.delete(taskId)
      else if (differing.length < FINDINGS_MAX) {
        differing.push({ origin, seq, rule: 'TASK_END', message: NOT_LAST })
      }
    },
    async finish() {
      if (!isCompared || ends.size === 0) return differing
      const missing = await withoutExpired(snapshot, ends)
      const whose = missing === 1 ? 'a task' : `${missing} tasks`
      const message = `the last record of ${whose} that the map holds is not there`
      return missing === 0
        ? differing
        : [...differing, { origin: ORIGIN, seq: null, rule: 'TASK_END', message }]
    },
  }
}

const NOT_LAST = 'the signed map of tasks says that the task ended before this record'

const damaged = (node: string): Finding => ({
  origin: ORIGIN,
  seq: null,
  rule: 'TASK_MAP',
  message: `the node ${JSON.stringify(node)} is not the one that was signed`,
})

const LAST = columns({ taskId: uuid, taskSeq: int4 })
const EXPIRED = columns({ chain: int2, minIndex: int8 })
const PAGE_TASKS = 5_000

/** How many of these are not the ends of tasks whose last record has expired. */
async function withoutExpired(
  snapshot: Snapshot,
  ends: ReadonlyMap<string, TaskEnd>,
): Promise<number> {
  const expired = [...(await readArchivePositions(snapshot)).values()].filter(
    ({ minIndex }) => minIndex > 0,
  )
  if (expired.length === 0) return ends.size
  const bounds = EXPIRED.values(expired.map(({ log, minIndex }) => ({ chain: log, minIndex })))
  const rest = [...ends].map(([taskId, { records }]) => ({ taskId, taskSeq: records - 1 }))
  let missing = ends.size
  for (let at = 0; at < rest.length; at += PAGE_TASKS) {
    const rows = await run<{ count: number }>(
      snapshot,
      'count_expired_ends',
      `select count(*)::integer as count from ${LAST.unnest('w')}
       join audit.idem i on i.task_id = w.task_id and i.task_seq = w.task_seq
       join ${EXPIRED.unnest('e', { after: LAST.width })} on i.chain = e.chain and i.seq < e.min_index`,
      [...LAST.values(rest.slice(at, at + PAGE_TASKS)), ...bounds],
    )
    missing -= rows[0]?.count ?? 0
  }
  return missing
}

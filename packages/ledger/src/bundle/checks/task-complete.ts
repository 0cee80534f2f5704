// Whether the bundle has every record that its tasks had: the seal commits to how many there were, and to the last of them.
import { fromBase64, toHex } from '../../bytes.ts'
import type { SealedTasks } from '../../seal-entry.ts'
import type { TaskEnd } from '../../task-map.ts'
import type { Check, CheckContext, CheckVisitor } from '../checks.ts'
import type { Evidence } from '../evidence.ts'
import { FILES } from '../format.ts'
import type { EvidenceRecord } from '../records.ts'
import { readTaskEnds } from '../task-ends.ts'
import type { ProvenEnds } from '../task-ends.ts'
import { placeOf } from './records.ts'

const PLACE = { file: FILES.proof }

export const checkTaskComplete: Check = (context) => {
  const { evidence, log } = context
  if (evidence.ends === undefined) {
    log.skip('the bundle holds no map of tasks: its end rests on the exporter')
    return {}
  }
  const tasks = evidence.seal?.tasks
  if (tasks === undefined) {
    log.fail(PLACE, 'the seal commits to no map of tasks')
    return {}
  }
  const proven = readTaskEnds(fromBase64(tasks.root) as Uint8Array, evidence.ends)
  if (typeof proven === 'string') {
    log.fail(PLACE, proven)
    return {}
  }
  return compare(context, proven, tasks)
}

interface Found {
  records: number
  lastSeq: number
  lastHash: string
}

function compare(
  { evidence, log, end }: CheckContext,
  proven: ProvenEnds,
  tasks: SealedTasks,
): CheckVisitor {
  const sizes = sizesOf(evidence, tasks)
  const found = new Map<string, Found>([...proven.keys()].map((taskId) => [taskId, nothing()]))
  log.note(`until ${tasks.at}`)
  end.until = tasks.at
  for (const [taskId, one] of proven) if (one === null) end.absent.push(taskId)

  function add(record: EvidenceRecord): void {
    const { file, body, hashHex } = record
    if (file !== FILES.records || body === undefined) return
    const { taskId, origin, seq, taskSeq, recordedAt } = body
    const own = found.get(taskId)
    if (own === undefined)
      log.fail(placeOf(record), 'the end of the task of this record is not proven')
    else if (seq >= (sizes.get(origin) ?? 0)) end.later.push({ origin, seq, recordedAt })
    else {
      own.records += 1
      if (taskSeq > own.lastSeq) Object.assign(own, { lastSeq: taskSeq, lastHash: hashHex })
    }
  }

  return {
    record: add,
    end() {
      for (const [taskId, one] of proven) {
        const fault = faultOf(one, found.get(taskId) as Found, tasks.at)
        if (fault !== undefined) log.fail(PLACE, `task ${taskId}: ${fault}`)
      }
    },
  }
}

const nothing = (): Found => ({ records: 0, lastSeq: -1, lastHash: '' })

/** How many records of each chain the map holds. */
function sizesOf({ seal }: Evidence, { sizes }: SealedTasks): ReadonlyMap<string, number> {
  return new Map((seal?.chains ?? []).map(({ origin }, at) => [origin, sizes[at] ?? 0]))
}

function faultOf(end: TaskEnd | null, found: Found, until: string): string | undefined {
  const records = end?.records ?? 0
  const missing = records - found.records
  if (missing > 0) {
    return `${missing} of the ${records} records that it had at ${until} ${missing === 1 ? 'is' : 'are'} missing`
  }
  if (missing < 0) return `it had ${records} records at ${until}, and ${found.records} are here`
  return end === null || found.lastHash === toHex(end.lastHash)
    ? undefined
    : `its last record of ${until} is another one`
}

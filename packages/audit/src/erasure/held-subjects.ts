// Of which people the tasks tell that were ever held: by the records of these tasks, which are found by the signed bytes of the
// whole log. The index of payloads, by which people are found otherwise, can be changed by whoever owns the database, and knows
// nothing of days that stand in the cold store alone.
import { readLegalHolds } from '../cold/archive-positions.ts'
import { readTrace } from '../read/read-trace.ts'
import type { TaskTrace } from '../read/read-trace.ts'
import type { FinderReading, FoundHolds, HoldFinder } from './find-holds.ts'

/** Tasks that may be held and tell of one of these subjects, in order; also those of which it is not known any more of whom they told. */
export async function findToldTasksOf(
  reading: FinderReading & { readonly finder: HoldFinder },
  subjectRefs: readonly string[],
): Promise<FoundHolds> {
  const wanted = new Set(subjectRefs)
  const { looked, taskIds } = await reading.finder.look(reading)
  const listed = (await readLegalHolds(reading.reader)).map(({ taskId }) => taskId)
  const found = new Set<string>()
  for (const taskId of [...new Set([...taskIds, ...listed])].toSorted()) {
    if (wanted.size === 0) break
    const trace = await readTrace(reading.reader, taskId, reading)
    if (tellsOf(trace, wanted) || !isAllKnown(trace)) found.add(taskId)
  }
  return { looked, taskIds: found }
}

const tellsOf = ({ records }: TaskTrace, wanted: ReadonlySet<string>): boolean =>
  records.some(({ body }) => body.payload.some(({ subjectRef }) => wanted.has(subjectRef)))

/**
 * Something may be wrong around them: the records that the task had are these all the same, where signed heads prove each, none is
 * missing between them, and they reach as far as a signed end of the task.
 */
function isAllKnown({ records, expired, ends, verified }: TaskTrace): boolean {
  const proven = records.filter(({ assurance }) => assurance !== 'committed')
  const known = expired + new Set(proven.map(({ body }) => body.taskSeq)).size
  const last = Math.max(-1, ...records.map(({ body }) => body.taskSeq))
  return verified || (known > last && ends.some((end) => known >= end.records))
}

// Of which people the tasks tell that were ever held: by the records of these tasks. The index of payloads, by which people are found
// otherwise, can be changed by whoever owns the database, and knows nothing of days that stand in the cold store alone.
import { readTrace } from '../read/read-trace.ts'
import type { TaskTrace } from '../read/read-trace.ts'
import { findToldTasks } from './held-tasks.ts'
import type { HoldReading } from './held-tasks.ts'

/** Tasks that may be held and tell of one of these subjects, in order; also those of which it is not known any more of whom they told. */
export async function findToldTasksOf(
  reading: HoldReading,
  subjectRefs: readonly string[],
): Promise<readonly string[]> {
  const wanted = new Set(subjectRefs)
  const found: string[] = []
  if (wanted.size === 0) return found
  for await (const taskIds of findToldTasks(reading.reader)) {
    for (const taskId of taskIds) {
      const trace = await readTrace(reading.reader, taskId, reading)
      if (tellsOf(trace, wanted) || !isAllKnown(trace)) found.push(taskId)
    }
  }
  return found
}

const tellsOf = ({ records }: TaskTrace, wanted: ReadonlySet<string>): boolean =>
  records.some(({ body }) => body.payload.some(({ subjectRef }) => wanted.has(subjectRef)))

/** Something may be wrong around them: the records that the task had are these all the same, where signed heads prove each. */
function isAllKnown({ records, expired, ends, verified }: TaskTrace): boolean {
  const proven = records.filter(({ assurance }) => assurance !== 'committed').length
  return verified || ends.some((end) => expired + proven >= end.records)
}

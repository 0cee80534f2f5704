// Which task a drill rebuilds: by a seed, among all records that are kept, in the database or in the cold store alone.
import { hash } from 'node:crypto'
import { findTaskInTiers, hasExpired, readArchivePositions, readHeads } from '@baton/audit'
import type { ColdStore, Pool } from '@baton/audit'

interface Tiers {
  readonly reader: Pool
  readonly cold: ColdStore | undefined
}

/** Choices that fall on a task of which a part has expired; where all of them do, nothing is chosen. */
const CHOICES_MAX = 64

/**
 * Every record is as likely as any other, so a long task is drilled more often than a short one. A task
 * whose first records have expired is passed over: nobody could show it whole. Undefined where there is none.
 */
export async function chooseTask(
  { reader, cold }: Tiers,
  seed: number,
): Promise<string | undefined> {
  const kept = await readKept(reader)
  const total = kept.reduce((sum, { records }) => sum + records, 0)
  if (total === 0) return undefined
  for (let choice = 0; choice < CHOICES_MAX; choice += 1) {
    const place = placeOf(kept, drawn({ seed, choice, total }))
    const taskId = await findTaskInTiers(reader, cold, place)
    if (taskId !== undefined && !(await hasExpired(reader, taskId))) return taskId
  }
  return undefined
}

interface KeptRecords {
  readonly chain: number
  /** The first that has not expired. */
  readonly from: number
  readonly records: number
}

async function readKept(reader: Pool): Promise<readonly KeptRecords[]> {
  const positions = await readArchivePositions(reader)
  return (await readHeads(reader)).map(({ chain, size }) => {
    const from = positions.get(chain)?.minIndex ?? 0
    return { chain, from, records: size - from }
  })
}

interface Draw {
  readonly seed: number
  readonly choice: number
  readonly total: number
}

function drawn({ seed, choice, total }: Draw): number {
  const digest = hash('sha256', `baton/drill/v1\n${seed}${choice === 0 ? '' : `\n${choice}`}`)
  return Number(BigInt(`0x${digest}`) % BigInt(total))
}

function placeOf(kept: readonly KeptRecords[], at: number): { chain: number; seq: number } {
  let left = at
  for (const { chain, from, records } of kept) {
    if (left < records) return { chain, seq: from + left }
    left -= records
  }
  throw new RangeError('drawn beyond the last record')
}

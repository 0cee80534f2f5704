// Beginning a bulk re-drive: only letters that would pass today go in, and never one's own.
import { randomUUID } from 'node:crypto'
import type { NewRedrive, QuarantinedMessage } from '@baton/protocol/review'
import type { DryRun } from './dry-run.ts'
import { CANARY_MAX } from './redrive-letters.ts'

export interface RedriveRequest {
  readonly handoffIds: readonly string[]
  readonly cluster: string | null
  readonly createdBy: string
  readonly ratePerSecond: number
}

export interface RedriveDeps {
  /** Judges letters as they would be judged now; answers those that still wait. */
  tryOut(
    handoffIds: readonly string[],
  ): Promise<readonly (DryRun & Pick<QuarantinedMessage, 'round' | 'sentBy'>)[]>
  /** Answers which letters it took. */
  add(redrive: NewRedrive): Promise<ReadonlySet<string>>
}

/** A letter that stays where it is: NOT_WAITING, OWN, IN_ANOTHER_REDRIVE, or why it would not pass. */
export interface LeftOut {
  readonly handoffId: string
  readonly reason: string
}

export interface StartedRedrive {
  /** Undefined where no letter could be taken. */
  readonly redriveId: string | undefined
  readonly taken: number
  readonly leftOut: readonly LeftOut[]
}

/** Nothing is overridden: whatever goes back is judged again in full. */
export async function startRedrive(
  deps: RedriveDeps,
  { handoffIds, cluster, createdBy, ratePerSecond }: RedriveRequest,
): Promise<StartedRedrive> {
  const tried = await deps.tryOut(handoffIds)
  const found = new Set(tried.map(({ handoffId }) => handoffId))
  const leftOut: LeftOut[] = handoffIds
    .filter((handoffId) => !found.has(handoffId))
    .map((handoffId) => ({ handoffId, reason: 'NOT_WAITING' }))
  const fit = tried.filter(({ handoffId, sentBy, reason }) => {
    const why = sentBy === createdBy ? 'OWN' : reason
    if (why !== null) leftOut.push({ handoffId, reason: why })
    return why === null
  })
  if (fit.length === 0) return { redriveId: undefined, taken: 0, leftOut }
  const id = randomUUID()
  const letters = fit.map(({ handoffId, round }, index) => ({
    handoffId,
    round,
    canary: index < CANARY_MAX,
    actId: randomUUID(),
  }))
  const taken = await deps.add({ id, cluster, createdBy, ratePerSecond, letters })
  for (const { handoffId } of letters)
    if (!taken.has(handoffId)) leftOut.push({ handoffId, reason: 'IN_ANOTHER_REDRIVE' })
  return { redriveId: taken.size === 0 ? undefined : id, taken: taken.size, leftOut }
}

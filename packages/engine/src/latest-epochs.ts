// Of one handoff only the latest epoch of a set can still hold; the statements tell handoffs apart, not epochs.
import type { Committed } from './settle-handoff.ts'
import type { Fence } from '@baton/store'

/**
 * Commits for each handoff what its latest epoch came to, and answers false for the earlier ones: a
 * later claim stands, so theirs cannot. Without it an earlier step of the same set would pass as committed (I4).
 */
export async function ofLatestEpochs<Item>(
  items: readonly Item[],
  fenceOf: (item: Item) => Fence,
  commit: (latest: readonly Item[]) => Promise<readonly Committed[]>,
): Promise<readonly Committed[]> {
  const latest = new Map<string, Item>()
  for (const item of items) {
    const { handoffId, epoch } = fenceOf(item)
    const known = latest.get(handoffId)
    if (known === undefined || fenceOf(known).epoch < epoch) latest.set(handoffId, item)
  }
  const committing = [...latest.values()]
  const answers = await commit(committing)
  const answerOf = new Map(committing.map((item, index) => [item, answers[index] ?? false]))
  return items.map((item) => answerOf.get(item) ?? false)
}

// One bad item never takes the others of its set with it.
import { kindOf } from '@baton/runtime'
import { isConflict } from '@baton/store'

/** An item's own answer, or why it alone failed. */
export type Single<Result> = Result | Error

/**
 * Commits `items` as one set. A set that fails for what one item is, or by a deadlock, is committed
 * one by one, and each answers for itself. An outage fails the whole set: nothing is known then.
 */
export async function inSetOrSingly<Item, Result>(
  items: readonly Item[],
  commit: (set: readonly Item[]) => Promise<readonly Result[]>,
): Promise<readonly Single<Result>[]> {
  try {
    return await commit(items)
  } catch (error) {
    const divisible = kindOf(error) === 'permanent' || isConflict(error)
    if (items.length === 1 || !divisible) throw error
  }
  const results: Single<Result>[] = []
  for (const item of items) results.push(await commitOne(item, commit))
  return results
}

async function commitOne<Item, Result>(
  item: Item,
  commit: (set: readonly Item[]) => Promise<readonly Result[]>,
): Promise<Single<Result>> {
  try {
    return (await commit([item]))[0] as Result
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

// Whose turn it is: shares take turns, what one gives waits behind its own, and all that waits is bounded.

export interface TurnBounds {
  /** Items that run at once; of several, one share has at most all but one. */
  readonly runningMax: number
  /** Items that may wait in all; beyond it each share may still have one. */
  readonly waitingMax: number
  /** Items of one share that may wait. */
  readonly waitingShareMax: number
}

export interface Turn<Item> {
  readonly item: Item
  /** Makes room for the next; to be called once. */
  end(): void
}

export interface Turns<Item> {
  /** False where it finds no room. */
  add(share: string, item: Item): boolean
  /** The next that may run, which it does from now on. */
  next(): Turn<Item> | undefined
  /** Everything that waits; it waits no more. */
  clear(): readonly Item[]
}

export function createTurns<Item>(bounds: TurnBounds): Turns<Item> {
  const { runningMax, waitingMax, waitingShareMax } = bounds
  const shareMax = Math.max(1, runningMax - 1)
  // The share whose turn is next comes first.
  const waiting = new Map<string, Item[]>()
  const runningOf = new Map<string, number>()
  let waitingCount = 0
  let running = 0

  function begin(share: string, item: Item): Turn<Item> {
    running += 1
    waitingCount -= 1
    runningOf.set(share, (runningOf.get(share) ?? 0) + 1)
    return {
      item,
      end() {
        running -= 1
        const left = (runningOf.get(share) ?? 1) - 1
        if (left === 0) runningOf.delete(share)
        else runningOf.set(share, left)
      },
    }
  }

  return {
    add(share, item) {
      const own = waiting.get(share) ?? []
      if (own.length >= (waitingCount >= waitingMax ? 1 : waitingShareMax)) return false
      own.push(item)
      waiting.set(share, own)
      waitingCount += 1
      return true
    },
    next() {
      if (running >= runningMax) return undefined
      for (const [share, [item, ...others]] of waiting) {
        if (item === undefined || (runningOf.get(share) ?? 0) >= shareMax) continue
        waiting.delete(share)
        if (others.length > 0) waiting.set(share, others)
        return begin(share, item)
      }
      return undefined
    },
    clear() {
      const items = [...waiting.values()].flat()
      waiting.clear()
      waitingCount = 0
      return items
    },
  }
}

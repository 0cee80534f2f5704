// When something that ended by itself is started again, and when it is left alone. Pure: each course of events has its test.

/** One end that nobody asked for. */
export interface Ending {
  readonly atMs: number
  /** False where something else stood in its way: the machine, or a server that is away. */
  readonly isItsOwn: boolean
}

export type Decision = { readonly waitMs: number } | 'leave'

/** So many ends of its own within this time, and it is left: one more start would not help. */
export const ENDINGS_MAX = 5
const WITHIN_MS = 60_000
const FIRST_MS = 250
/** What something else keeps from running is tried for as long as it takes, this often at least. */
const CAP_MS = 10_000

/** The endings that still count; the last one is the one that is decided on. */
export function recentEndings(endings: readonly Ending[]): readonly Ending[] {
  const now = endings.at(-1)?.atMs ?? 0
  return endings.filter(({ atMs }) => now - atMs < WITHIN_MS)
}

/** The wait doubles with each recent end, and begins anew after a minute without one. */
export function decideRestart(recent: readonly Ending[]): Decision {
  if (recent.filter(({ isItsOwn }) => isItsOwn).length >= ENDINGS_MAX) return 'leave'
  return { waitMs: Math.min(CAP_MS, FIRST_MS * 2 ** Math.max(0, recent.length - 1)) }
}

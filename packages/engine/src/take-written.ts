// Puts a summary that was written ahead into the handoff it was written for.
import { summariseTurns } from '@baton/protocol'
import type { Summarise } from '@baton/protocol'
import type { Summary } from '@baton/summarise'

/** What was written of so many older turns. */
export interface WrittenSummary extends Pick<Summary, 'text' | 'costUSD' | 'tokens'> {
  readonly turns: number
}

/** Takes what was written where it is of the same turns, and the extract otherwise. */
export const takeWritten =
  (written: WrittenSummary | undefined): Summarise =>
  (older, bounds) =>
    written !== undefined && written.turns === older.turns.length
      ? written.text
      : summariseTurns(older, bounds)

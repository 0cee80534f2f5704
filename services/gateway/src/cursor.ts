// Lists in pages: the cursor is the id of the last thing that the page before answered.
import { UUID_PATTERN } from '@baton/protocol'

export const CURSOR = {
  type: 'string',
  format: 'uuid',
  pattern: UUID_PATTERN,
  description: 'nextCursor of the page before.',
}

/** A full page may be followed by another. */
export const nextCursor = (ids: readonly string[], limit: number): string | null =>
  ids.length < limit ? null : (ids.at(-1) ?? null)

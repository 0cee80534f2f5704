// Where a list goes on: behind the moment and the id of a row, whether or not that row still stands.
import { sql } from 'kysely'
import type { RawBuilder } from 'kysely'
import { micros } from './statements.ts'

/** A position as text: microseconds since 1970, and the id. */
export const POSITION_PATTERN = String.raw`^\d{1,16}\.[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$`

/** The position of a row in a list by when it was created and then this column. */
export const positionOf = (id: string, createdAt = 'created_at'): RawBuilder<string> =>
  sql`${micros(sql.ref<Date>(createdAt))} || '.' || ${sql.ref(id)}`

interface ListOrder {
  readonly id: string
  readonly createdAt?: string
  readonly newestFirst: boolean
}

/** For `where`: behind this position in a list by when it was created and then this column; every row where there is none. */
export const behind = (
  position: string | null,
  { id, createdAt = 'created_at', newestFirst }: ListOrder,
): RawBuilder<boolean> =>
  sql`(${position}::text is null or (${sql.ref(createdAt)}, ${sql.ref(id)}) ${sql.raw(newestFirst ? '<' : '>')} (
    timestamptz 'epoch' + split_part(${position}, '.', 1)::float8 * interval '1 microsecond',
    split_part(${position}, '.', 2)::uuid))`

/** Totals are counted to here; a list that is longer has more than so many. */
export const COUNTED_MAX = 10_000

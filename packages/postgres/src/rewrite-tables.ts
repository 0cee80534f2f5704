// Old row versions leave the files of tables: each is rewritten, within what its other users can bear.
import { tablesNamed } from './storage-left.ts'
import type { Database } from './connect.ts'

export interface RewriteBounds {
  /** A larger table is left: while it is rewritten nobody reads or writes it. */
  readonly tableBytesMax: number
  /** How long to wait for a table that is in use; whoever comes after waits as long. */
  readonly lockMs: number
}

export interface TableLeft {
  readonly table: string
  readonly bytes: number
  readonly why: 'large' | 'in use' | 'slow'
}

export interface Rewritten {
  /** Tables that were rewritten. */
  readonly tables: number
  /** Tables whose files can still hold old row versions. */
  readonly left: readonly TableLeft[]
}

/**
 * Rewrites tables in turn, partitions with their table. Statistics hold samples of columns: they are renewed, and
 * their old rows go as well. Takes one connection of the superuser, whose lock_timeout it sets.
 */
export async function rewriteTables(
  session: Database,
  names: readonly string[],
  { tableBytesMax, lockMs }: RewriteBounds,
): Promise<Rewritten> {
  await session.query({ text: `set lock_timeout = ${lockMs}` })
  const { rows } = await session.query<{ table: string; bytes: number }>({
    text: `select c.oid::regclass::text as table, pg_total_relation_size(c.oid) as bytes
      ${tablesNamed('$1')} order by 1`,
    values: [names],
  })
  const left: TableLeft[] = []
  for (const { table, bytes } of rows) {
    const why = bytes > tableBytesMax ? 'large' : await rewrite(session, `(full, analyze) ${table}`)
    if (why !== undefined) left.push({ table, bytes, why })
  }
  await rewrite(session, '(full) pg_catalog.pg_statistic')
  return { tables: rows.length - left.length, left }
}

const LOCK_NOT_AVAILABLE = '55P03'
const STATEMENT_CANCELED = '57014'

/** Answers why it was left, where it was. */
async function rewrite(session: Database, what: string): Promise<TableLeft['why'] | undefined> {
  try {
    await session.query({ text: `vacuum ${what}` })
    return undefined
  } catch (error) {
    const { code } = error as { code?: string }
    if (code === LOCK_NOT_AVAILABLE) return 'in use'
    if (code === STATEMENT_CANCELED) return 'slow'
    throw error
  }
}

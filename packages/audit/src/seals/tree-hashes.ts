// The statements on audit.tree_hash, and the leaves it is made from: hashes of full subtrees by range.
import { hashLeaf } from '@baton/ledger'
import { BINARY, columns, copyOut } from '@baton/postgres'
import { audit, run } from '../database.ts'
import type { Database, Snapshot } from '../database.ts'
import type { TiledLog } from './tiles.ts'

/** Nodes [from, to) of one level of a tree. */
export interface NodeRange {
  readonly from: number
  readonly to: number
}

export interface StoredNode {
  readonly level: number
  readonly index: number
  readonly hash: Uint8Array
}

/** The number of a log in its tables. */
const logNumber = (log: TiledLog): number => (log === 'seals' ? -1 : log.chain)

const NODES = columns({ level: BINARY.int2, index: BINARY.int8, hash: BINARY.bytea })

/** Safe to repeat: what stands already stays. As audit_writer. */
export async function storeTreeHashes(
  db: Database,
  log: TiledLog,
  nodes: readonly StoredNode[],
): Promise<void> {
  const statement = `select audit.store_tree_hashes($1::smallint, ${NODES.parameters({ after: 1 })})`
  await run(db, 'store_tree_hashes', statement, [logNumber(log), ...NODES.values(nodes)])
}

/** How many hashes of a level are stored; they are stored in order, without a gap. */
export async function countTreeHashes(db: Database, log: TiledLog, level: number): Promise<number> {
  const rows = await run(
    db,
    'count_tree_hashes',
    audit
      .selectFrom('audit.tree_hash')
      .select(({ fn }) => fn.max('index').as('last'))
      .where('log', '=', logNumber(log))
      .where('level', '=', level),
  )
  const last = rows[0]?.last ?? null
  return last === null ? 0 : last + 1
}

/** The stored hashes of a level in these ranges, by index; those that are not stored are left out. */
export async function readTreeHashes(
  { client }: Snapshot,
  log: TiledLog,
  { level, ranges }: { readonly level: number; readonly ranges: readonly NodeRange[] },
): Promise<ReadonlyMap<number, Uint8Array>> {
  const source = `from ${valuesOf(ranges)} join audit.tree_hash t
    on t.log = ${logNumber(log)} and t.level = ${level} and t.index >= w.f and t.index < w.t`
  const rows = await copyOut(client, `select t.index, t.hash ${source}`, (fields) => {
    return [fields.int8(0), fields.bytes(1)] as const
  })
  return new Map(rows)
}

/** The leaf hashes of these ranges, by seq, from the hot store; missing ones are left out. */
export async function readLeafHashes(
  { client }: Snapshot,
  log: TiledLog,
  ranges: readonly NodeRange[],
): Promise<ReadonlyMap<number, Uint8Array>> {
  if (log === 'seals') {
    const source = `from ${valuesOf(ranges)} join audit.seal s on s.seq >= w.f and s.seq < w.t`
    const rows = await copyOut(client, `select s.seq, s.body ${source}`, (fields) => {
      return [fields.int8(0), hashLeaf(fields.bytes(1))] as const
    })
    return new Map(rows)
  }
  const source = `from ${valuesOf(ranges)} join audit.record r
    on r.chain = ${log.chain} and r.seq >= w.f and r.seq < w.t`
  const rows = await copyOut(client, `select r.seq, r.record_hash ${source}`, (fields) => {
    return [fields.int8(0), fields.bytes(1)] as const
  })
  return new Map(rows)
}

const valuesOf = (ranges: readonly NodeRange[]): string => {
  const rows = ranges.map(({ from, to }) => `(${from}::bigint, ${to}::bigint)`)
  return `(values ${rows.join(', ')}) as w (f, t)`
}

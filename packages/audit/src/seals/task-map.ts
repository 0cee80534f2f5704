// The statements on audit.task_map: nodes of the map from tasks to their last records, by version. What they answer is not trusted.
import { openTaskMapNode, taskMapStart } from '@baton/ledger'
import type { TaskEnd, TaskMapNodes } from '@baton/ledger'
import { run } from '../database.ts'
import type { Database } from '../database.ts'

const STORE_NODES_MAX = 2_000

/** As audit_sealer. Safe to repeat; a large set takes several statements. */
export async function storeTaskMap(
  db: Database,
  seals: number,
  nodes: TaskMapNodes,
): Promise<void> {
  const all = [...nodes]
  for (let at = 0; at < all.length; at += STORE_NODES_MAX) {
    const some = all.slice(at, at + STORE_NODES_MAX)
    await run(
      db,
      'store_task_map',
      'select audit.store_task_map($1::bigint, $2::text[], $3::bytea[])',
      [seals, some.map(([name]) => name), some.map(([, bytes]) => Buffer.from(bytes))],
    )
  }
}

/** As audit_sealer. Versions from `to` on can be read afterwards, those before may lack nodes. */
export async function pruneTaskMap(
  db: Database,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  await run(db, 'prune_task_map', 'select audit.prune_task_map($1::bigint, $2::bigint)', [from, to])
}

/** The nodes of these names in the version of so many seals; those that are not stored are left out. */
export async function readTaskMapNodes(
  db: Database,
  seals: number,
  names: Iterable<string>,
): Promise<TaskMapNodes> {
  const rows = await run<{ name: string; node: Buffer }>(
    db,
    'read_task_map',
    `select n.name, t.node from unnest($1::text[]) as n (name) cross join lateral (
       select t.node from audit.task_map t where t.prefix = n.name and t.seals <= $2::bigint
       order by t.seals desc limit 1) t`,
    [[...names], seals],
  )
  return new Map(rows.map(({ name, node }) => [name, node]))
}

const READ_NODES_MAX = 1_000

/** Goes through a whole version, some nodes at a time: the ends of its tasks, and the nodes that are not the ones of this root. */
export async function* walkTaskMap(
  db: Database,
  { root, seals }: { readonly root: Uint8Array; readonly seals: number },
): AsyncGenerator<{ readonly ends: ReadonlyMap<string, TaskEnd> } | { readonly unproven: string }> {
  const start = taskMapStart(root)
  const waiting = start === undefined ? [] : [start]
  while (waiting.length > 0) {
    const some = waiting.splice(-READ_NODES_MAX)
    const nodes = await readTaskMapNodes(
      db,
      seals,
      some.map(({ name }) => name),
    )
    for (const place of some) {
      const node = openTaskMapNode(place, nodes.get(place.name))
      if (node === undefined) yield { unproven: place.name }
      else {
        waiting.push(...node.below)
        yield { ends: node.ends }
      }
    }
  }
}

/** Whether every node of a version is the one of this root. */
export async function isTaskMapWhole(
  db: Database,
  map: { readonly root: Uint8Array; readonly seals: number },
): Promise<boolean> {
  for await (const node of walkTaskMap(db, map)) if ('unproven' in node) return false
  return true
}

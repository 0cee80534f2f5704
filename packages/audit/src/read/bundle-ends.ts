// The nodes of the map of tasks that prove in a bundle how many records each of its tasks had when it was sealed.
import { fromBase64, missingTaskMapNodes, proveTaskEnds } from '@baton/ledger'
import type { Finding, SealEntry, TaskEndsProof } from '@baton/ledger'
import type { Snapshot } from '../database.ts'
import { readTaskMapNodes } from '../seals/task-map.ts'
import { damagedNode } from './prove-end.ts'

interface BundleEnds {
  /** Null where the seal commits to no map, and where the copy of the map is damaged. */
  readonly ends: TaskEndsProof | null
  readonly findings: readonly Finding[]
}

/** Reads the map one level after the other, as far as the tasks need it. */
export async function readBundleEnds(
  snapshot: Snapshot,
  { tasks }: Pick<SealEntry, 'tasks'>,
  taskIds: readonly string[],
): Promise<BundleEnds> {
  if (tasks === undefined) return { ends: null, findings: [] }
  const root = fromBase64(tasks.root) as Uint8Array
  const nodes = new Map<string, Uint8Array>()
  const asked = new Set<string>()
  for (;;) {
    const missing = missingTaskMapNodes(root, nodes, taskIds)
    const damaged = [...missing].find((name) => asked.has(name))
    if (damaged !== undefined) return { ends: null, findings: [damagedNode(damaged)] }
    if (missing.size === 0) break
    for (const name of missing) asked.add(name)
    for (const [name, node] of await readTaskMapNodes(snapshot, tasks.seals, missing)) {
      nodes.set(name, node)
    }
  }
  return { ends: proveTaskEnds(root, nodes, taskIds) ?? null, findings: [] }
}

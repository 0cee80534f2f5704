// The ends of tasks in a bundle: as much of the map of tasks as leads from its signed root to them, and nothing else.
import { fromBase64, toBase64, toHex } from '../bytes.ts'
import { sha256 } from '../sha256.ts'
import { openTaskMapNode, taskMapPath, taskMapStart } from '../task-map.ts'
import type { TaskEnd, TaskMapNodes } from '../task-map.ts'
import type { TaskEndsProof } from './format.ts'

/** The end of each task; null where the map says that there was no record of it. */
export type ProvenEnds = ReadonlyMap<string, TaskEnd | null>

/** The part of a bundle that proves these tasks. Undefined where `nodes` lacks one that was committed to. */
export function proveTaskEnds(
  root: Uint8Array,
  nodes: TaskMapNodes,
  taskIds: Iterable<string>,
): TaskEndsProof | undefined {
  const tasks = [...new Set(taskIds)].toSorted()
  const reader = createNodeReader(nodes.values())
  for (const taskId of tasks) {
    if (lookUp(root, taskId, reader.read) === undefined) return undefined
  }
  return { tasks, nodes: reader.used().map(toBase64).toSorted() }
}

/** What the part of a bundle proves under a signed root; a text where it is not what it must be. */
export function readTaskEnds(root: Uint8Array, proof: TaskEndsProof): ProvenEnds | string {
  if (!isAscending(proof.tasks)) return 'its tasks do not stand in their order, each once'
  if (!isAscending(proof.nodes)) return 'its nodes do not stand in their order, each once'
  const nodes = proof.nodes.map(fromBase64)
  if (!nodes.every((node) => node !== undefined)) return 'a node is not base64'
  const reader = createNodeReader(nodes)
  const ends = new Map<string, TaskEnd | null>()
  for (const taskId of proof.tasks) {
    const end = lookUp(root, taskId, reader.read)
    if (end === undefined) {
      return `no node that the seal commits to leads to the task ${taskId}`
    }
    ends.set(taskId, end)
  }
  return reader.used().length === nodes.length ? ends : 'it holds a node that no task needs'
}

const isAscending = (texts: readonly string[]): boolean =>
  texts.every((text, at) => at === 0 || (texts[at - 1] as string) < text)

/** Finds nodes by their hash, so that none can stand in the place of another. */
function createNodeReader(nodes: Iterable<Uint8Array>) {
  const byHash = new Map([...nodes].map((node) => [toHex(sha256(node)), node]))
  const used = new Set<Uint8Array>()
  return {
    read(hash: Uint8Array): Uint8Array | undefined {
      const node = byHash.get(toHex(hash))
      if (node !== undefined) used.add(node)
      return node
    },
    used: (): readonly Uint8Array[] => [...used],
  }
}

/** Goes one digit deeper with each node, so it ends whatever the nodes hold. */
function lookUp(
  root: Uint8Array,
  taskId: string,
  read: (hash: Uint8Array) => Uint8Array | undefined,
): TaskEnd | null | undefined {
  let place = taskMapStart(root)
  const path = taskMapPath(taskId)
  for (let depth = 0; depth < path.length; depth += 1) {
    if (place === undefined) return null
    const node = openTaskMapNode(place, read(place.hash))
    if (node === undefined) return undefined
    const end = node.ends.get(taskId)
    if (end !== undefined) return end
    if (node.below.length === 0) return null
    place = node.below.find(({ name }) => name === path[depth + 1])
  }
  return undefined
}

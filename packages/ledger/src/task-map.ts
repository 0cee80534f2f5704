// A Merkle map from each task to its last record. Its root stands in seals, so that a task whose end is cut, or that
// was removed as a whole, is missed. A trie over SHA-256 of the task id in hex digits: a node of at most 16 tasks lists them,
// any other has 16 children. Its shape follows from its tasks alone, not from the order in which they came.
import { concatBytes, encodeUtf8, equalBytes, fromHex, toHex } from './bytes.ts'
import { sha256, sha256Hex } from './sha256.ts'
import { uuidOfHex } from './uuid.ts'

/** The last record of a task. */
export interface TaskEnd {
  /** How many records the task has. */
  readonly records: number
  readonly lastHash: Uint8Array
}

/** The nodes of a map by the digits that lead to them; the root's name is the empty text. Nothing of it is trusted. */
export type TaskMapNodes = ReadonlyMap<string, Uint8Array>

/** What a map says of a task. `unproven`: the node of that name is missing or is not the one that was committed to. */
export type TaskLookup =
  | { readonly kind: 'found'; readonly end: TaskEnd }
  | { readonly kind: 'absent' }
  | { readonly kind: 'unproven'; readonly node: string }

/** The root of a map without tasks; as a child it says that nothing stands there. */
export const EMPTY_TASK_MAP: Uint8Array = new Uint8Array(32)
/** Digits that lead to a node at most: nobody can find 17 task ids that agree in 96 bits. */
const DIGITS_MAX = 24
const TASKS_MAX = 16
const CHILDREN = 16
const LIST = 0
const INNER = 1
const ID_BYTES = 16
const ENTRY_BYTES = ID_BYTES + 4 + 32
const NAME = encodeUtf8('baton/task-map/v1\n')

type Entries = ReadonlyMap<string, TaskEnd>

/** Without a Buffer: a browser verifies bundles by this too. */
const idBytes = (taskId: string): Uint8Array => fromHex(taskId.replaceAll('-', '')) as Uint8Array

/** The digits that lead to a task. `taskId` is a UUID. */
const digitsOf = (taskId: string): string => sha256Hex(concatBytes([NAME, idBytes(taskId)]))

/** The name of every node that may lead to a task, the root first. */
export function taskMapPath(taskId: string): readonly string[] {
  const digits = digitsOf(taskId)
  return Array.from({ length: DIGITS_MAX + 1 }, (_, length) => digits.slice(0, length))
}

/** What the map under `root` says of a task. Every node on the way is hashed. */
export function findTaskEnd(root: Uint8Array, nodes: TaskMapNodes, taskId: string): TaskLookup {
  const digits = digitsOf(taskId)
  let expected = root
  for (let depth = 0; depth <= DIGITS_MAX; depth += 1) {
    if (isEmpty(expected)) return { kind: 'absent' }
    const name = digits.slice(0, depth)
    const node = readNode(nodes.get(name), expected)
    if (node === undefined) return { kind: 'unproven', node: name }
    if (node.kind === 'list') {
      const end = node.entries.get(taskId)
      return end === undefined ? { kind: 'absent' } : { kind: 'found', end }
    }
    expected = node.children[digitAt(digits, depth)] as Uint8Array
  }
  return { kind: 'unproven', node: digits.slice(0, DIGITS_MAX) }
}

/** The names of nodes that `taskIds` need and `nodes` lacks; none when all of them can be looked up and changed. */
export function missingTaskMapNodes(
  root: Uint8Array,
  nodes: TaskMapNodes,
  taskIds: Iterable<string>,
): ReadonlySet<string> {
  const missing = new Set<string>()
  for (const taskId of taskIds) {
    const found = findTaskEnd(root, nodes, taskId)
    if (found.kind === 'unproven') missing.add(found.node)
  }
  return missing
}

export interface ChangedTaskMap {
  readonly root: Uint8Array
  /** The nodes that are new or other than before. */
  readonly nodes: TaskMapNodes
}

/** Puts the end of each task into the map. All nodes on their ways must be in `nodes`, see `missingTaskMapNodes`. */
export function changeTaskMap(
  root: Uint8Array,
  nodes: TaskMapNodes,
  ends: ReadonlyMap<string, TaskEnd>,
): ChangedTaskMap {
  const changed = new Map<string, Uint8Array>()
  const byDigits = [...ends].map(([taskId, end]) => ({ digits: digitsOf(taskId), taskId, end }))

  function put(name: string, expected: Uint8Array, changes: typeof byDigits): Uint8Array {
    if (changes.length === 0) return expected
    const node = isEmpty(expected) ? NO_TASKS : readNode(nodes.get(name), expected)
    if (node === undefined)
      throw new Error(`the node ${JSON.stringify(name)} of the task map is not there`)
    if (node.kind === 'children') return putChildren(name, node.children, changes)
    const entries = new Map(node.entries)
    for (const { taskId, end } of changes) entries.set(taskId, end)
    if (entries.size <= TASKS_MAX || name.length === DIGITS_MAX)
      return keep(name, listBytes(entries))
    const all = [...entries].map(([taskId, end]) => ({ digits: digitsOf(taskId), taskId, end }))
    return putChildren(name, NO_CHILDREN, all)
  }

  function putChildren(name: string, children: readonly Uint8Array[], changes: typeof byDigits) {
    const groups = Map.groupBy(changes, ({ digits }) => digitAt(digits, name.length))
    const next = children.map((child, digit) =>
      put(name + digit.toString(16), child, groups.get(digit) ?? []),
    )
    return keep(name, concatBytes([Uint8Array.of(INNER), ...next]))
  }

  function keep(name: string, bytes: Uint8Array): Uint8Array {
    changed.set(name, bytes)
    return sha256(bytes)
  }

  return { root: put('', root, byDigits), nodes: changed }
}

/** A node that is to be read: its name and its hash. */
export interface TaskMapPlace {
  readonly name: string
  readonly hash: Uint8Array
}

/** Where the whole map is read from; undefined for a map without tasks. */
export const taskMapStart = (root: Uint8Array): TaskMapPlace | undefined =>
  isEmpty(root) ? undefined : { name: '', hash: root }

/** The tasks and the children of one node; undefined where these are not the bytes that were committed to. */
export function openTaskMapNode(
  { name, hash }: TaskMapPlace,
  bytes: Uint8Array | undefined,
): { readonly ends: Entries; readonly below: readonly TaskMapPlace[] } | undefined {
  const node = readNode(bytes, hash)
  if (node === undefined) return undefined
  if (node.kind === 'list') return { ends: node.entries, below: [] }
  const below = node.children.map((child, digit) => ({
    name: name + digit.toString(16),
    hash: child,
  }))
  return { ends: NO_TASKS.entries, below: below.filter((child) => !isEmpty(child.hash)) }
}

type TaskMapNode =
  | { readonly kind: 'list'; readonly entries: Entries }
  | { readonly kind: 'children'; readonly children: readonly Uint8Array[] }

const NO_TASKS = { kind: 'list', entries: new Map<string, TaskEnd>() } as const
const NO_CHILDREN: readonly Uint8Array[] = Array.from({ length: CHILDREN }, () => EMPTY_TASK_MAP)

/** Nodes near the root lead to many tasks, and are hashed and read once. */
const readings = new WeakMap<
  Uint8Array,
  { readonly hash: Uint8Array; readonly parsed: TaskMapNode | undefined }
>()

/** The node, when these are the bytes that were committed to. */
function readNode(bytes: Uint8Array | undefined, expected: Uint8Array): TaskMapNode | undefined {
  if (bytes === undefined) return undefined
  const reading = readings.get(bytes) ?? { hash: sha256(bytes), parsed: parseNode(bytes) }
  readings.set(bytes, reading)
  return equalBytes(reading.hash, expected) ? reading.parsed : undefined
}

/** One form for one node, so that no two readers differ about what a root commits to, whoever signed it. */
function parseNode(bytes: Uint8Array): TaskMapNode | undefined {
  if (bytes[0] === INNER) {
    if (bytes.length !== 1 + CHILDREN * 32) return undefined
    const children = NO_CHILDREN.map((_, at) => bytes.subarray(1 + at * 32, 33 + at * 32))
    return { kind: 'children', children }
  }
  if (bytes[0] !== LIST || bytes.length === 1 || (bytes.length - 1) % ENTRY_BYTES !== 0) {
    return undefined
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const entries = new Map<string, TaskEnd>()
  let before = ''
  for (let at = 1; at < bytes.length; at += ENTRY_BYTES) {
    const records = view.getUint32(at + ID_BYTES)
    const lastHash = bytes.subarray(at + ID_BYTES + 4, at + ENTRY_BYTES)
    const taskId = uuidOfHex(toHex(bytes.subarray(at, at + ID_BYTES)))
    if (taskId <= before || records === 0) return undefined
    entries.set(taskId, { records, lastHash })
    before = taskId
  }
  return { kind: 'list', entries }
}

/** In order of the ids: one text for one set of tasks. */
function listBytes(entries: Entries): Uint8Array {
  const bytes = new Uint8Array(1 + entries.size * ENTRY_BYTES)
  const view = new DataView(bytes.buffer)
  bytes[0] = LIST
  const sorted = [...entries].toSorted(([left], [right]) => (left < right ? -1 : 1))
  for (const [index, [taskId, { records, lastHash }]] of sorted.entries()) {
    const at = 1 + index * ENTRY_BYTES
    bytes.set(idBytes(taskId), at)
    view.setUint32(at + ID_BYTES, records)
    bytes.set(lastHash, at + ID_BYTES + 4)
  }
  return bytes
}

const isEmpty = (root: Uint8Array): boolean => equalBytes(root, EMPTY_TASK_MAP)
const digitAt = (digits: string, at: number): number => Number.parseInt(digits.charAt(at), 16)

// Brings the map of tasks from one seal to a later one: every record between them is hashed, leads to what was signed of its
// chain, and follows its task's record before it.
import {
  changeTaskMap,
  compactRangeFromState,
  EMPTY_TASK_MAP,
  equalBytes,
  findTaskEnd,
  GENESIS_HASH,
  missingTaskMapNodes,
  readRecord,
  recordHash,
} from '@baton/ledger'
import type { CompactRange, Finding, RecordBody, TaskEnd, TreeState } from '@baton/ledger'
import { beginningOf } from '../cold/chain-beginning.ts'
import type { ColdStore } from '../cold/cold-store.ts'
import { createColdTier } from '../cold/cold-tier.ts'
import type { ColdTier } from '../cold/cold-tier.ts'
import { inSnapshot } from '../database.ts'
import type { Pool, Snapshot } from '../database.ts'
import { scanBodies } from './scan-bodies.ts'
import { readTaskMapNodes, storeTaskMap } from './task-map.ts'

/** The sealed part of one chain. */
interface ChainPart {
  readonly chain: number
  readonly origin: string
  readonly tree: TreeState
}

interface ExtendOptions {
  /** Connected as audit_sealer. */
  readonly pool: Pool
  /** Where records stand that were dropped from the database. */
  readonly cold: ColdStore | undefined
  /** The map as it is, and what it holds of each chain; undefined begins at the first record. */
  readonly from:
    | { readonly root: Uint8Array; readonly seals: number; readonly chains: readonly ChainPart[] }
    | undefined
  /** What it shall hold: what the sealer signed last. */
  readonly to: { readonly seals: number; readonly chains: readonly ChainPart[] }
}

/**
 * `damaged`: the stored map is not the one with this root, so it has to be made from the first record on. `unread`: records
 * that left the database cannot be read from the cold store. `altered`: nothing may be signed any more.
 */
export type ExtendedTaskMap =
  | {
      readonly kind: 'extended'
      readonly root: Uint8Array
      readonly tasks: number
      /** How many records of chains that were read from their beginning have expired, by origin: whose tasks they were, the map does not know. */
      readonly begins: ReadonlyMap<string, number>
    }
  | { readonly kind: 'damaged' }
  | { readonly kind: 'unread'; readonly findings: readonly Finding[] }
  | { readonly kind: 'altered'; readonly findings: readonly Finding[] }

/** Tasks that are put into the map at once, and nodes that are kept in memory between two such steps. */
const TASKS_MAX = 10_000
const NODES_MAX = 100_000

/** Nodes of the version `to.seals` are stored when this resolves. Safe to repeat after a crash anywhere. */
export function extendTaskMap(options: ExtendOptions): Promise<ExtendedTaskMap> {
  const { pool, cold, from, to } = options
  const map = createGrowingMap(pool, {
    root: from?.root ?? EMPTY_TASK_MAP,
    before: from?.seals,
    seals: to.seals,
  })
  const known = new Map(from?.chains.map((part) => [part.origin, part.tree]))
  return inSnapshot(pool, async (snapshot) => {
    const tier = createColdTier(snapshot, cold)
    const begins = new Map<string, number>()
    for (const part of to.chains) {
      const { minIndex } = await tier.position(part.chain)
      if (minIndex > 0 && !known.has(part.origin)) begins.set(part.origin, minIndex)
      const outcome = await extendByChain(snapshot, {
        part,
        tier,
        map,
        start: known.get(part.origin),
      })
      const findings = tier.takeFindings()
      if (findings.length > 0) return { kind: 'unread', findings }
      if (outcome !== undefined) return outcome
    }
    const failed = await map.flush()
    if (failed !== undefined) return failed
    return { kind: 'extended', root: map.root, tasks: map.tasks, begins }
  })
}

type Failure = Exclude<ExtendedTaskMap, { kind: 'extended' }>

interface ChainStep {
  readonly part: ChainPart
  readonly tier: ColdTier
  readonly map: GrowingMap
  /** The tree of what the map holds of the chain. */
  readonly start: TreeState | undefined
}

async function extendByChain(snapshot: Snapshot, step: ChainStep): Promise<Failure | undefined> {
  const { part, tier, map, start } = step
  const { chain, origin } = part
  if (start?.size === part.tree.size) return undefined
  const tree = await treeAt(snapshot, step)
  if ('findings' in tree) return { kind: 'unread', findings: tree.findings }
  const isCut = start === undefined && tree.size > 0
  for await (const bodies of scanBodies(snapshot, tier, {
    chain,
    from: tree.size,
    to: part.tree.size,
  })) {
    for (const body of bodies) {
      const seq = tree.size
      const hash = recordHash(body)
      tree.append(hash)
      const record = readRecord(body)
      if (record === undefined) return altered(origin, seq, 'the body is not a record')
      if (!map.add(record, { hash, isCut })) return altered(origin, seq, NOT_NEXT, 'TASK_LINK')
      if (map.waiting < TASKS_MAX) continue
      const failed = await map.flush()
      if (failed !== undefined) return failed
    }
  }
  const sealed = compactRangeFromState(part.tree)
  if (tree.size === sealed.size && equalBytes(tree.root(), sealed.root())) return undefined
  return altered(origin, tree.size, 'the records are not the ones that were sealed')
}

const NOT_NEXT = "the record does not follow the task's record before it"

function altered(
  origin: string,
  seq: number,
  message: string,
  rule: Finding['rule'] = 'SEAL_ROOT',
): Failure {
  return { kind: 'altered', findings: [{ origin, seq, rule, message }] }
}

async function treeAt(
  snapshot: Snapshot,
  { part, tier, start }: ChainStep,
): Promise<CompactRange | { readonly findings: readonly Finding[] }> {
  if (start !== undefined) return compactRangeFromState(start)
  const { tree, findings } = await beginningOf(snapshot, tier, part)
  return tree ?? { findings }
}

interface Addition {
  readonly hash: Uint8Array
  /** Records before the first one here have expired, so a task may begin in its middle. */
  readonly isCut: boolean
}

/** A map while records are added to it, in bounded steps. */
interface GrowingMap {
  readonly root: Uint8Array
  /** Tasks whose ends were put into it. */
  readonly tasks: number
  /** Tasks whose new ends are not in it yet. */
  readonly waiting: number
  /** False where the record does not follow the one of its task that was added last. */
  add(record: RecordBody, addition: Addition): boolean
  /** Puts the ends that wait into the map and stores its nodes. */
  flush(): Promise<Failure | undefined>
}

interface WaitingTask extends TaskEnd {
  /** What the map has to say of the task before; undefined where nobody can know. */
  readonly before: TaskEnd | undefined
  readonly origin: string
  readonly seq: number
}

interface MapVersions {
  readonly root: Uint8Array
  /** The version that it grows from; undefined for a map that is made anew. */
  readonly before: number | undefined
  /** The version that it becomes. */
  readonly seals: number
}

function createGrowingMap(pool: Pool, { root: start, before, seals }: MapVersions): GrowingMap {
  let root = start
  let tasks = 0
  const waiting = new Map<string, WaitingTask>()
  const nodes = new Map<string, Uint8Array>()

  /** Reads nodes of a version; answers those that are not the ones that were committed to. */
  async function read(version: number, names: ReadonlySet<string>): Promise<ReadonlySet<string>> {
    for (const name of names) nodes.delete(name)
    for (const [name, bytes] of await readTaskMapNodes(pool, version, names)) nodes.set(name, bytes)
    const missing = missingTaskMapNodes(root, nodes, waiting.keys())
    return new Set([...names].filter((name) => missing.has(name)))
  }

  /** False where a stored node is not the one that was committed to. */
  async function load(): Promise<boolean> {
    if (nodes.size > NODES_MAX) nodes.clear()
    for (;;) {
      const missing = missingTaskMapNodes(root, nodes, waiting.keys())
      if (missing.size === 0) return true
      const other = await read(seals, missing)
      if (other.size === 0) continue
      // A sealer that was killed may have stored a newer version that no seal commits to.
      if (before === undefined || (await read(before, other)).size > 0) return false
    }
  }

  function firstUnlinked(): Failure | undefined {
    for (const [taskId, { before, origin, seq }] of waiting) {
      const found = findTaskEnd(root, nodes, taskId)
      const known = found.kind === 'found' ? found.end : NO_RECORDS
      if (before === undefined || isSame(known, before)) continue
      return altered(origin, seq, NOT_NEXT, 'TASK_LINK')
    }
    return undefined
  }

  return {
    get root() {
      return root
    },
    get tasks() {
      return tasks
    },
    get waiting() {
      return waiting.size
    },
    add({ taskId, taskSeq, previousTaskRecordHash, origin, seq }, { hash, isCut }) {
      const known = waiting.get(taskId)
      const linked = { records: taskSeq, lastHash: Buffer.from(previousTaskRecordHash, 'hex') }
      if (known !== undefined && !isSame(known, linked)) return false
      const before = isCut && taskSeq > 0 ? undefined : linked
      const first = known ?? { before, origin, seq }
      waiting.set(taskId, { ...first, records: taskSeq + 1, lastHash: hash })
      return true
    },
    async flush() {
      if (waiting.size === 0) return undefined
      if (!(await load())) return { kind: 'damaged' }
      const unlinked = firstUnlinked()
      if (unlinked !== undefined) return unlinked
      const changed = changeTaskMap(root, nodes, waiting)
      await storeTaskMap(pool, seals, changed.nodes)
      for (const [name, bytes] of changed.nodes) nodes.set(name, bytes)
      root = changed.root
      tasks += waiting.size
      waiting.clear()
      return undefined
    },
  }
}

const NO_RECORDS: TaskEnd = { records: 0, lastHash: GENESIS_HASH }

const isSame = (left: TaskEnd, right: TaskEnd): boolean =>
  left.records === right.records && equalBytes(left.lastHash, right.lastHash)

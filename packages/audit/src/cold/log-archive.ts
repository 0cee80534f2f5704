// Writes one log to the cold store, bundle by bundle; what stands there already must be the same.
import {
  compactRangeFromNodes,
  compactRangeFromState,
  encodeEntryBundle,
  encodeHashTile,
  equalBytes,
  hashLeaf,
  nodesOfRange,
  TILE_WIDTH,
} from '@baton/ledger'
import type { CompactRange, Finding, TreeNode } from '@baton/ledger'
import type { SegmentRow } from '../read/segments.ts'
import { createColdLog } from './cold-log.ts'
import type { ColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { encodePayloads, payloadName, tileName } from './objects.ts'

/** The records of one bundle, in order. */
export interface BundleContent {
  readonly entries: readonly Uint8Array[]
  /** Undefined for logs without payloads. */
  readonly segments: readonly SegmentRow[] | undefined
}

const TILE_HEIGHT = 8

interface LogArchiveOptions {
  readonly store: ColdStore
  readonly origin: string
  /** Records in full bundles of the store. */
  readonly size: number
  /** In the store, a partial bundle included. */
  readonly tail?: number
}

/** One log at one moment: what is archived, and the hashes that the next tiles are made of. */
export interface LogArchive {
  readonly log: ColdLog
  /** Records in full bundles. */
  readonly size: number
  /** The size of the newest tree of which every tile stands there, partial ones included; 0 where that is not known. */
  readonly tail: number
  /** The same log with nothing remembered, for reading what really stands there. */
  reread(): ColdLog
  /** The root over what is archived in full bundles. */
  root(): Uint8Array
  /** A copy of the tree, to see what it would be with more leaves. */
  tree(): CompactRange
  /** Stores a full bundle, its payloads and the hash tiles that it completes. */
  append(bundle: BundleContent): Promise<readonly Finding[]>
  /** Stores what is left of the log, if anything, as C2SP partial tiles, of every level; the next full ones stand beside them. */
  appendTail(bundle?: BundleContent): Promise<readonly Finding[]>
}

/** Rejects with BATON_TILE_INVALID when the store does not hold what the position says. */
export async function openLogArchive(options: LogArchiveOptions): Promise<LogArchive> {
  const { store, origin } = options
  const log = createColdLog(store, origin)
  const { range, pending } = await readTree(log, options.size)
  // What ends with a full bundle may lack the partial tiles above it.
  let tail = (options.tail ?? 0) > options.size ? (options.tail ?? 0) : 0

  function complete({ level, index }: TreeNode, hash: Uint8Array): StoredObject | undefined {
    if (level % TILE_HEIGHT !== 0) return undefined
    const tileLevel = level / TILE_HEIGHT
    const hashes = (pending[tileLevel] ??= [])
    hashes.push(hash)
    if (hashes.length < TILE_WIDTH) return undefined
    pending[tileLevel] = []
    return tileObject(origin, { level: tileLevel, index: Math.floor(index / TILE_WIDTH), hashes })
  }

  return {
    log,
    get size() {
      return range.size
    },
    get tail() {
      return tail
    },
    reread: () => createColdLog(store, origin),
    root: () => range.root(),
    tree: () => compactRangeFromState(range.state()),
    append(bundle) {
      const objects = bundleObjects(origin, range.size / TILE_WIDTH, bundle)
      for (const entry of bundle.entries) {
        range.append(hashLeaf(entry), (node, hash) => {
          const tile = complete(node, hash)
          if (tile !== undefined) objects.push(tile)
        })
      }
      return put(options, objects)
    },
    async appendTail(bundle) {
      const index = range.size / TILE_WIDTH
      const objects = bundle === undefined ? [] : bundleObjects(origin, index, bundle)
      const hashes = bundle === undefined ? [] : bundle.entries.map(hashLeaf)
      if (hashes.length > 0) objects.push(tileObject(origin, { level: 0, index, hashes }))
      pending.forEach((upper, level) => {
        if (level === 0 || upper.length === 0) return
        const at = Math.floor(range.size / TILE_WIDTH ** (level + 1))
        objects.push(tileObject(origin, { level, index: at, hashes: upper }))
      })
      const findings = await put(options, objects)
      if (findings.length === 0) tail = range.size + hashes.length
      return findings
    },
  }
}

/** The tree of a log's full bundles, and by level the hashes of the tile that is not full yet. */
async function readTree(
  log: ColdLog,
  size: number,
): Promise<{ readonly range: CompactRange; readonly pending: Uint8Array[][] }> {
  const range = compactRangeFromNodes(size, await log.nodes(size)(nodesOfRange(0, size)))
  const pending: Uint8Array[][] = []
  for (let level = 1; TILE_WIDTH ** level <= size; level += 1) {
    const items = Math.floor(size / TILE_WIDTH ** level)
    const width = items % TILE_WIDTH
    const index = Math.floor(items / TILE_WIDTH)
    pending[level] = width === 0 ? [] : [...(await log.hashes({ level, index, width }))]
  }
  return { range, pending }
}

interface StoredObject {
  readonly name: string
  readonly bytes: Uint8Array
  readonly firstSeq: number
  /** Payloads lose rows by erasure, so those that were archived before may hold more. */
  readonly mayDiffer?: true
}

async function put(
  { store, origin }: LogArchiveOptions,
  objects: readonly StoredObject[],
): Promise<readonly Finding[]> {
  const findings: Finding[] = []
  for (const { name, bytes, firstSeq, mayDiffer } of objects) {
    const outcome = await store.putIfAbsent(name, bytes)
    if (outcome === 'stored' || mayDiffer || (await holds(store, name, bytes))) continue
    const message = `the cold store holds another object as ${name}`
    findings.push({ origin, seq: firstSeq, rule: 'TILE_HASH', message })
  }
  return findings
}

async function holds(store: ColdStore, name: string, bytes: Uint8Array): Promise<boolean> {
  const stored = await store.get(name)
  return stored instanceof Uint8Array && equalBytes(stored, bytes)
}

function bundleObjects(
  origin: string,
  index: number,
  { entries, segments }: BundleContent,
): StoredObject[] {
  const width = entries.length
  const firstSeq = index * TILE_WIDTH
  const name = tileName(origin, { level: 'entries', index, width })
  const objects: StoredObject[] = [{ name, bytes: encodeEntryBundle(entries), firstSeq }]
  if (segments !== undefined) {
    const payload = payloadName(origin, { index, width })
    objects.push({ name: payload, bytes: encodePayloads(segments), firstSeq, mayDiffer: true })
  }
  return objects
}

function tileObject(
  origin: string,
  tile: { readonly level: number; readonly index: number; readonly hashes: readonly Uint8Array[] },
): StoredObject {
  const { level, index, hashes } = tile
  const name = tileName(origin, { level, index, width: hashes.length })
  const firstSeq = index * TILE_WIDTH ** (level + 1)
  return { name, bytes: encodeHashTile(hashes), firstSeq }
}

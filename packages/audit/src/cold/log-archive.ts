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
import { ColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { decodeObject, encodeObject } from './compression.ts'
import { payloadName, tileName } from './object-names.ts'
import { encodePayloads } from './payload-object.ts'

/** The records of one bundle, in order. */
export interface BundleContent {
  readonly entries: readonly Uint8Array[]
  /** Undefined for logs without payloads. */
  readonly segments: readonly SegmentRow[] | undefined
}

const TILE_HEIGHT = 8
const OBJECT_BYTES_MAX = 1_073_741_824

interface LogArchiveOptions {
  readonly store: ColdStore
  readonly origin: string
  /** Records in full bundles of the store. */
  readonly size: number
}

/** One log at one moment: what is archived, and the hashes that the next tiles are made of. */
export class LogArchive {
  readonly log: ColdLog
  readonly #store: ColdStore
  readonly #range: CompactRange
  /** By level: the hashes of the tile that is not full yet. */
  readonly #pending: Uint8Array[][]

  private constructor(
    { store }: LogArchiveOptions,
    parts: { log: ColdLog; range: CompactRange; pending: Uint8Array[][] },
  ) {
    this.log = parts.log
    this.#store = store
    this.#range = parts.range
    this.#pending = parts.pending
  }

  /** Rejects with BATON_TILE_INVALID when the store does not hold what the position says. */
  static async open(options: LogArchiveOptions): Promise<LogArchive> {
    const { store, origin, size } = options
    const log = new ColdLog(store, origin)
    const nodes = await log.nodes(size)(nodesOfRange(0, size))
    const range = compactRangeFromNodes(size, nodes)
    const pending: Uint8Array[][] = []
    for (let level = 1; TILE_WIDTH ** level <= size; level += 1) {
      const items = Math.floor(size / TILE_WIDTH ** level)
      const width = items % TILE_WIDTH
      const index = Math.floor(items / TILE_WIDTH)
      pending[level] = width === 0 ? [] : [...(await log.hashes({ level, index, width }))]
    }
    return new LogArchive(options, { log, range, pending })
  }

  /** The same log with nothing remembered, for reading what really stands there. */
  reread(): ColdLog {
    return new ColdLog(this.#store, this.log.origin)
  }

  get size(): number {
    return this.#range.size
  }

  /** The root over what is archived in full bundles. */
  root(): Uint8Array {
    return this.#range.root()
  }

  /** A copy of the tree, to see what it would be with more leaves. */
  tree(): CompactRange {
    return compactRangeFromState(this.#range.state())
  }

  /** Stores a full bundle, its payloads and the hash tiles that it completes. */
  async append({ entries, segments }: BundleContent): Promise<readonly Finding[]> {
    const index = this.size / TILE_WIDTH
    const objects = bundleObjects(this.log.origin, { index, width: TILE_WIDTH, entries, segments })
    for (const entry of entries) {
      this.#range.append(hashLeaf(entry), (node, hash) => {
        const tile = this.#complete(node, hash)
        if (tile !== undefined) objects.push(tile)
      })
    }
    return this.#put(objects)
  }

  /** Stores what is left of the log as C2SP partial tiles; the next full ones stand beside them. */
  async appendTail({ entries, segments }: BundleContent): Promise<readonly Finding[]> {
    const width = entries.length
    const { origin } = this.log
    const index = this.size / TILE_WIDTH
    const objects = bundleObjects(origin, { index, width, entries, segments })
    objects.push(tileObject(origin, { level: 0, index, hashes: entries.map(hashLeaf) }))
    this.#pending.forEach((hashes, level) => {
      if (level === 0 || hashes.length === 0) return
      const at = Math.floor(this.size / TILE_WIDTH ** (level + 1))
      objects.push(tileObject(origin, { level, index: at, hashes }))
    })
    return this.#put(objects)
  }

  #complete({ level, index }: TreeNode, hash: Uint8Array): StoredObject | undefined {
    if (level % TILE_HEIGHT !== 0) return undefined
    const tileLevel = level / TILE_HEIGHT
    const hashes = (this.#pending[tileLevel] ??= [])
    hashes.push(hash)
    if (hashes.length < TILE_WIDTH) return undefined
    this.#pending[tileLevel] = []
    const at = Math.floor(index / TILE_WIDTH)
    return tileObject(this.log.origin, { level: tileLevel, index: at, hashes })
  }

  async #put(objects: readonly StoredObject[]): Promise<readonly Finding[]> {
    const findings: Finding[] = []
    for (const { name, bytes, firstSeq, mayDiffer } of objects) {
      const put = await this.#store.putIfAbsent(name, await encodeObject(name, bytes))
      if (put === 'stored' || mayDiffer || (await this.#holds(name, bytes))) continue
      const message = `the cold store holds another object as ${name}`
      findings.push({ origin: this.log.origin, seq: firstSeq, rule: 'TILE_HASH', message })
    }
    return findings
  }

  async #holds(name: string, bytes: Uint8Array): Promise<boolean> {
    const stored = await this.#store.get(name)
    const decoded = stored && (await decodeObject(name, stored, OBJECT_BYTES_MAX))
    return decoded !== undefined && equalBytes(decoded, bytes)
  }
}

interface StoredObject {
  readonly name: string
  readonly bytes: Uint8Array
  readonly firstSeq: number
  /** Payloads lose rows by erasure, so those that were archived before may hold more. */
  readonly mayDiffer?: true
}

function bundleObjects(
  origin: string,
  bundle: BundleContent & { readonly index: number; readonly width: number },
): StoredObject[] {
  const { index, width, entries, segments } = bundle
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

// Re-reads what stands in the cold store: bundles, payloads and hash tiles, each as it is there now, and whether they lead to the signed root.
import {
  equalBytes,
  hashLeaf,
  LedgerError,
  proveInclusion,
  rootOf,
  TILE_WIDTH,
  tilePath,
  verifyInclusion,
} from '@baton/ledger'
import type { Finding, FindingRule, HashReader, Tile } from '@baton/ledger'
import type { Database, Snapshot } from '../database.ts'
import { readSegments } from '../read/segments.ts'
import { SEAL_LOG } from './archive-positions.ts'
import type { ArchivePosition } from './archive-positions.ts'
import type { ColdLog, Found } from './cold-log.ts'
import type { LogArchive } from './log-archive.ts'
import { bundleOf, payloadName } from './objects.ts'
import { readEntries } from './read-bundles.ts'

/** One log of the store, to be read bundle by bundle. */
export interface ArchivedCopy {
  readonly db: Database
  readonly log: number
  /** Remembers the tiles above the lowest: one for each time that everything is to be read. */
  readonly cold: ColdLog
  /** Records in full bundles. */
  readonly size: number
  /** The root over them; undefined where it is not known, and then nothing is compared with it. */
  readonly root: Uint8Array | undefined
  /** Of what has expired, only the hash tiles are left. */
  readonly minIndex: number
}

interface CheckOptions {
  /** Connected as audit_archiver. */
  readonly db: Database
  readonly chain: number
  /** Its root extends to a signed checkpoint: `archiveLog` ended without a finding. */
  readonly archive: LogArchive
  /** The records that must stand there, both included. */
  readonly first: number
  readonly last: number
}

/** Before the hot copy may go. Stops at the first bundle that is not whole. Nothing comes from memory: every object is read. */
export async function checkArchived(options: CheckOptions): Promise<readonly Finding[]> {
  const { db, chain: log, archive, first, last } = options
  const [root, size] = [archive.root(), archive.size]
  const copy: ArchivedCopy = { db, log, cold: archive.reread(), size, root, minIndex: 0 }
  for (let index = bundleOf(first); index <= bundleOf(last); index += 1) {
    const findings = await checkBundle(copy, index)
    if (findings.length > 0) return findings
  }
  return []
}

/** A full bundle with its payloads, its hash tile, every tile that ends with it, and the partial ones beside them. */
export async function checkBundle(copy: ArchivedCopy, index: number): Promise<readonly Finding[]> {
  const { cold, minIndex } = copy
  const report = reporter(cold.origin, index)
  const tile = await cold.tile(0, index, TILE_WIDTH)
  const hashes = tile.kind === 'found' ? tile.content : undefined
  const ofTree =
    hashes === undefined
      ? lost(report, tile, { level: 0, index })
      : await checkTree(copy, index, hashes)
  if (index < bundleOf(minIndex)) return ofTree
  const bundle = await cold.bundle(index)
  if (bundle.kind !== 'found')
    return [...lost(report, bundle, { level: 'entries', index }), ...ofTree]
  const wrong = bundle.content.findIndex(
    (entry, at) => hashes !== undefined && !equalBytes(hashLeaf(entry), hashes[at] as Uint8Array),
  )
  return [
    ...(wrong < 0 ? [] : report('TILE_HASH', 'the bundle and its hash tile differ', wrong)),
    ...ofTree,
    ...(await checkPartials(copy, { level: 'entries', index }, bundle.content)),
    ...(await checkPayloads(copy, { index, width: TILE_WIDTH })),
  ]
}

/** From the hash tile of a bundle up: every tile that this bundle completes is there, made of those below, and leads to the root. */
async function checkTree(
  copy: ArchivedCopy,
  index: number,
  hashes: readonly Uint8Array[],
): Promise<readonly Finding[]> {
  const { cold, size, root } = copy
  const report = reporter(cold.origin, index)
  const findings = [...(await checkPartials(copy, { level: 0, index }, hashes))]
  const own = rootOf(hashes)
  let child = { index, root: own }
  for (let level = 1; ; level += 1) {
    const above = { level, index: bundleOf(child.index) }
    const isLast = child.index % TILE_WIDTH === TILE_WIDTH - 1
    if ((above.index + 1) * TILE_WIDTH ** (level + 1) > size) break
    const parent = await cold.tile(level, above.index, TILE_WIDTH)
    // Said once, at the last bundle below it.
    if (parent.kind !== 'found') {
      if (isLast) findings.push(...lost(report, parent, above))
      break
    }
    if (!equalBytes(parent.content[child.index % TILE_WIDTH] as Uint8Array, child.root)) {
      const message = `hash tile ${tilePath({ ...above, width: TILE_WIDTH })} is not made of the one below it`
      findings.push(...report('TILE_HASH', message))
    }
    if (!isLast) break
    findings.push(...(await checkPartials(copy, above, parent.content)))
    child = { index: above.index, root: rootOf(parent.content) }
  }
  if (root === undefined || findings.length > 0) return findings
  return (await leadsTo(root, { cold, size, index, own }))
    ? []
    : report('TILE_HASH', 'the hash tiles do not lead to the signed root')
}

interface Subtree {
  readonly cold: ColdLog
  readonly size: number
  readonly index: number
  readonly own: Uint8Array
}

/** Full bundles make a tree of their own, 256 leaves to each of its leaves. */
async function leadsTo(root: Uint8Array, { cold, size, index, own }: Subtree): Promise<boolean> {
  const nodes = cold.nodes(size)
  const read: HashReader = (wanted) =>
    nodes(wanted.map((node) => ({ level: node.level + BUNDLE_LEVEL, index: node.index })))
  const tree = { index, size: bundleOf(size) }
  try {
    const proof = await proveInclusion(read, tree)
    return verifyInclusion({ ...tree, leafHash: own, proof, root })
  } catch (error) {
    if (error instanceof LedgerError) return false
    throw error
  }
}

const BUNDLE_LEVEL = 8

/** A partial tile or bundle stays beside the wider one, which must begin with it. */
async function checkPartials(
  { cold }: ArchivedCopy,
  place: Omit<Tile, 'width'>,
  whole: readonly Uint8Array[],
): Promise<readonly Finding[]> {
  const index = place.level === 'entries' ? place.index : place.index * TILE_WIDTH ** place.level
  const report = reporter(cold.origin, index)
  const findings: Finding[] = []
  for (const { width, found } of await cold.partials(place)) {
    if (width > whole.length) continue
    const tile = { ...place, width }
    if (found.kind !== 'found') findings.push(...lost(report, found, tile))
    else if (!found.content.every((one, at) => equalBytes(one, whole[at] as Uint8Array))) {
      findings.push(...report('TILE_HASH', `${tilePath(tile)} is not how the full one begins`))
    }
  }
  return findings
}

/** An object may hold more than the database: what was erased there has no key any more. */
async function checkPayloads(
  { db, log, cold }: ArchivedCopy,
  { index, width }: Omit<Tile, 'level'>,
): Promise<readonly Finding[]> {
  if (log === SEAL_LOG) return []
  const report = reporter(cold.origin, index)
  const from = index * TILE_WIDTH
  const stored = await cold.segments(index, width)
  if (stored.kind !== 'found') {
    const name = payloadName(cold.origin, { index, width }).slice(cold.origin.length + 1)
    return report(faultOf(stored.kind), name)
  }
  const range = { chain: log, firstSeq: from, lastSeq: from + width - 1 }
  const keyOf = (one: { seq: number; segment: number }) => `${one.seq}/${one.segment}`
  const copies = new Map(stored.content.map((segment) => [keyOf(segment), segment]))
  const wrong = (await readSegments(db, range)).find((segment) => {
    const copy = copies.get(keyOf(segment))
    return (
      copy === undefined ||
      copy.subjectRef !== segment.subjectRef ||
      !copy.nonce.equals(segment.nonce) ||
      !copy.ciphertext.equals(segment.ciphertext)
    )
  })
  return wrong === undefined
    ? []
    : report('TILE_HASH', 'a payload segment is not the one that is archived', wrong.seq - from)
}

/** What fills no bundle yet: as the database has it, which no day of it has left. `tail` is how far it was archived. */
export async function checkTail(
  copy: ArchivedCopy & { readonly db: Snapshot },
  tail: ArchivePosition['tail'],
): Promise<readonly Finding[]> {
  const { db, log, cold, size } = copy
  const { origin } = cold
  const [index, width] = [bundleOf(size), tail - size]
  if (width <= 0) return []
  const report = reporter(origin, index)
  const entries = await readEntries(db, { log, origin }, { from: size, to: tail })
  if ('rule' in entries) return [entries]
  const hashes = entries.map(hashLeaf)
  const places = [
    { place: { level: 'entries', index }, found: await cold.bundle(index, width), whole: entries },
    { place: { level: 0, index }, found: await cold.tile(0, index, width), whole: hashes },
  ] as const
  const findings: Finding[] = []
  for (const { place, found, whole } of places) {
    const differs = (one: Uint8Array, at: number) =>
      !equalBytes(found.kind === 'found' ? (found.content[at] as Uint8Array) : one, one)
    if (found.kind !== 'found') findings.push(...lost(report, found, { ...place, width }))
    else if (whole.some(differs)) {
      findings.push(
        ...report('TILE_HASH', `${tilePath({ ...place, width })} is not what the database has`),
      )
    }
    findings.push(...(await checkPartials(copy, place, whole)))
  }
  return [
    ...findings,
    ...(await checkPayloads(copy, { index, width })),
    ...(await checkUpperTails(copy)),
  ]
}

/** The tiles above that are not full yet, stored when the tail was. */
async function checkUpperTails(copy: ArchivedCopy): Promise<readonly Finding[]> {
  const { cold, size } = copy
  const findings: Finding[] = []
  for (let level = 1; TILE_WIDTH ** level <= size; level += 1) {
    const items = Math.floor(size / TILE_WIDTH ** level)
    const place = { level, index: bundleOf(items) }
    const width = items % TILE_WIDTH
    if (width === 0) continue
    const below: Uint8Array[] = []
    for (let at = 0; at < width; at += 1) {
      const child = { level: level - 1, index: place.index * TILE_WIDTH + at, width: TILE_WIDTH }
      const hashes = await cold.hashes(child).catch(unreadable)
      // Its own bundle says so.
      if (hashes === undefined) return findings
      below.push(rootOf(hashes))
    }
    const report = reporter(cold.origin, bundleOf(size))
    const found = await cold.tile(level, place.index, width)
    if (found.kind !== 'found') findings.push(...lost(report, found, { ...place, width }))
    else if (level === 1 && (await isOtherwiseRight(copy, below, found.content))) continue
    findings.push(...(await checkPartials(copy, place, below)))
  }
  return findings
}

/** Whether a hash tile below is what was changed: its own bundle says so. Without a root nobody can say which of the two. */
async function isOtherwiseRight(
  { cold, size, root }: ArchivedCopy,
  below: readonly Uint8Array[],
  stored: readonly Uint8Array[],
): Promise<boolean> {
  const at = below.findIndex((own, slot) => !equalBytes(own, stored[slot] as Uint8Array))
  if (at < 0) return false
  if (root === undefined) return true
  const index = bundleOf(size) - below.length + at
  return !(await leadsTo(root, { cold, size, index, own: below[at] as Uint8Array }))
}

function unreadable(error: unknown): undefined {
  if (error instanceof LedgerError) return undefined
  throw error
}

type Report = (rule: FindingRule, what: string, at?: number) => readonly Finding[]

const lost = (
  report: Report,
  { kind }: Found<unknown>,
  place: Omit<Tile, 'width'> & Partial<Tile>,
): readonly Finding[] => report(faultOf(kind), tilePath({ width: TILE_WIDTH, ...place }))

const faultOf = (kind: Found<unknown>['kind']): FindingRule =>
  kind === 'missing' ? 'TILE_MISSING' : 'TILE_UNREADABLE'

const SENTENCES: Partial<Record<FindingRule, string>> = {
  TILE_MISSING: 'is missing from the cold store',
  TILE_UNREADABLE: 'of the cold store cannot be decoded',
}

const reporter =
  (origin: string, index: number): Report =>
  (rule, what, at = 0) => {
    const message = [what, SENTENCES[rule]].filter((part) => part !== undefined).join(' ')
    return [{ origin, seq: index * TILE_WIDTH + at, rule, message }]
  }

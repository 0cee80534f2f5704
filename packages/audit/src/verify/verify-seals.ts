// The seal log, re-derived from its copies: what was signed of each chain, and whether anchors agree.
import {
  createCompactRange,
  encodeUtf8,
  equalBytes,
  fromBase64,
  hashLeaf,
  openNote,
  parseCheckpoint,
  readSealEntry,
  sealFault,
  sealLogOrigin,
  SIGNATURE_TYPES,
  verifierKey,
} from '@baton/ledger'
import type {
  Checkpoint,
  CompactRange,
  Finding,
  FindingRule,
  SealedTasks,
  SealEntry,
} from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import type { Anchor, AnchoredHead } from '../seals/anchors/anchor.ts'
import type { Snapshot } from '../database.ts'
import type { ChainHead } from '../append/heads.ts'
import type { SealTarget } from './sealed-roots.ts'
import { readLastSeal, readWitnessed, scanSeals } from '../seals/seals.ts'

/** Who signs seals and where they were shown; none of it comes from the database. */
export interface SealTrust {
  /** The sealer's Ed25519 public key. */
  readonly publicKey: KeyObject
  /** Anchors that can be asked now. One that does not answer is counted as unasked. */
  readonly anchors: readonly Pick<Anchor, 'name' | 'latest'>[]
}

export interface SealReport {
  /** Entries of the seal log. */
  readonly entries: number
  /** When the newest was made; null when there is none. */
  readonly sealedAt: string | null
  /** Entries that a checkpoint with enough cosignatures, or kept by an anchor, covers. */
  readonly witnessed: number
  /** Anchors that were asked and hold nothing else. */
  readonly anchorsAgreed: number
  readonly anchorsUnasked: number
}

export interface VerifiedSeals {
  readonly report: SealReport
  readonly findings: readonly Finding[]
  /** By origin, in order of size; the newest seal's is the last. */
  readonly targets: ReadonlyMap<string, readonly SealTarget[]>
  /** Of every entry. */
  readonly tree: CompactRange
  /** The map of tasks that the newest seal commits to, and how many records of each chain it holds, by origin. */
  readonly tasks: SealedTasks | undefined
  readonly taskSizes: ReadonlyMap<string, number>
}

/** Roots kept of one chain. A longer list is thinned evenly: the newest always stays. */
const TARGETS_MAX = 8_192

/**
 * Re-hashes every entry of the seal log and compares it with what anchors answered. They are asked before the
 * snapshot is taken: the log grows meanwhile, and what an anchor has, the database had before.
 */
export async function verifySeals(
  snapshot: Snapshot,
  heads: readonly ChainHead[],
  trust: SealTrust,
  anchored: readonly AskedAnchor[],
): Promise<VerifiedSeals> {
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const log = createSealLog(origin)
  const witnessed = await readWitnessed(snapshot)
  for (const { head } of anchored) if (head !== undefined) log.watch(head.size)
  if (witnessed !== undefined) log.watch(witnessed.size)
  for await (const page of scanSeals(snapshot)) for (const row of page) log.next(row)
  const key = verifierKey(origin, SIGNATURE_TYPES.ed25519, rawKey(trust.publicKey))
  const open = (note: string): Checkpoint | undefined => {
    const opened = openNote(encodeUtf8(note), [key])
    return opened.ok ? parseCheckpoint(opened.text) : undefined
  }
  const last = await readLastSeal(snapshot)
  if (last !== undefined) compareNewest(log, open(last.note))
  if (witnessed !== undefined) {
    log.compare(open(witnessed.note), 'the witnessed checkpoint', 'SEAL_SIGNATURE')
  }
  for (const { name, head, foreign } of anchored) {
    if (foreign) log.report(null, 'SEAL_ANCHOR', `the anchor ${name} holds a foreign checkpoint`)
    if (head !== undefined) log.compare(head, `the anchor ${name}`, 'SEAL_ANCHOR')
  }
  return {
    report: reportOf(log, witnessed?.size ?? 0, anchored),
    findings: log.findings,
    targets: log.targets,
    tree: log.tree,
    ...tasksOf(log.newest()),
  }
}

function tasksOf(entry: SealEntry | undefined): Pick<VerifiedSeals, 'tasks' | 'taskSizes'> {
  const { tasks, chains } = entry ?? { tasks: undefined, chains: [] }
  return {
    tasks,
    taskSizes: new Map(chains.map(({ origin }, at) => [origin, tasks?.sizes[at] ?? 0])),
  }
}

function reportOf(
  { tree, newest }: SealLog,
  witnessed: number,
  anchored: readonly AskedAnchor[],
): SealReport {
  const known = anchored.flatMap(({ head }) => (head === undefined ? [] : [head.size]))
  return {
    entries: tree.size,
    sealedAt: newest()?.at ?? null,
    witnessed: Math.min(tree.size, Math.max(witnessed, ...known)),
    anchorsAgreed: known.length,
    anchorsUnasked: anchored.filter(({ answered }) => !answered).length,
  }
}

const rawKey = (key: KeyObject): Uint8Array =>
  Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32))

interface AskedAnchor {
  readonly name: string
  readonly head: AnchoredHead | undefined
  readonly answered: boolean
  readonly foreign: boolean
}

/** Asks every anchor for the newest checkpoint that it has. */
export const askAnchors = (anchors: SealTrust['anchors']): Promise<readonly AskedAnchor[]> =>
  Promise.all(
    anchors.map(async (anchor) => {
      const { name } = anchor
      try {
        return { name, head: await anchor.latest(), answered: true, foreign: false }
      } catch (error) {
        const foreign = (error as { code?: string }).code === 'BATON_ANCHOR_FOREIGN'
        return { name, head: undefined, answered: foreign, foreign }
      }
    }),
  )

/** The seal log while it is read again. */
interface SealLog {
  /** Remembers the root at a size that something will be compared with. */
  watch(size: number): void
  next(row: { readonly seq: number; readonly body: Uint8Array }): void
  report(seq: number | null, rule: FindingRule, message: string): void
  /** That a signed head is the tree of these entries, or of their first ones. */
  compare(head: AnchoredHead | undefined, name: string, rule: FindingRule): void
  readonly findings: readonly Finding[]
  readonly targets: ReadonlyMap<string, readonly SealTarget[]>
  readonly tree: CompactRange
  newest(): SealEntry | undefined
}

function createSealLog(origin: string): SealLog {
  const tree = createCompactRange()
  const findings: Finding[] = []
  const targets = new Map<string, SealTarget[]>()
  const watched = new Map<number, Uint8Array | undefined>()
  let previous: SealEntry | undefined

  function report(seq: number | null, rule: FindingRule, message: string): void {
    findings.push({ origin, seq, rule, message })
  }

  return {
    watch: (size) => void watched.set(size, undefined),
    report,
    next({ seq, body }) {
      if (seq !== tree.size) {
        report(tree.size, 'SEAL_LOG', 'an entry of the seal log is missing')
        while (tree.size < seq) tree.append(hashLeaf(new Uint8Array(0)))
      }
      tree.append(hashLeaf(body))
      if (watched.has(tree.size)) watched.set(tree.size, tree.root())
      const entry = readSealEntry(body)
      if (entry === undefined) return report(seq, 'SEAL_LOG', 'the entry cannot be read')
      const fault = previous === undefined ? undefined : sealFault(previous, entry)
      if (fault !== undefined) {
        report(seq, 'SEAL_LOG', `the entry cannot follow the one before it: ${fault}`)
      }
      previous = entry
      for (const { origin: chain, size, root } of entry.chains) {
        addTarget(targets, chain, { size, root: fromBase64(root) as Uint8Array })
      }
    },
    compare(head, name, rule) {
      const { size } = tree
      if (head === undefined) return report(null, rule, `${name} is not signed by the sealer`)
      if (head.size > size) {
        return report(size, rule, `${name} knows ${head.size} seals, the database has ${size}`)
      }
      if (head.root === null || head.size === 0) return
      const root = head.size === size ? tree.root() : watched.get(head.size)
      if (root !== undefined && equalBytes(root, head.root)) return
      report(head.size - 1, rule, `${name} knows another seal log up to here`)
    },
    findings,
    targets,
    tree,
    newest: () => previous,
  }
}

function addTarget(targets: Map<string, SealTarget[]>, origin: string, target: SealTarget): void {
  const known = targets.get(origin) ?? []
  targets.set(origin, known)
  if (known.at(-1)?.size === target.size) return
  known.push(target)
  if (known.length <= TARGETS_MAX) return
  const thinned = known.filter((_, at) => at % 2 === 1 || at === known.length - 1)
  targets.set(origin, thinned)
}

/** An entry that was added without the key could carry the note of the entry before it. */
function compareNewest(log: SealLog, head: AnchoredHead | undefined): void {
  const { size } = log.tree
  if (head === undefined || head.size >= size) {
    return log.compare(head, 'the newest checkpoint', 'SEAL_SIGNATURE')
  }
  const message = `the newest checkpoint covers ${head.size} entries, there are ${size}`
  log.report(head.size, 'SEAL_SIGNATURE', message)
}

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
import type { Checkpoint, CompactRange, Finding, FindingRule, SealEntry } from '@baton/ledger'
import type { KeyObject } from 'node:crypto'
import type { Anchor, AnchoredHead } from '../seals/anchors/anchor.ts'
import type { Snapshot } from '../database.ts'
import type { ChainHead } from '../append/heads.ts'
import type { SealTarget } from '../seals/sealed-roots.ts'
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
}

/** Roots kept of one chain. A longer list is thinned evenly: the newest always stays. */
const TARGETS_MAX = 8_192

/** Re-hashes every entry of the seal log and asks the anchors. */
export async function verifySeals(
  snapshot: Snapshot,
  heads: readonly ChainHead[],
  trust: SealTrust,
): Promise<VerifiedSeals> {
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const log = new SealLog(origin)
  const anchored = await askAnchors(trust.anchors)
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
  if (last !== undefined) log.compareNewest(open(last.note))
  if (witnessed !== undefined) {
    log.compare(open(witnessed.note), 'the witnessed checkpoint', 'SEAL_SIGNATURE')
  }
  for (const { name, head, foreign } of anchored) {
    if (foreign) log.report(null, 'SEAL_ANCHOR', `the anchor ${name} holds a foreign checkpoint`)
    if (head !== undefined) log.compare(head, `the anchor ${name}`, 'SEAL_ANCHOR')
  }
  return log.finish({ witnessed: witnessed?.size ?? 0, anchored })
}

const rawKey = (key: KeyObject): Uint8Array =>
  Uint8Array.from(key.export({ format: 'der', type: 'spki' }).subarray(-32))

interface AskedAnchor {
  readonly name: string
  readonly head: AnchoredHead | undefined
  readonly answered: boolean
  readonly foreign: boolean
}

const askAnchors = (anchors: SealTrust['anchors']): Promise<readonly AskedAnchor[]> =>
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

class SealLog {
  readonly #origin: string
  readonly #tree = createCompactRange()
  readonly #findings: Finding[] = []
  readonly #targets = new Map<string, SealTarget[]>()
  readonly #watched = new Map<number, Uint8Array | undefined>()
  #previous: SealEntry | undefined

  constructor(origin: string) {
    this.#origin = origin
  }

  /** Remembers the root at a size that something will be compared with. */
  watch(size: number): void {
    this.#watched.set(size, undefined)
  }

  report(seq: number | null, rule: FindingRule, message: string): void {
    this.#findings.push({ origin: this.#origin, seq, rule, message })
  }

  next({ seq, body }: { readonly seq: number; readonly body: Uint8Array }): void {
    if (seq !== this.#tree.size) {
      this.report(this.#tree.size, 'SEAL_LOG', 'an entry of the seal log is missing')
      while (this.#tree.size < seq) this.#tree.append(hashLeaf(new Uint8Array(0)))
    }
    this.#tree.append(hashLeaf(body))
    if (this.#watched.has(this.#tree.size)) this.#watched.set(this.#tree.size, this.#tree.root())
    const entry = readSealEntry(body)
    if (entry === undefined) return this.report(seq, 'SEAL_LOG', 'the entry cannot be read')
    const fault = this.#previous === undefined ? undefined : sealFault(this.#previous, entry)
    if (fault !== undefined) {
      this.report(seq, 'SEAL_LOG', `the entry cannot follow the one before it: ${fault}`)
    }
    this.#previous = entry
    for (const chain of entry.chains) {
      const root = fromBase64(chain.root) as Uint8Array
      this.#addTarget(chain.origin, { size: chain.size, root })
    }
  }

  #addTarget(origin: string, target: SealTarget): void {
    const targets = this.#targets.get(origin) ?? []
    this.#targets.set(origin, targets)
    if (targets.at(-1)?.size === target.size) return
    targets.push(target)
    if (targets.length <= TARGETS_MAX) return
    const thinned = targets.filter((_, at) => at % 2 === 1 || at === targets.length - 1)
    this.#targets.set(origin, thinned)
  }

  /** An entry that was added without the key could carry the note of the entry before it. */
  compareNewest(head: AnchoredHead | undefined): void {
    const size = this.#tree.size
    if (head === undefined || head.size >= size) {
      return this.compare(head, 'the newest checkpoint', 'SEAL_SIGNATURE')
    }
    const message = `the newest checkpoint covers ${head.size} entries, there are ${size}`
    this.report(head.size, 'SEAL_SIGNATURE', message)
  }

  /** That a signed head is the tree of these entries, or of their first ones. */
  compare(head: AnchoredHead | undefined, name: string, rule: FindingRule): void {
    const size = this.#tree.size
    if (head === undefined) return this.report(null, rule, `${name} is not signed by the sealer`)
    if (head.size > size) {
      const message = `${name} knows ${head.size} seals, the database has ${size}`
      return this.report(size, rule, message)
    }
    if (head.root === null || head.size === 0) return
    const root = head.size === size ? this.#tree.root() : this.#watched.get(head.size)
    if (root !== undefined && equalBytes(root, head.root)) return
    this.report(head.size - 1, rule, `${name} knows another seal log up to here`)
  }

  finish({
    witnessed,
    anchored,
  }: {
    readonly witnessed: number
    readonly anchored: readonly AskedAnchor[]
  }): VerifiedSeals {
    const known = anchored.flatMap(({ head }) => (head === undefined ? [] : [head.size]))
    const report: SealReport = {
      entries: this.#tree.size,
      sealedAt: this.#previous?.at ?? null,
      witnessed: Math.min(this.#tree.size, Math.max(witnessed, 0, ...known)),
      anchorsAgreed: known.length,
      anchorsUnasked: anchored.filter(({ answered }) => !answered).length,
    }
    return { report, findings: this.#findings, targets: this.#targets, tree: this.#tree }
  }
}

// The seal log, re-derived from its copies: what was signed of each chain, and whether everybody who has seen it agrees.
import {
  compactRangeFromState,
  createCompactRange,
  equalBytes,
  fromBase64,
  hashLeaf,
  openSealNote,
  readSealEntry,
  sealLogOrigin,
} from '@baton/ledger'
import type {
  Checkpoint,
  CompactRange,
  Finding,
  ProvenHandover,
  SealedTasks,
  SealEntry,
  SealKeys,
} from '@baton/ledger'
import type { Snapshot } from '../database.ts'
import type { ChainHead } from '../append/heads.ts'
import { positionOf, readArchivePositions, SEAL_LOG } from '../cold/archive-positions.ts'
import { rawKey } from '../seals/read-seal-keys.ts'
import type { SealerKnowledge } from '../seals/sealer-state.ts'
import {
  readChainCheckpoints,
  readLastSeal,
  readProposedSeal,
  readWitnessed,
  scanSeals,
} from '../seals/seals.ts'
import type { WitnessedRow } from '../seals/seals.ts'
import type { AskedAnchor, Comparison, Outside, SealTrust } from './ask-outside.ts'
import type { SealTarget } from './sealed-roots.ts'
import { createSealLog } from './seal-log.ts'
import type { SealLog } from './seal-log.ts'

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
  /** From which key to which the log was handed, in order. */
  readonly handovers: readonly SealHandover[]
  /** Whether the key that is trusted here is the one that signs now: with one of before, a thief of it is believed. */
  readonly isKeyInForce: boolean
}

/** One change of the key that signs seals. */
export interface SealHandover {
  /** The place of the last seal that the key of before signed. */
  readonly seal: number
  readonly at: string
  /** Ids of the keys in the seal log. */
  readonly from: string
  readonly to: string
}

export interface VerifiedSeals {
  readonly report: SealReport
  /** Everything that the seal log was compared with, in the order of who is least in the database's reach. */
  readonly compared: readonly Comparison[]
  readonly findings: readonly Finding[]
  /** Whose signatures count in this log. */
  readonly keys: SealKeys
  /** By origin, in order of size; the newest seal's is the last. */
  readonly targets: ReadonlyMap<string, readonly SealTarget[]>
  /** The map of tasks that the newest seal commits to, and how many records of each chain it holds, by origin. */
  readonly tasks: SealedTasks | undefined
  readonly taskSizes: ReadonlyMap<string, number>
  /** The sizes of the chains under the first seal of version 2: what came later was appended by this version. */
  readonly secondFrom: ReadonlyMap<string, number>
  /** Of every entry. */
  readonly tree: CompactRange
  /** The root over the entries that are archived; undefined where there are fewer. */
  readonly archivedRoot: Uint8Array | undefined
}

/**
 * Re-hashes every entry of the seal log and compares it with its copies, and with what others outside answered. The newest note
 * vouches for all entries; those before it are opened too where `full` says so.
 */
export async function verifySeals(
  snapshot: Snapshot,
  heads: readonly ChainHead[],
  trust: Pick<SealTrust, 'publicKey'> & { readonly full?: boolean },
  { anchors, state }: Outside,
): Promise<VerifiedSeals> {
  const origin = sealLogOrigin(heads[0]?.origin ?? '')
  const log = createSealLog(origin)
  const witnessed = await readWitnessed(snapshot)
  const { size: archived } = positionOf(await readArchivePositions(snapshot), SEAL_LOG)
  log.watch(archived)
  for (const { head } of anchors) if (head !== undefined) log.watch(head.size)
  if (witnessed !== undefined) log.watch(witnessed.size)
  if (state.known !== undefined) log.watch(state.known.tree.size)
  for await (const page of scanSeals(snapshot)) for (const row of page) log.next(row)
  const keys = log.keysFrom(rawKey(trust.publicKey))
  const open = openerOf(log, origin, keys)
  if (trust.full === true) await compareNotes(snapshot, log, { origin, keys })
  const last = await readLastSeal(snapshot)
  if (last !== undefined) compareNewest(log, open(last.note))
  const isSound = log.findings.length === 0
  const copy = compareCosigned(log, witnessed, { open, state: state.known })
  const proposed = (await readProposedSeal(snapshot, log.tree.size))?.body
  const compared = [
    ...anchors.map((anchor) => compareAnchor(log, anchor, proposed)),
    ...compareState(log, state),
    ...(copy === undefined ? [] : [copy]),
    ...(isSound ? await compareChainCheckpoints(snapshot, heads, { log, open }) : []),
  ]
  return {
    report: {
      ...reportOf(log, compared),
      handovers: keys.handovers.map(handoverOf),
      isKeyInForce: equalBytes(keys.publicKeys.at(-1) as Uint8Array, rawKey(trust.publicKey)),
    },
    keys,
    compared,
    findings: log.findings,
    targets: log.targets,
    tree: log.tree,
    ...tasksOf(log.newest()),
    secondFrom: log.secondFrom,
    archivedRoot: log.rootAt(archived),
  }
}

function tasksOf(entry: SealEntry | undefined): Pick<VerifiedSeals, 'tasks' | 'taskSizes'> {
  const { tasks, chains } = entry ?? { tasks: undefined, chains: [] }
  return {
    tasks,
    taskSizes: new Map(chains.map(({ origin }, at) => [origin, tasks?.sizes[at] ?? 0])),
  }
}

const handoverOf = ({ seq, from, to, entry }: ProvenHandover): SealHandover => ({
  seal: seq,
  at: entry.at,
  from: from.keyId,
  to: to.keyId,
})

type Opener = (note: string, name?: string) => Checkpoint | undefined

/** Undefined where the key in force did not sign it; that a key did which had been handed over is told by itself. */
const openerOf =
  (log: SealLog, origin: string, keys: SealKeys): Opener =>
  (note, name = origin) => {
    const opened = openSealNote(note, name, keys)
    if (opened.ok) return opened.checkpoint
    if (opened.reason === 'retired') {
      log.add({ origin: name, seq: null, rule: 'SEAL_KEY', message: RETIRED })
    }
    return undefined
  }

const RETIRED = 'a checkpoint is signed with a key that was not in force for a log of its size'

function reportOf(
  { tree, newest }: SealLog,
  compared: readonly Comparison[],
): Omit<SealReport, 'handovers' | 'isKeyInForce'> {
  const anchors = compared.filter(({ name, outside }) => outside && name !== STATE)
  const seen = compared.filter(({ name }) => name !== STATE && name !== CHECKPOINTS)
  const known = anchors.filter(({ outcome }) => outcome === 'agreed')
  return {
    entries: tree.size,
    sealedAt: newest()?.at ?? null,
    witnessed: Math.min(tree.size, Math.max(0, ...seen.map(({ seals }) => seals ?? 0))),
    anchorsAgreed: known.length,
    anchorsUnasked: anchors.filter(({ outcome }) => outcome === 'not reachable').length,
  }
}

const STATE = 'sealer state'
const COSIGNED = 'cosigned copy'
const CHECKPOINTS = 'chain checkpoints'

/** What it says of the chains, they must hold too. */
function knowsNext(
  log: SealLog,
  head: AskedAnchor['head'],
  proposed: Uint8Array | undefined,
): boolean {
  const next = proposed && readSealEntry(proposed)
  const root = head?.size === log.tree.size + 1 ? head.root : null
  if (proposed === undefined || next === undefined || root === null) return false
  if (!equalBytes(root, log.rootWith(proposed))) return false
  log.expect(next)
  return true
}

/** Where a witness is asked first, the database may lack the newest seal, and no other: it is kept there as the next one. */
function compareAnchor(
  log: SealLog,
  anchor: AskedAnchor,
  proposed: Uint8Array | undefined,
): Comparison {
  const { name, head, answered, foreign, acknowledged } = anchor
  const row = { name, outside: true, seals: head?.size ?? null, at: head?.at ?? null }
  if (knowsNext(log, head, proposed)) return { ...row, outcome: 'agreed' }
  if (foreign) {
    log.report(null, 'SEAL_ANCHOR', `the anchor ${name} holds a foreign checkpoint`)
    return { ...row, outcome: 'differs' }
  }
  if (!answered) return { ...row, outcome: 'not reachable' }
  const size = head?.size ?? 0
  if (head !== undefined) {
    const rules = { unsigned: 'SEAL_ANCHOR', more: 'SEAL_ANCHOR', other: 'SEAL_ANCHOR' } as const
    if (!log.compare(head, `the anchor ${name}`, rules)) return { ...row, outcome: 'differs' }
  }
  if (size >= acknowledged) return { ...row, outcome: size === 0 ? 'nothing' : 'agreed' }
  if (size === 0) {
    const message = `the anchor ${name} knows nothing, and has acknowledged ${acknowledged} seals`
    log.report(null, 'ANCHOR_MISSING', message)
    return { ...row, outcome: 'missing' }
  }
  const message = `the anchor ${name} knows ${size} seals, and has acknowledged ${acknowledged}`
  log.report(size, 'ANCHOR_CUT', message)
  return { ...row, outcome: 'cut' }
}

/** The sealer writes its state before anything else has a seal: the database may lack the newest, and no other. */
function compareState(log: SealLog, { known, asked, answered }: Outside['state']): Comparison[] {
  if (!asked) return []
  const row = { name: STATE, outside: true }
  if (known === undefined) {
    const outcome = answered ? 'nothing' : 'not reachable'
    return [{ ...row, seals: null, at: null, outcome }]
  }
  const { tree, newest } = known
  const { size } = log.tree
  const told = { ...row, seals: tree.size, at: newest.entry.at }
  if (tree.size > size) log.expect(newest.entry)
  const isUnpublished = tree.size === size + 1
  if (tree.size > size + 1) {
    const message = `the sealer has signed ${tree.size} seals, the database has ${size}`
    log.report(size, 'SEAL_GONE', message)
    return [{ ...told, outcome: 'differs' }]
  }
  const root = isUnpublished ? log.rootWith(newest.body) : log.rootAt(tree.size)
  if (root !== undefined && equalBytes(root, compactRangeFromState(tree).root())) {
    return [{ ...told, outcome: 'agreed' }]
  }
  log.report(tree.size - 1, 'SEAL_STATE', 'the sealer has signed another seal log up to here')
  return [{ ...told, outcome: 'differs' }]
}

interface CopyOptions {
  readonly open: Opener
  readonly state: SealerKnowledge | undefined
}

/** The database's own copy of what was seen outside: labels rest on it, and nothing else does. */
function compareCosigned(
  log: SealLog,
  copy: WitnessedRow | undefined,
  { open, state }: CopyOptions,
): Comparison | undefined {
  const expected = state === undefined ? 0 : cosignedBy(state)
  const row = { name: COSIGNED, outside: false, seals: copy?.size ?? null, at: null }
  if (copy === undefined) {
    if (expected === 0) return undefined
    log.report(null, 'SEAL_COPY', `the cosigned checkpoint of ${expected} seals is gone`)
    return { ...row, outcome: 'missing' }
  }
  const opened = open(copy.note)
  const head = opened?.size === copy.size ? opened : undefined
  const rules = { unsigned: 'SEAL_COPY', more: 'SEAL_GONE', other: 'SEAL_COPY' } as const
  if (!log.compare(head, 'the cosigned checkpoint', rules)) return { ...row, outcome: 'differs' }
  if (copy.size >= expected) return { ...row, outcome: 'agreed' }
  const message = `the cosigned checkpoint covers ${copy.size} seals, ${expected} were cosigned`
  log.report(copy.size, 'SEAL_COPY', message)
  return { ...row, outcome: 'cut' }
}

/** With one witness, or none, what was cosigned last is what that one, or any anchor, acknowledged; with several, nobody but the quorum can say. */
function cosignedBy({ acknowledged }: SealerKnowledge): number {
  const witnesses = [...acknowledged].filter(([name]) => name.startsWith('witness '))
  if (witnesses.length > 1) return 0
  const counted = witnesses.length === 1 ? witnesses : [...acknowledged]
  return Math.max(0, ...counted.map(([, size]) => size))
}

interface CheckpointOptions {
  readonly log: SealLog
  readonly open: Opener
}

/** Each chain's own checkpoint is stored with the newest seal, in one transaction. */
async function compareChainCheckpoints(
  snapshot: Snapshot,
  heads: readonly ChainHead[],
  { log, open }: CheckpointOptions,
): Promise<readonly Comparison[]> {
  const entry = log.newest()
  const rows = new Map((await readChainCheckpoints(snapshot)).map((row) => [row.chain, row]))
  if (entry === undefined && rows.size === 0) return []
  const before = log.findings.length
  for (const { chain, origin } of heads) {
    const sealed = entry?.chains.find((one) => one.origin === origin)
    const row = rows.get(chain)
    const head = row && open(row.note, origin)
    const of = { origin, rule: 'SEAL_COPY' } as const
    if (sealed === undefined) {
      if (head !== undefined) log.add({ ...of, rule: 'SEAL_GONE', seq: null, message: NO_SEAL })
    } else if (row === undefined) {
      log.add({ ...of, seq: null, message: 'the signed checkpoint of the chain is gone' })
    } else if (head === undefined || head.size !== row.size) {
      log.add({ ...of, seq: null, message: 'the checkpoint of the chain is not the sealer’s' })
    } else if (head.size > sealed.size) {
      const message = `the chain has a checkpoint of ${head.size} records, the newest seal covers ${sealed.size}`
      log.add({ ...of, rule: 'SEAL_GONE', seq: sealed.size, message })
    } else if (head.size < sealed.size || !isSealedRoot(head, sealed.root)) {
      const message = `the checkpoint of the chain covers ${head.size} records, the newest seal ${sealed.size}`
      log.add({ ...of, seq: head.size, message })
    }
  }
  const outcome = log.findings.length === before ? 'agreed' : 'differs'
  const at = log.newest()?.at ?? null
  return [{ name: CHECKPOINTS, outside: false, seals: log.tree.size, at, outcome }]
}

const NO_SEAL = 'the chain has a signed checkpoint, and no seal covers it'

const isSealedRoot = ({ root }: Checkpoint, sealed: SealEntry['chains'][number]['root']): boolean =>
  equalBytes(root, fromBase64(sealed) ?? new Uint8Array(0))

/** Each note must be the one that the key in force signed of the entries up to it. */
async function compareNotes(
  snapshot: Snapshot,
  log: SealLog,
  { origin, keys }: { readonly origin: string; readonly keys: SealKeys },
): Promise<void> {
  const tree = createCompactRange()
  for await (const page of scanSeals(snapshot)) {
    for (const { seq, body, note } of page) {
      tree.append(hashLeaf(body))
      const opened = openSealNote(note, origin, keys)
      const head = opened.ok ? opened.checkpoint : undefined
      if (head?.size === tree.size && equalBytes(head.root, tree.root())) continue
      const isRetired = !opened.ok && opened.reason === 'retired'
      const message = isRetired
        ? RETIRED
        : 'the note of this seal is not the one that the sealer signed'
      log.report(seq, isRetired ? 'SEAL_KEY' : 'SEAL_SIGNATURE', message)
    }
  }
}

/** An entry that was added without the key could carry the note of the entry before it. */
function compareNewest(log: SealLog, head: Checkpoint | undefined): void {
  const { size } = log.tree
  if (head === undefined || head.size >= size) {
    const rules = {
      unsigned: 'SEAL_SIGNATURE',
      more: 'SEAL_GONE',
      other: 'SEAL_SIGNATURE',
    } as const
    return void log.compare(head, 'the newest checkpoint', rules)
  }
  const message = `the newest checkpoint covers ${head.size} entries, there are ${size}`
  log.report(head.size, 'SEAL_SIGNATURE', message)
}

// Which key signs which part of a log: followed from any one of them through the hand-overs that the seal log proves.
import { encodeUtf8, equalBytes, fromBase64, toBase64 } from './bytes.ts'
import { canonicalJson } from './canonical-json.ts'
import { verifyEd25519 } from './ed25519.ts'
import { LedgerError } from './ledger-error.ts'
import { readVerifierKey, SIGNATURE_TYPES, verifierKey } from './note/key.ts'
import type { VerifierKey } from './note/key.ts'
import { openNote } from './note/note.ts'
import { readSealEntry } from './seal-entry.ts'
import type { Handover, SealEntry } from './seal-entry.ts'
import { parseCheckpoint } from './tlog/checkpoint.ts'
import type { Checkpoint } from './tlog/checkpoint.ts'
import { hashChildren, hashLeaf } from './tree/hash.ts'
import { verifyInclusion } from './tree/verify.ts'

/** A hand-over that both keys signed. */
export interface ProvenHandover {
  /** Its place in the seal log: the key of before signs no tree of it that is larger than `seq + 1`. */
  readonly seq: number
  readonly from: VerifierKey
  readonly to: VerifierKey
  readonly entry: SealEntry
}

/** The keys of one log in the order in which they were in force: one more than hand-overs. */
export interface SealKeys {
  /** Of 32 bytes each. */
  readonly publicKeys: readonly Uint8Array[]
  readonly handovers: readonly ProvenHandover[]
}

/** What it takes to prove one hand-over. */
export interface HandoverEvidence {
  /** The exact bytes of the entry. */
  readonly entry: Uint8Array
  /** That it is the last leaf of the tree of `note`. */
  readonly path: readonly Uint8Array[]
  /** The checkpoint of the seal log that ends in it. */
  readonly note: string
}

/** Why a hand-over is none, in words. */
export const HANDOVER_FAULTS = {
  ENTRY: 'the entry is no hand-over, or names other places than those of the hand-overs',
  KEYS: 'it does not name two keys of this log',
  FROM: 'it hands over a key that was not in force',
  RETURNED: 'it hands over to a key that was in force before',
  PROOF: 'the new key did not sign it',
  UNSIGNED: 'the key that was in force did not sign the checkpoint that ends in it',
  TREE: 'it does not stand under the checkpoint that ends in it',
  UNTRUSTED: 'none of the keys of the log is one that is trusted here',
} as const

export type HandoverFault = keyof typeof HANDOVER_FAULTS

export type ResolvedSealKeys =
  | { readonly ok: true; readonly keys: SealKeys }
  | {
      readonly ok: false
      readonly fault: HandoverFault
      /** Which of the hand-overs; null where it is all of them together. */
      readonly at: number | null
    }

/** The keys of a log that was never handed over. */
export const singleSealKey = (publicKey: Uint8Array): SealKeys => ({
  publicKeys: [publicKey],
  handovers: [],
})

/** Out of hand-overs that need no proof: whoever signs the log has made them, or proven them, before. */
export function sealKeysOf(entries: readonly SealEntry[]): SealKeys {
  const handovers = entries.flatMap((entry): ProvenHandover[] => {
    const { handover, handovers: [...places] = [] } = entry
    if (handover === undefined) return []
    const [from, to] = [readVerifierKey(handover.from), readVerifierKey(handover.to)]
    return [{ seq: places.at(-1) ?? 0, from, to, entry }]
  })
  const [first] = handovers
  const keys = first === undefined ? [] : [first.from, ...handovers.map(({ to }) => to)]
  return { publicKeys: keys.map(({ publicKey }) => publicKey), handovers }
}

/** The entry without what is signed last. */
export type UnsignedHandover = Omit<SealEntry, 'handover'> & {
  readonly handovers: readonly number[]
  readonly handover: Omit<Handover, 'proof'>
}

/**
 * What the new key signs: everything that stands in the log before the hand-over, and the entry itself. Whoever
 * trusts the new key alone is therefore shown no other past, even by somebody who has the old one.
 */
export function handoverStatement(entry: UnsignedHandover, rootBefore: Uint8Array): string {
  const { handover, handovers } = entry
  const { from, to } = handover
  const [origin = ''] = to.split('+', 1)
  const stated = canonicalJson({ ...entry, handover: { from, to } })
  return `baton/seal-handover/v1\n${origin}\n${handovers.at(-1)}\n${toBase64(rootBefore)}\n${stated}\n`
}

/** Whether a key may have signed a tree of so many leaves of a log. At the edge both have: chains stand still. */
function isInForce(
  { handovers }: SealKeys,
  at: number,
  { origin, size }: Pick<Checkpoint, 'origin' | 'size'>,
): boolean {
  const [from, until] = [handovers[at - 1], handovers[at]]
  const isLate = from === undefined || size >= firstSize(from, origin)
  return isLate && (until === undefined || size <= lastSize(until, origin))
}

/** The largest tree of a log that the key of before has signed. */
const lastSize = ({ seq, from, entry }: ProvenHandover, origin: string): number =>
  origin === from.name
    ? seq + 1
    : (entry.chains.find((chain) => chain.origin === origin)?.size ?? 0)

const firstSize = (handover: ProvenHandover, origin: string): number =>
  lastSize(handover, origin) + Number(origin === handover.from.name)

export type OpenedSealNote =
  | { readonly ok: true; readonly checkpoint: Checkpoint; readonly key: VerifierKey }
  /** `retired`: signed with a key of the log that was not in force for a tree of this size. */
  | { readonly ok: false; readonly reason: 'unsigned' | 'retired' }

/** Opens a checkpoint of the seal log or of a chain, signed with the key that was in force at its size. */
export function openSealNote(note: string, origin: string, keys: SealKeys): OpenedSealNote {
  const known = keys.publicKeys.map((key) => verifierKey(origin, SIGNATURE_TYPES.ed25519, key))
  const opened = openNote(encodeUtf8(note), known)
  const checkpoint = opened.ok ? parseCheckpoint(opened.text) : undefined
  if (!opened.ok || checkpoint?.origin !== origin) return { ok: false, reason: 'unsigned' }
  const at = known.findIndex(
    ({ keyId }, index) =>
      opened.signatures.some((signature) => signature.keyId === keyId) &&
      isInForce(keys, index, checkpoint),
  )
  const key = known[at]
  return key === undefined ? { ok: false, reason: 'retired' } : { ok: true, checkpoint, key }
}

/** The keys of a log out of its hand-overs, in order. All of them must hold, and one key must be trusted. */
export function resolveSealKeys(
  origin: string,
  trusted: readonly Uint8Array[],
  handovers: readonly HandoverEvidence[],
): ResolvedSealKeys {
  const proven: ProvenHandover[] = []
  for (const [at, evidence] of handovers.entries()) {
    const next = proveHandover(origin, proven, evidence)
    if (typeof next === 'string') return { ok: false, fault: next, at }
    proven.push(next)
  }
  const [first] = proven
  const isTrusted = ({ publicKey }: VerifierKey): boolean =>
    trusted.some((key) => equalBytes(key, publicKey))
  const keys = first === undefined ? [] : [first.from, ...proven.map(({ to }) => to)]
  if (!keys.some(isTrusted)) return { ok: false, fault: 'UNTRUSTED', at: null }
  return {
    ok: true,
    keys: { publicKeys: keys.map(({ publicKey }) => publicKey), handovers: proven },
  }
}

function proveHandover(
  origin: string,
  before: readonly ProvenHandover[],
  { entry: bytes, path, note }: HandoverEvidence,
): ProvenHandover | HandoverFault {
  const entry = readSealEntry(bytes)
  const { handover, handovers = [] } = entry ?? {}
  const seq = handovers.at(-1)
  if (entry === undefined || handover === undefined || seq === undefined) return 'ENTRY'
  if (String(handovers.slice(0, -1)) !== String(before.map((one) => one.seq))) return 'ENTRY'
  const keys = readKeys(origin, before, handover)
  if (typeof keys === 'string') return keys
  const { from, to } = keys
  const opened = openSealNote(note, origin, singleSealKey(from.publicKey))
  if (!opened.ok || opened.checkpoint.size !== seq + 1) return 'UNSIGNED'
  const { root } = opened.checkpoint
  const claim = { index: seq, size: seq + 1, leafHash: hashLeaf(bytes), proof: path, root }
  if (!verifyInclusion(claim)) return 'TREE'
  const stated = handoverStatement({ ...entry, handovers, handover }, rootBeforeLast(path))
  const proof = fromBase64(handover.proof) ?? new Uint8Array(0)
  if (!verifyEd25519(to.publicKey, encodeUtf8(stated), proof)) return 'PROOF'
  return { seq, from, to, entry }
}

/** From the key in force, to one that never was. */
function readKeys(
  origin: string,
  before: readonly ProvenHandover[],
  handover: Handover,
): { readonly from: VerifierKey; readonly to: VerifierKey } | HandoverFault {
  const [from, to] = [readLogKey(handover.from, origin), readLogKey(handover.to, origin)]
  if (from === undefined || to === undefined) return 'KEYS'
  const earlier = [...before.slice(0, 1).map((one) => one.from), ...before.map((one) => one.to)]
  const inForce = earlier.at(-1) ?? from
  if (!equalBytes(from.publicKey, inForce.publicKey)) return 'FROM'
  const isReturned = [from, ...earlier].some((key) => equalBytes(key.publicKey, to.publicKey))
  return isReturned ? 'RETURNED' : { from, to }
}

/** On the way of a last leaf lie the roots of the full subtrees before it, the smallest first: folded, they are the tree without it. */
const rootBeforeLast = ([first, ...rest]: readonly Uint8Array[]): Uint8Array =>
  rest.reduce((right, left) => hashChildren(left, right), first as Uint8Array)

function readLogKey(text: string, origin: string): VerifierKey | undefined {
  try {
    const key = readVerifierKey(text)
    return key.name === origin && key.type === SIGNATURE_TYPES.ed25519 ? key : undefined
  } catch (error) {
    if (error instanceof LedgerError) return undefined
    throw error
  }
}

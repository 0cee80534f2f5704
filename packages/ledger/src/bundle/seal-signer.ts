// Whose signature counts on the checkpoint of a bundle's seal: a key of the policy, or the one that the hand-overs in the bundle lead to from there.
import { encodeUtf8, equalBytes, fromBase64 } from '../bytes.ts'
import { formatVerifierKey, SIGNATURE_TYPES, verifierKey } from '../note/key.ts'
import type { VerifierKey } from '../note/key.ts'
import { splitNote } from '../note/note.ts'
import { readSealEntry } from '../seal-entry.ts'
import type { SealEntry } from '../seal-entry.ts'
import { HANDOVER_FAULTS, openSealNote, resolveSealKeys } from '../seal-keys.ts'
import type { HandoverEvidence, SealKeys } from '../seal-keys.ts'
import { parseCheckpoint } from '../tlog/checkpoint.ts'
import type { Checkpoint } from '../tlog/checkpoint.ts'
import type { AuditorPolicy } from './auditor-policy.ts'
import type { BundleHandover } from './format.ts'

export interface SealSigners {
  /** Keys whose lines in the checkpoint are checked at all. */
  readonly known: readonly VerifierKey[]
  /** Those of them that may have signed a tree of its size. */
  readonly inForce: readonly VerifierKey[]
  /** What is wrong with the hand-overs, or with whoever they lead to. */
  readonly fault: string | undefined
  /** What the reader's own trust leaves open: their key is one that was handed over. */
  readonly open: string | undefined
}

interface SignedSeal {
  readonly policy: AuditorPolicy
  readonly seal: SealEntry | undefined
  readonly handovers: readonly BundleHandover[]
  /** The signed checkpoint, verbatim. */
  readonly note: string
}

export const sealCheckpoint = (note: string): Checkpoint | undefined =>
  parseCheckpoint(splitNote(encodeUtf8(note))?.text ?? '')

export function sealSignersOf({ policy, seal, handovers, note }: SignedSeal): SealSigners {
  const { origin = '', size = 0 } = sealCheckpoint(note) ?? {}
  const logs = policy.log.logs.filter(({ name }) => name === origin)
  const kept = policy.retired.filter(({ key, seals }) => key.name === origin && size <= seals)
  const own = [...policy.log.logs, ...policy.retired.map(({ key }) => key)]
  const counted = [...logs, ...kept.map(({ key }) => key)]
  const refused = (fault: string): SealSigners => ({
    known: own,
    inForce: [],
    fault,
    open: undefined,
  })
  if (!areThose(handovers, seal?.handovers ?? [])) return refused(OTHER_HANDOVERS)
  if (handovers.length === 0)
    return { known: own, inForce: counted, fault: undefined, open: undefined }
  const trusted = own.filter(({ name }) => name === origin).map(({ publicKey }) => publicKey)
  const resolved = resolveSealKeys(origin, trusted, handovers.map(evidenceOf))
  if (!resolved.ok) return refused(HANDOVER_FAULTS[resolved.fault])
  const { keys } = resolved
  const opened = openSealNote(note, origin, keys)
  const known = [...own, ...newKeys(keys, origin, own)]
  if (!opened.ok) return { ...refused(NOT_IN_FORCE), known }
  const from = newestOf(keys, logs)
  const isCounted = from !== undefined || counted.some((key) => isSameKey(key, opened.key))
  if (!isCounted) return { ...refused(BEYOND), known }
  return { known, inForce: [opened.key], fault: undefined, open: openTo(keys, from) }
}

const OTHER_HANDOVERS = 'the bundle does not carry the hand-overs that its seal names'
const NOT_IN_FORCE = 'no key signed it that was in force for a log of its size'
const BEYOND = 'only a key that signs no log of this size leads to the one that signed it'

/** At the places that the seal names: what they say is proven after that. */
const areThose = (handovers: readonly BundleHandover[], places: readonly number[]): boolean =>
  String(handovers.map(({ entry }) => readSealEntry(encodeUtf8(entry))?.handovers?.at(-1))) ===
  String(places)

const NO_HASH = new Uint8Array(0)
const evidenceOf = ({ entry, path, note }: BundleHandover): HandoverEvidence => ({
  entry: encodeUtf8(entry),
  path: path.map((hash) => fromBase64(hash) ?? NO_HASH),
  note,
})

const isSameKey = (left: VerifierKey, right: VerifierKey): boolean =>
  equalBytes(left.publicKey, right.publicKey)

const newKeys = (keys: SealKeys, origin: string, known: readonly VerifierKey[]): VerifierKey[] =>
  keys.publicKeys
    .map((key) => verifierKey(origin, SIGNATURE_TYPES.ed25519, key))
    .filter(({ name, keyId }) => !known.some((key) => key.name === name && key.keyId === keyId))

/** The place of the newest key of a log that the reader trusts without a limit. */
function newestOf({ publicKeys }: SealKeys, logs: readonly VerifierKey[]): number | undefined {
  const at = publicKeys.findLastIndex((publicKey) =>
    logs.some((key) => equalBytes(key.publicKey, publicKey)),
  )
  return at < 0 ? undefined : at
}

function openTo({ handovers }: SealKeys, from: number | undefined): string | undefined {
  const handover = from === undefined ? undefined : handovers[from]
  const last = handovers.at(-1)
  if (handover === undefined || last === undefined) return undefined
  return `a log that somebody else went on with who has the key ${handover.from.keyId} (your policy names it, and it was handed over with seal ${handover.seq}: ask whoever runs the log whether ${formatVerifierKey(last.to)} is its key, and name that one instead)`
}

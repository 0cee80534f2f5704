// A bundle as it was read: every part that could be made out. Reading verifies nothing.
import { decodeUtf8, encodeUtf8, fromBase64 } from '../bytes.ts'
import { canonicalJson } from '../canonical-json.ts'
import { openNote } from '../note/note.ts'
import type { OpenedNote } from '../note/note.ts'
import type { EntryProblem, Rule } from '../rules.ts'
import { readSealEntry } from '../seal-entry.ts'
import type { SealEntry } from '../seal-entry.ts'
import { parseTlogProof } from '../tlog/proof.ts'
import type { TlogProof } from '../tlog/proof.ts'
import type { AuditorPolicy } from './auditor-policy.ts'
import {
  batchesRule,
  chainsRule,
  erasureListsRule,
  FILES,
  manifestRule,
  payloadRule,
  PROOF_RULES,
  receiptsRule,
} from './format.ts'
import type {
  BundleBatch,
  BundleHandover,
  BundlePayload,
  BundleReceipt,
  ChainProof,
  ErasureList,
  Manifest,
  TaskEndsProof,
} from './format.ts'
import { sealSignersOf } from './seal-signer.ts'
import type { SealSigners } from './seal-signer.ts'
import { createListedLeaves } from './leaves.ts'
import type { ListedLeaves } from './leaves.ts'
import { readTar } from './tar.ts'
import type { TarReading } from './tar.ts'

export interface Evidence {
  readonly container: TarReading
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Each part is undefined when its file is missing or has another form. */
  readonly manifest: Manifest | undefined
  readonly chains: readonly ChainProof[] | undefined
  /** Undefined too in version 1, which has none. */
  readonly ends: TaskEndsProof | undefined
  /** The leaves of each chain, by origin. */
  readonly leaves: ReadonlyMap<string, ListedLeaves>
  readonly batches: readonly BundleBatch[] | undefined
  readonly receipts: readonly BundleReceipt[] | undefined
  readonly erasureLists: readonly ErasureList[] | undefined
  readonly payloads: readonly BundlePayload[] | undefined
  readonly seal: SealEntry | undefined
  readonly sealProof: TlogProof | undefined
  /** Who may have signed the checkpoint of the seal's proof. */
  readonly sealSigners: SealSigners | undefined
  /** That checkpoint, opened with the keys of the policy and those that the hand-overs lead to. */
  readonly sealNote: OpenedNote | undefined
  readonly policy: AuditorPolicy
  /** POSIX seconds. */
  readonly now: number
  /** Also check what costs much and cannot hide a change: forms and canonical bytes. */
  readonly thorough: boolean
}

export type ReadOptions = Pick<Evidence, 'policy' | 'now' | 'thorough'>

export function readEvidence(bytes: Uint8Array, options: ReadOptions): Evidence {
  const container = readTar(bytes)
  const files = new Map(container.files.map((file) => [file.name, file.bytes]))
  const part = <T>(name: string, rule: Rule): T | undefined =>
    readJson<T>(files.get(name), { rule, canonical: options.thorough })
  const seal = files.get(FILES.seal)
  const sealFile = files.get(FILES.sealProof)
  const sealProof = sealFile && parseTlogProof(sealFile)
  const manifest = readJson<Manifest>(files.get(FILES.manifest), {
    rule: manifestRule,
    canonical: true,
  })
  const { chains, ends, handovers } = partsOf(
    part<ProofFile>(FILES.proof, PROOF_RULES.get(manifest?.format ?? '') ?? chainsRule),
  )
  const entry = seal && readSealEntry(seal)
  const sealSigners =
    sealProof &&
    sealSignersOf({ policy: options.policy, seal: entry, handovers, note: sealProof.checkpoint })
  return {
    container,
    files,
    manifest,
    chains,
    ends,
    leaves: new Map(
      (chains ?? []).map(({ origin, leaves }) => [origin, createListedLeaves(leaves)]),
    ),
    batches: part(FILES.batches, batchesRule),
    receipts: part(FILES.receipts, receiptsRule),
    erasureLists: part(FILES.erasureLists, erasureListsRule),
    payloads: readPayloads(files.get(FILES.payloads)),
    seal: entry,
    sealProof,
    sealSigners,
    sealNote:
      sealProof &&
      openNote(encodeUtf8(sealProof.checkpoint), [
        ...(sealSigners?.known ?? []),
        ...options.policy.log.witnesses.values(),
      ]),
    ...options,
  }
}

type ProofFile =
  | readonly ChainProof[]
  | {
      readonly chains: readonly ChainProof[]
      readonly ends: TaskEndsProof | null
      readonly handovers?: readonly BundleHandover[]
    }

interface ProofParts extends Pick<Evidence, 'chains' | 'ends'> {
  readonly handovers: readonly BundleHandover[]
}

function partsOf(proof: ProofFile | undefined): ProofParts {
  if (proof === undefined) return { chains: undefined, ends: undefined, handovers: [] }
  if (!('ends' in proof)) return { chains: proof, ends: undefined, handovers: [] }
  const { chains, ends, handovers = [] } = proof
  return { chains, ends: ends ?? undefined, handovers }
}

interface Form {
  readonly rule: Rule
  /** Whether there may be no other bytes for the same value; the manifest's digests hold anyway. */
  readonly canonical: boolean
}

function readJson<T>(bytes: Uint8Array | undefined, { rule, canonical }: Form): T | undefined {
  const text = bytes && decodeUtf8(bytes)
  if (text === undefined) return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
    if (canonical && canonicalJson(value) !== text) return undefined
  } catch {
    return undefined
  }
  const problems: EntryProblem[] = []
  rule(value, problems)
  return problems.length === 0 ? (value as T) : undefined
}

const PAYLOAD_FORM: Form = { rule: payloadRule, canonical: true }

function readPayloads(bytes: Uint8Array | undefined): BundlePayload[] | undefined {
  if (bytes === undefined) return undefined
  const payloads: BundlePayload[] = []
  let at = 0
  while (at < bytes.length) {
    const end = bytes.indexOf(10, at)
    const payload = readJson<BundlePayload>(bytes.subarray(at, end), PAYLOAD_FORM)
    if (end < 0 || payload === undefined || fromBase64(payload.salted) === undefined) {
      return undefined
    }
    payloads.push(payload)
    at = end + 1
  }
  return payloads
}

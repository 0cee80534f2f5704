// Makes an evidence bundle: the same parts give the same bytes, on every machine.
import { concatBytes, decodeUtf8, encodeUtf8, toBase64, toHex } from '../bytes.ts'
import { canonicalJson } from '../canonical-json.ts'
import { formatNote } from '../note/note.ts'
import type { NoteSigner } from '../note/signer.ts'
import type { HandoverEvidence } from '../seal-keys.ts'
import { sha256 } from '../sha256.ts'
import type { HashReader } from '../tree/nodes.ts'
import { proveSubset } from '../tree/subset.ts'
import { BUNDLE_FORMAT, exporterText, FILES, manifestDigest, UNLISTED } from './format.ts'
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
import { formatOf } from './format-of.ts'
import { writeTar } from './tar.ts'
import type { TarFile } from './tar.ts'

export interface BundleParts {
  /** Null for a bundle of several tasks, or of whole chains. */
  readonly taskId: string | null
  /** The exact bodies of the task's records, by chain and seq. */
  readonly records: readonly Uint8Array[]
  /** The exact bodies of the erasure records that matter to them, with what each erased. */
  readonly erasures: readonly { readonly body: Uint8Array; readonly erased: ErasureList }[]
  /** Of the chains of all these records, at the sizes of the seal, sorted by origin. */
  readonly chains: readonly ChainProof[]
  /** Under the map of tasks that the seal commits to; null where it commits to none. */
  readonly ends: TaskEndsProof | null
  /** The seal entry and its C2SP tlog-proof; null while nothing is sealed. */
  readonly seal: { readonly entry: Uint8Array; readonly proof: string } | null
  /** Those that the seal names, in their order. */
  readonly handovers: readonly HandoverEvidence[]
  /** Of every record here, sorted by origin and seq. */
  readonly batches: readonly BundleBatch[]
  readonly receipts: readonly BundleReceipt[]
  /** Null when the reader may not see texts. */
  readonly payloads: readonly BundlePayload[] | null
  /** The policy of whoever exports, for convenience: no verifier trusts it. */
  readonly policy: string | null
}

interface WriteOptions {
  /** Signs the manifest, so that nobody can leave something out later. */
  readonly exporter?: NoteSigner
  /** An HTML page with `BUNDLE_MARK` where the bundle without the page goes, in base64. */
  readonly page?: string
}

const BUNDLE_MARK = '%BATON_EVIDENCE_BUNDLE%'

/** The bytes of a bundle, one uncompressed tar (E24): in the lowest version that says all of it. */
export function writeBundle(parts: BundleParts, { exporter, page }: WriteOptions = {}): Uint8Array {
  const format = formatOf(parts)
  const files = filesOf(parts, format)
  const core = wrap({ ...parts, format }, files, exporter)
  if (page === undefined) return core
  const html = page.replace(BUNDLE_MARK, () => toBase64(core))
  return wrap(
    { ...parts, format },
    [...files, { name: FILES.page, bytes: encodeUtf8(html) }],
    exporter,
  )
}

function filesOf(parts: BundleParts, format: string): TarFile[] {
  const { records, erasures, seal, batches, receipts, payloads, policy } = parts
  const lists = erasures.map(({ erased }) => erased)
  return [
    { name: FILES.records, bytes: lines(records) },
    { name: FILES.erasures, bytes: lines(erasures.map(({ body }) => body)) },
    { name: FILES.erasureLists, bytes: json(lists) },
    { name: FILES.proof, bytes: json(proofOf(parts, format)) },
    ...(seal === null
      ? []
      : [
          { name: FILES.seal, bytes: seal.entry },
          { name: FILES.sealProof, bytes: encodeUtf8(seal.proof) },
        ]),
    { name: FILES.batches, bytes: json(batches) },
    { name: FILES.receipts, bytes: json(receipts) },
    ...(payloads === null ? [] : [{ name: FILES.payloads, bytes: lines(payloads.map(json)) }]),
    ...(policy === null ? [] : [{ name: FILES.policy, bytes: encodeUtf8(policy) }]),
  ]
}

function proofOf({ chains, ends, handovers }: BundleParts, format: string): unknown {
  if (format === BUNDLE_FORMAT) return chains
  if (handovers.length === 0) return { chains, ends }
  return { chains, ends, handovers: handovers.map(bundleHandover) }
}

const bundleHandover = ({ entry, path, note }: HandoverEvidence): BundleHandover => ({
  entry: decodeUtf8(entry) ?? '',
  path: path.map(toBase64),
  note,
})

const json = (value: unknown): Uint8Array => encodeUtf8(canonicalJson(value))
const LINE_FEED = encodeUtf8('\n')
const lines = (bodies: readonly Uint8Array[]): Uint8Array =>
  concatBytes(bodies.flatMap((body) => [body, LINE_FEED]))

function wrap(
  parts: BundleParts & { readonly format: string },
  files: readonly TarFile[],
  exporter?: NoteSigner,
): Uint8Array {
  const manifest: Manifest = {
    format: parts.format,
    taskId: parts.taskId,
    records: parts.records.length,
    payloads: parts.payloads === null ? 'withheld' : 'included',
    files: files.map(({ name, bytes }) => {
      return { name, bytes: bytes.length, sha256: toHex(sha256(bytes)) }
    }),
  }
  const bytes = json(manifest)
  const note = exporter && noteOf(exporterText(bytes, manifest.format), exporter)
  const digest = manifestDigest(bytes, note)
  return writeTar([
    { name: FILES.manifest, bytes },
    ...(note === undefined ? [] : [{ name: FILES.manifestNote, bytes: note }]),
    { name: FILES.manifestDigest, bytes: digest },
    ...files.filter(({ name }) => !UNLISTED.includes(name)),
  ])
}

const noteOf = (text: string, exporter: NoteSigner): Uint8Array =>
  encodeUtf8(formatNote({ text, signatures: [exporter.sign(text)] }))

interface ChainProofOptions {
  readonly origin: string
  /** The size that the seal of the bundle gives for the chain, never the current one. */
  readonly size: number
  /** The chain's own checkpoint of that size, as signed; null without one. */
  readonly checkpoint: string | null
  /** The seqs of the bundle's records and of the ends of their batches; those at or after `size` are left out. */
  readonly seqs: readonly number[]
  readonly read: HashReader
}

/** Reads the hashes of a chain's stored tree into its part of `proof.json`. */
export async function proveChain(options: ChainProofOptions): Promise<ChainProof> {
  const { origin, size, checkpoint, read } = options
  const indexes = [...new Set(options.seqs)]
    .filter((seq) => seq < size)
    .sort((left, right) => left - right)
  const known = await read(indexes.map((index) => ({ level: 0, index })))
  const leaves = indexes.map((seq, at) => [seq, toHex(known[at] as Uint8Array)] as const)
  const hashes = await proveSubset(read, { indexes, size })
  return { origin, size, checkpoint, leaves, hashes: hashes.map(toBase64) }
}

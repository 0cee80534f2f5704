// The files of an evidence bundle, versions baton-evidence/1 to 4, the form of each JSON among them, and
// what vouches for the manifest.
import type { Receipt } from '../audit-entry.ts'
import type { BatchStatement } from '../batch-statement.ts'
import { concatBytes, encodeUtf8, isHex, toBase64 } from '../bytes.ts'
import type { SegmentPlaceTuple } from '../erasure-list.ts'
import { count, list, matching, must, name, object, oneOf, orNull, uuid } from '../rules.ts'
import type { Rule } from '../rules.ts'
import { HANDOVERS_MAX } from '../seal-entry.ts'
import { sha256, sha256Hex } from '../sha256.ts'

export const BUNDLE_FORMAT = 'baton-evidence/1'
/** The same with the ends of its tasks in `proof.json`: a reader of version 1 must not take it for a damaged bundle. */
export const BUNDLE_FORMAT_WITH_ENDS = 'baton-evidence/2'
/** With records that have what version 1.2 of the record added: older verifiers say that they do not know it. */
export const BUNDLE_FORMAT_OF_RESULTS = 'baton-evidence/3'
/** With the hand-overs of the key that signs the seals in `proof.json`: without them nobody knows which key signs how much. */
export const BUNDLE_FORMAT_WITH_HANDOVERS = 'baton-evidence/4'

/** In the order in which they stand in the container. */
export const FILES = {
  manifest: 'manifest.json',
  manifestNote: 'manifest.note',
  manifestDigest: 'manifest.sha256',
  records: 'records.jsonl',
  erasures: 'erasures.jsonl',
  erasureLists: 'erasure-lists.json',
  proof: 'proof.json',
  seal: 'seal.json',
  sealProof: 'seal.tlog-proof',
  batches: 'batches.json',
  receipts: 'receipts.json',
  payloads: 'payloads.jsonl',
  policy: 'policy',
  page: 'index.html',
} as const

/** The manifest does not list itself, nor what vouches for it. */
export const UNLISTED: readonly string[] = [
  FILES.manifest,
  FILES.manifestNote,
  FILES.manifestDigest,
]

export interface Manifest {
  readonly format: string
  /** Null for a bundle of several tasks, or of whole chains. */
  readonly taskId: string | null
  /** Records of the task, without erasure records of other tasks. */
  readonly records: number
  /** Whether the texts of segments stand in the bundle. */
  readonly payloads: 'included' | 'withheld'
  readonly files: readonly {
    readonly name: string
    readonly bytes: number
    /** Lower-case hex. */
    readonly sha256: string
  }[]
}

/** What proves the records of one chain: every known leaf, and one proof for all of them. */
export interface ChainProof {
  readonly origin: string
  /** The size of the chain when it was sealed. */
  readonly size: number
  /** The chain's own signed checkpoint of that size; null when none is given. */
  readonly checkpoint: string | null
  /** [seq, hash in hex] of every record of this chain in the bundle, and of the ends of batches. */
  readonly leaves: readonly (readonly [number, string])[]
  /** Base64, as `rootFromSubset` takes them. */
  readonly hashes: readonly string[]
}

/** What proves how many records each task had: the nodes of the map of tasks that lead from its signed root to them. */
export interface TaskEndsProof {
  /** Those of the bundle, and those of which it says that there was no record; sorted. */
  readonly tasks: readonly string[]
  /** Base64, sorted. Each is found by its hash, and needed. */
  readonly nodes: readonly string[]
}

/** What proves one change of the key that signs the seal log. */
export interface BundleHandover {
  /** The exact text of the seal entry. */
  readonly entry: string
  /** Base64: that it is the last leaf of the tree of `note`. */
  readonly path: readonly string[]
  /** The checkpoint of the seal log that ends in it. */
  readonly note: string
}

export interface BundleBatch extends BatchStatement {
  readonly keyId: string
  /** Base64. */
  readonly signature: string
}

/** As stored in the operational database when the append was acknowledged. */
export type BundleReceipt = Omit<Receipt, 'duplicate'>

/** The text of one segment, with its salt. */
export interface BundlePayload {
  readonly origin: string
  readonly seq: number
  readonly segment: number
  /** Base64 of salt and text, as the commitment takes them. */
  readonly salted: string
}

/** The segments that one erasure record erased, sorted. */
export type ErasureList = readonly SegmentPlaceTuple[]

const SHA256_DIGITS = 64
const digest = must(
  '64 lower-case hex digits',
  (value) => typeof value === 'string' && value.length === SHA256_DIGITS && isHex(value),
)
const base64 = matching('base64', /^[A-Za-z0-9+/]*={0,2}$/)
const text = must('a text', (value) => typeof value === 'string')
const MANY = Number.MAX_SAFE_INTEGER

function tuple(...rules: readonly Rule[]): Rule {
  const isTuple = (value: unknown): value is readonly unknown[] =>
    Array.isArray(value) && value.length === rules.length
  const shape = must('a tuple', isTuple)
  return (value, problems) => {
    shape(value, problems)
    if (!isTuple(value)) return
    for (let at = 0; at < rules.length; at += 1) rules[at]?.(value[at], problems)
  }
}

export const manifestRule = object({
  format: text,
  taskId: orNull(uuid),
  records: count,
  payloads: oneOf('included', 'withheld'),
  files: list(object({ name, bytes: count, sha256: digest }), MANY),
})

export const chainsRule = list(
  object({
    origin: name,
    size: count,
    checkpoint: orNull(text),
    leaves: list(tuple(count, digest), MANY),
    hashes: list(base64, MANY),
  }),
  MANY,
)

/** Names of nodes that may lead to one task. */
const NODES_OF_TASK_MAX = 25
const TASKS_MAX = 10_000
/** Of 16 tasks, which is more than 16 children are: 833 bytes. */
const NODE_DIGITS_MAX = 1_112

const endsShape = object({
  tasks: list(uuid, TASKS_MAX),
  nodes: list(
    must(
      'at most 833 bytes as base64',
      (value) => typeof value === 'string' && value.length <= NODE_DIGITS_MAX,
    ),
    TASKS_MAX * NODES_OF_TASK_MAX,
  ),
})

/** Bounded before anything of it is decoded. */
const endsRule: Rule = (value, problems) => {
  endsShape(value, problems)
  if (problems.length > 0) return
  const { tasks, nodes } = value as TaskEndsProof
  const isBounded = () => nodes.length <= tasks.length * NODES_OF_TASK_MAX
  must('at most 25 nodes for each task', isBounded)(value, problems)
}

/** As long as the way in a tree of 2^53 leaves. */
const PATH_MAX = 53
const handoversRule = list(
  object({ entry: text, path: list(base64, PATH_MAX), note: text }),
  HANDOVERS_MAX,
)

/** What `proof.json` holds, by version. */
export const PROOF_RULES: ReadonlyMap<string, Rule> = new Map([
  [BUNDLE_FORMAT, chainsRule],
  [BUNDLE_FORMAT_WITH_ENDS, object({ chains: chainsRule, ends: endsRule })],
  [BUNDLE_FORMAT_OF_RESULTS, object({ chains: chainsRule, ends: orNull(endsRule) })],
  [
    BUNDLE_FORMAT_WITH_HANDOVERS,
    object({ chains: chainsRule, ends: orNull(endsRule), handovers: handoversRule }),
  ],
])

export const batchesRule = list(
  object({
    origin: name,
    firstSeq: count,
    lastSeq: count,
    lastHash: digest,
    keyId: name,
    signature: base64,
  }),
  MANY,
)

export const receiptsRule = list(
  object({ origin: name, seq: count, recordHash: digest, recordedAt: name }),
  MANY,
)

export const erasureListsRule = list(list(tuple(name, count, count), MANY), MANY)

export const payloadRule = object({ origin: name, seq: count, segment: count, salted: base64 })

/** The comment in the policy of a bundle that says when it was made; the exporter's signature covers it. */
export const exportedLine = (instant: string): string => `# baton-exported ${instant}\n`
export const EXPORTED_AT = /^# baton-exported (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)$/m

/** The text of the note that an exporter signs about the bytes of a manifest. */
export const exporterText = (manifest: Uint8Array, format: string): string =>
  `${format}\n${toBase64(sha256(manifest))}\n`

/** Over what no list covers: the manifest and its note. A line of hex. */
export const manifestDigest = (manifest: Uint8Array, note: Uint8Array | undefined): Uint8Array =>
  encodeUtf8(`${sha256Hex(concatBytes([manifest, note ?? new Uint8Array(0)]))}\n`)

// What the witness has cosigned of each log: checked and stored as one step, durable before it answers.
import { hash } from 'node:crypto'
import {
  EMPTY_ROOT,
  encodeUtf8,
  formatNote,
  formatSignature,
  fromBase64,
  openNote,
  parseCheckpoint,
  splitNote,
  toBase64,
  verifyConsistency,
} from '@baton/ledger'
import type { Checkpoint, Cosigner, VerifierKey } from '@baton/ledger'
import { crashPoint, permanent, readRegularFile, replaceFile } from '@baton/runtime'
import type { AddCheckpoint } from './read-request.ts'

interface Head {
  readonly size: number
  readonly root: Uint8Array
  /** As it was cosigned; undefined where an earlier version stored it. */
  readonly note: string | undefined
  /** Ids of the keys whose checkpoints were cosigned, in the order in which each took over; an earlier version kept none. */
  readonly keys: readonly string[]
}

/** A log that is witnessed: its key, whose name need not be the origin of its checkpoints. */
export interface WitnessedLog {
  readonly key: VerifierKey
  readonly origin: string
}

export interface WitnessAnswer {
  readonly status: 200 | 403 | 404 | 409 | 422 | 400
  /** The cosignature line, or the size that is known. */
  readonly body: string
}

interface WitnessOptions {
  readonly statePath: string
  /** Whether it may begin without that file; one that lost it would cosign a fork of what it has seen. */
  readonly isFirstStart: boolean
  /** The logs that are witnessed: a checkpoint of another origin is refused. */
  readonly logs: readonly WitnessedLog[]
  readonly cosigner: Cosigner
  /** POSIX seconds. */
  readonly now: () => number
}

export interface Witness {
  /** One at a time: the check and the store of two requests never mix. */
  add(request: AddCheckpoint): Promise<WitnessAnswer>
  /** The newest checkpoint that was cosigned, by the lower-case hex SHA-256 of its origin. */
  latest(originHash: string): string | undefined
}

/** Throws BATON_WITNESS_STATE_UNREADABLE, and BATON_WITNESS_STATE_MISSING unless it is a first start. */
export async function openWitness(options: WitnessOptions): Promise<Witness> {
  const heads = await readHeads(options)
  let busy: Promise<unknown> = Promise.resolve()
  return {
    add(request) {
      const answer = busy.then(() => addCheckpoint(request, heads, options))
      busy = answer.catch(() => undefined)
      return answer
    },
    latest(originHash) {
      const origin = [...heads.keys()].find((name) => hash('sha256', name) === originHash)
      return origin === undefined ? undefined : heads.get(origin)?.note
    },
  }
}

const refuse = (status: WitnessAnswer['status'], body: string): WitnessAnswer => ({ status, body })

async function addCheckpoint(
  request: AddCheckpoint,
  heads: Map<string, Head>,
  options: WitnessOptions,
): Promise<WitnessAnswer> {
  const { oldSize, note } = request
  const origin = note.slice(0, Math.max(0, note.indexOf('\n')))
  const keys = options.logs.filter((log) => log.origin === origin).map(({ key }) => key)
  if (keys.length === 0) return refuse(404, 'this log is not witnessed here\n')
  const opened = openNote(encodeUtf8(note), keys)
  if (!opened.ok) return refuse(403, 'no signature of the log’s key\n')
  const signers = keysAfter(
    heads.get(origin)?.keys ?? [],
    opened.signatures.map(({ name, keyId }) => `${name}+${keyId}`),
  )
  if (signers === undefined)
    return refuse(403, 'another key of the log has taken over from this one\n')
  const checkpoint = parseCheckpoint(opened.text)
  if (checkpoint === undefined || oldSize > checkpoint.size) return refuse(400, 'bad request\n')
  const head = heads.get(origin)
  const known = head?.size ?? 0
  if (oldSize !== known) return refuse(409, `${known}\n`)
  if (!extendsHead(head, checkpoint, request.proof)) return refuse(422, 'the proof fails\n')
  const cosignature = options.cosigner.cosign(opened.text, options.now())
  const own = (splitNote(encodeUtf8(note))?.signatures ?? []).filter((line) =>
    keys.some(({ name, keyId }) => name === line.name && keyId === line.keyId),
  )
  const cosigned = formatNote({ text: opened.text, signatures: [...own, cosignature] })
  const next = { size: checkpoint.size, root: checkpoint.root, note: cosigned, keys: signers }
  await store(heads, { origin, next }, options.statePath)
  return { status: 200, body: formatSignature(cosignature) }
}

/** With the key that takes over; undefined where only keys signed from which another one has taken over: they sign nothing more. */
function keysAfter(
  before: readonly string[],
  signers: readonly string[],
): readonly string[] | undefined {
  const inForce = before.at(-1)
  if (inForce !== undefined && signers.includes(inForce)) return before
  const next = signers.find((id) => !before.includes(id))
  return next === undefined ? undefined : [...before, next]
}

/** A log that was never seen begins as the empty tree, which has one root only. */
function extendsHead(
  head: Head | undefined,
  { size, root }: Checkpoint,
  proof: readonly Uint8Array[],
): boolean {
  return verifyConsistency({
    fromSize: head?.size ?? 0,
    fromRoot: head?.root ?? EMPTY_ROOT,
    toSize: size,
    toRoot: root,
    proof,
  })
}

async function store(
  heads: Map<string, Head>,
  { origin, next }: { readonly origin: string; readonly next: Head },
  path: string,
): Promise<void> {
  const stored = [...new Map(heads).set(origin, next)].map(([name, head]) => ({
    ...head,
    origin: name,
    root: toBase64(head.root),
  }))
  const text = `${JSON.stringify({ v: 1, heads: stored })}\n`
  await replaceFile(path, text, () => crashPoint('witness.before_rename'))
  heads.set(origin, next)
}

interface StoredHeads {
  readonly v: 1
  readonly heads: readonly {
    readonly origin: string
    readonly size: number
    readonly root: string
    readonly note?: string
    readonly keys?: readonly string[]
  }[]
}

/** Some hundred bytes a log. */
const STATE_BYTES_MAX = 268_435_456

async function readHeads({
  statePath: path,
  isFirstStart,
}: Pick<WitnessOptions, 'statePath' | 'isFirstStart'>): Promise<Map<string, Head>> {
  let text: string
  try {
    text = (await readRegularFile(path, STATE_BYTES_MAX)).toString()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unreadable(path, error)
    if (!isFirstStart) throw missing(path)
    // From now on it has a state to lose.
    await replaceFile(path, `${JSON.stringify({ v: 1, heads: [] })}\n`)
    return new Map()
  }
  try {
    const { heads } = JSON.parse(text) as StoredHeads
    return new Map(
      heads.map(({ origin, size, root, note, keys = [] }) => [
        origin,
        // Earlier versions took any root for the empty tree.
        { size, root: size === 0 ? EMPTY_ROOT : (fromBase64(root) as Uint8Array), note, keys },
      ]),
    )
  } catch (error) {
    throw unreadable(path, error)
  }
}

const missing = (path: string) =>
  permanent('BATON_WITNESS_STATE_MISSING', `the witness's state file ${path} is not there`, {
    fix: 'Restore the file. A witness that forgot what it cosigned could cosign a fork. Only one that has never cosigned anything is started with BATON_WITNESS_FIRST_START=1, once.',
  })

const unreadable = (path: string, cause: unknown) =>
  (cause as NodeJS.ErrnoException).code === 'EACCES'
    ? forbidden(path, cause)
    : permanent('BATON_WITNESS_STATE_UNREADABLE', `the witness's state in ${path} cannot be read`, {
        cause,
        fix: 'Restore the file. A witness that forgot what it cosigned could cosign a fork.',
      })

/** It may be whole: nothing is to be restored. */
const forbidden = (path: string, cause: unknown) =>
  permanent('BATON_WITNESS_STATE_UNREADABLE', `this process may not read ${path}`, {
    cause,
    fix: 'Give the file, and the way through the folders above it, to the user that this process runs as (an installation of `baton init`: run its install.sh again).',
  })

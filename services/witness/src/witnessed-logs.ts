// What the witness has cosigned of each log: checked and stored as one step, durable before it answers.
import { readFile } from 'node:fs/promises'
import {
  encodeUtf8,
  equalBytes,
  formatSignature,
  fromBase64,
  openNote,
  parseCheckpoint,
  toBase64,
  verifyConsistency,
} from '@baton/ledger'
import type { Checkpoint, Cosigner, VerifierKey } from '@baton/ledger'
import { crashPoint, permanent, replaceFile } from '@baton/runtime'
import type { AddCheckpoint } from './read-request.ts'

interface Head {
  readonly size: number
  readonly root: Uint8Array
}

export interface WitnessAnswer {
  readonly status: 200 | 403 | 404 | 409 | 422 | 400
  /** The cosignature line, or the size that is known. */
  readonly body: string
}

interface WitnessOptions {
  readonly statePath: string
  /** The logs that are witnessed: a checkpoint of another origin is refused. */
  readonly logs: readonly VerifierKey[]
  readonly cosigner: Cosigner
  /** POSIX seconds. */
  readonly now: () => number
}

export interface Witness {
  /** One at a time: the check and the store of two requests never mix. */
  add(request: AddCheckpoint): Promise<WitnessAnswer>
}

/** Throws BATON_WITNESS_STATE_UNREADABLE; a missing file is an empty state only on a first start. */
export async function openWitness(options: WitnessOptions): Promise<Witness> {
  const heads = await readHeads(options.statePath)
  let busy: Promise<unknown> = Promise.resolve()
  return {
    add(request) {
      const answer = busy.then(() => addCheckpoint(request, heads, options))
      busy = answer.catch(() => undefined)
      return answer
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
  const keys = options.logs.filter(({ name }) => name === origin)
  if (keys.length === 0) return refuse(404, 'this log is not witnessed here\n')
  const opened = openNote(encodeUtf8(note), keys)
  if (!opened.ok) return refuse(403, 'no signature of the log’s key\n')
  const checkpoint = parseCheckpoint(opened.text)
  if (checkpoint === undefined || oldSize > checkpoint.size) return refuse(400, 'bad request\n')
  const head = heads.get(origin)
  const known = head?.size ?? 0
  if (oldSize !== known) return refuse(409, `${known}\n`)
  if (head !== undefined && isFork(head, checkpoint)) return refuse(409, `${known}\n`)
  if (!extendsHead(head, checkpoint, request.proof)) return refuse(422, 'the proof fails\n')
  await store(heads, origin, checkpoint, options.statePath)
  return { status: 200, body: formatSignature(options.cosigner.cosign(opened.text, options.now())) }
}

const isFork = (head: Head, { size, root }: Checkpoint): boolean =>
  head.size === size && !equalBytes(head.root, root)

function extendsHead(
  head: Head | undefined,
  { size, root }: Checkpoint,
  proof: readonly Uint8Array[],
): boolean {
  if (head === undefined) return proof.length === 0
  return verifyConsistency({
    fromSize: head.size,
    fromRoot: head.root,
    toSize: size,
    toRoot: root,
    proof,
  })
}

async function store(
  heads: Map<string, Head>,
  origin: string,
  { size, root }: Checkpoint,
  path: string,
): Promise<void> {
  const next = new Map(heads).set(origin, { size, root })
  const stored = [...next].map(([name, head]) => ({
    ...head,
    origin: name,
    root: toBase64(head.root),
  }))
  const text = `${JSON.stringify({ v: 1, heads: stored })}\n`
  await replaceFile(path, text, () => crashPoint('witness.before_rename'))
  heads.set(origin, { size, root })
}

interface StoredHeads {
  readonly v: 1
  readonly heads: readonly {
    readonly origin: string
    readonly size: number
    readonly root: string
  }[]
}

async function readHeads(path: string): Promise<Map<string, Head>> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map()
    throw unreadable(path, error)
  }
  try {
    const { heads } = JSON.parse(text) as StoredHeads
    return new Map(
      heads.map(({ origin, size, root }) => [
        origin,
        { size, root: fromBase64(root) as Uint8Array },
      ]),
    )
  } catch (error) {
    throw unreadable(path, error)
  }
}

const unreadable = (path: string, cause: unknown) =>
  permanent('BATON_WITNESS_STATE_UNREADABLE', `the witness's state in ${path} cannot be read`, {
    cause,
    fix: 'Restore the file. A witness that forgot what it cosigned could cosign a fork.',
  })

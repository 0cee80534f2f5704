// A C2SP tlog-witness as somebody sees it who only reads: what it has cosigned last, in its own signature.
import { createHash } from 'node:crypto'
import {
  encodeUtf8,
  openNote,
  openSealNote,
  parseCheckpoint,
  readDecimal,
  splitNote,
} from '@baton/ledger'
import type { VerifierKey } from '@baton/ledger'
import { BatonError, permanent, transient } from '@baton/runtime'
import type { Tls } from '@baton/runtime'
import type { SealLogKeys } from '../read-seal-keys.ts'
import type { Anchor, AnchoredHead, AnchoredLog } from './anchor.ts'
import { askWitness } from './ask-witness.ts'
import type { WitnessAnswer } from './ask-witness.ts'

interface WitnessReading {
  /** The prefix to which `/add-checkpoint` is added. */
  readonly url: string
  /** Who the witness is: only its own cosignature says what it has seen. */
  readonly key: VerifierKey
  readonly log: AnchoredLog
  /** The log's signed checkpoint of a size, the newest without one; undefined where the database has none. */
  readonly noteAt: (size?: number) => Promise<string | undefined>
  readonly timeoutMs?: number
  readonly tls?: Tls | undefined
}

/**
 * Takes the checkpoint that the witness serves. Where it serves none, it is offered the one that it has already: it
 * then cosigns it again, which shows what it has seen, and learns nothing. Throws as anchors do.
 */
export function readWitness(options: WitnessReading): Pick<Anchor, 'name' | 'latest'> {
  const { key, noteAt, timeoutMs = 2_000, tls } = options
  const base = options.url.endsWith('/') ? options.url : `${options.url}/`
  const failed = (what: string, cause?: unknown) =>
    transient('BATON_ANCHOR_UNAVAILABLE', `the witness ${key.name} ${what}`, {
      cause,
      fix: 'Check its URL and whether it knows this log.',
    })
  const foreign = (what: string) =>
    permanent('BATON_ANCHOR_FOREIGN', `the witness ${key.name} ${what}`, {
      fix: 'Keep a copy of the database and ask whoever runs the witness what it has seen.',
    })

  async function ask(path: string, body?: string): Promise<WitnessAnswer> {
    try {
      const asked = body === undefined ? { timeoutMs, tls } : { body, timeoutMs, tls }
      return await askWitness(new URL(path, base), asked)
    } catch (cause) {
      if (cause instanceof BatonError) throw cause
      throw failed('did not answer', cause)
    }
  }

  /** Only where both the log and the witness signed it. */
  function headOf(note: string, { origin, keys }: SealLogKeys): AnchoredHead | undefined {
    const sealed = openSealNote(note, origin, keys)
    const opened = openNote(encodeUtf8(note), [key])
    if (!sealed.ok || !opened.ok) return undefined
    const { size, root } = sealed.checkpoint
    const seconds = opened.signatures[0]?.timestamp ?? null
    return { size, root, at: seconds === null ? null : new Date(seconds * 1_000).toISOString() }
  }

  /** What it says to a checkpoint as the one that it has already. */
  async function offer(note: string): Promise<AnchoredHead | number> {
    const size = sizeOf(note)
    const { status, body } = await ask('add-checkpoint', `old ${size}\n\n${note}`)
    if (status === 200) {
      const head = headOf(`${note}${body}`, await options.log())
      if (head === undefined) throw failed('signed with another key')
      return head
    }
    const known = status === 409 ? readDecimal(body.trim()) : undefined
    if (status === 422 || known === size) throw foreign(`has seen another log of ${size} entries`)
    if (known === undefined) throw failed(`answered ${status}`)
    return known
  }

  return {
    name: `witness ${key.name}`,
    async latest() {
      const { origin } = await options.log()
      const served = await ask(`${createHash('sha256').update(origin).digest('hex')}/checkpoint`)
      const shown = served.status === 200 ? headOf(served.body, await options.log()) : undefined
      if (shown !== undefined) return shown
      const newest = await noteAt()
      if (newest === undefined)
        throw failed('shows nothing, and the database has no checkpoint to ask it about')
      const first = await offer(newest)
      if (typeof first !== 'number') return first
      if (first === 0) return undefined
      const own = first > sizeOf(newest) ? undefined : await noteAt(first)
      const second = own === undefined ? first : await offer(own)
      return typeof second === 'number' ? { size: second, root: null } : second
    },
  }
}

const sizeOf = (note: string): number =>
  parseCheckpoint(splitNote(encodeUtf8(note))?.text ?? '')?.size ?? 0

// The signed tree head beside the objects of a log: with it, a stranger verifies the cold store alone.
import {
  compactRangeFromNodes,
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  LedgerError,
  nodesOfRange,
} from '@baton/ledger'
import type { Checkpoint, Finding, FindingRule } from '@baton/ledger'
import { crashPoint } from '@baton/runtime'
import { openCheckpoint } from '../read/assurance.ts'
import type { SealLogKeys } from '../seals/read-seal-keys.ts'
import type { ColdLog } from './cold-log.ts'
import type { ColdStore } from './cold-store.ts'
import { checkpointName } from './objects.ts'

/** A tree head and the note that the sealer signed it in. */
export interface SignedNote extends Pick<Checkpoint, 'size' | 'root'> {
  readonly note: string
}

interface HeadOf {
  readonly store: ColdStore
  readonly origin: string
  /** Whose heads of the log count, as of now: asked once a head was read, which may be newer than anything known before. */
  readonly signers: () => Promise<Pick<SealLogKeys, 'keys'>>
}

/**
 * Only once everything under it stands there, partial tiles included. Moves it forward and never back; one that nobody
 * signed, or that says something else, is kept as it is. Safe to repeat, and writes anew one that is gone.
 */
export async function publishHead(of: HeadOf, head: SignedNote): Promise<readonly Finding[]> {
  const stored = await readHead(of)
  if (stored === 'wrong') return [notSigned(of.origin)]
  const finding = stored && contradiction(of.origin, stored, head)
  if (finding !== undefined) return [finding]
  if (stored?.note === head.note) return []
  crashPoint('archiver.before_head')
  await of.store.replace(checkpointName(of.origin), encodeUtf8(head.note))
  return []
}

function contradiction(origin: string, stored: SignedNote, head: SignedNote): Finding | undefined {
  if (stored.size > head.size) {
    const message = `the cold store has a signed head of ${stored.size} records, the newest of the database covers ${head.size}`
    return findingAt(origin, head.size, { rule: 'SEAL_SIZE', message })
  }
  if (stored.size < head.size || equalBytes(stored.root, head.root)) return undefined
  const message = `the sealer signed another tree of ${head.size} records, which stands in the cold store`
  return findingAt(origin, head.size - 1, { rule: 'SEAL_ROOT', message })
}

/** Whether the head that stands there was signed, and is of the tiles that stand there. None at all is no finding: the next round of an archiver writes it. `tail` is how far the log was archived, where that is known now. */
export async function checkHead(
  of: HeadOf,
  log: ColdLog,
  tail = Number.POSITIVE_INFINITY,
): Promise<readonly Finding[]> {
  const { origin } = of
  const stored = await readHead(of)
  if (stored === undefined) return []
  if (stored === 'wrong') return [notSigned(origin)]
  const { size, root } = stored
  if (size > tail) {
    const message = `checkpoint covers ${size} records, and ${tail} are in the cold store`
    return [findingAt(origin, tail, { rule: 'TILE_HASH', message })]
  }
  const own = await rootAt(log, size)
  if (own === undefined || equalBytes(own, root)) return []
  const message = `checkpoint of ${size} records is not of the hash tiles beside it`
  return [findingAt(origin, Math.max(0, size - 1), { rule: 'TILE_HASH', message })]
}

/** Undefined where a tile is missing, which is found with its bundle. */
async function rootAt(log: ColdLog, size: number): Promise<Uint8Array | undefined> {
  try {
    return compactRangeFromNodes(size, await log.nodes(size)(nodesOfRange(0, size))).root()
  } catch (error) {
    if (error instanceof LedgerError) return undefined
    throw error
  }
}

const HEAD_BYTES_MAX = 65_536

async function readHead({ store, origin, signers }: HeadOf) {
  const bytes = await store.get(checkpointName(origin), HEAD_BYTES_MAX)
  if (bytes === undefined) return undefined
  const note = bytes === null ? undefined : decodeUtf8(bytes)
  const head = note === undefined ? undefined : openCheckpoint(note, origin, (await signers()).keys)
  return note === undefined || head === undefined ? ('wrong' as const) : { ...head, note }
}

const notSigned = (origin: string): Finding =>
  findingAt(origin, 0, {
    rule: 'TILE_HASH',
    message: 'checkpoint in the cold store is none that the sealer signed',
  })

const findingAt = (
  origin: string,
  seq: number,
  { rule, message }: { readonly rule: FindingRule; readonly message: string },
): Finding => ({ origin, seq, rule, message })

// C2SP tlog-proof: one small file that proves offline that an entry stands in a cosigned log.
import { decodeUtf8, encodeUtf8, fromBase64, toBase64 } from '../bytes.ts'
import { splitNote } from '../note/note.ts'
import { parseCheckpoint, readDecimal } from './checkpoint.ts'

const HEADER = 'c2sp.org/tlog-proof@v1'
/** A tree of 2^53 leaves has no longer path. */
const PATH_MAX = 53

export interface TlogProof {
  /** Opaque and not authenticated; null when there is none. */
  readonly extra: Uint8Array | null
  readonly index: number
  /** From the leaf's sibling to the root's child. */
  readonly path: readonly Uint8Array[]
  /** The signed note, verbatim. */
  readonly checkpoint: string
}

export function formatTlogProof({ extra, index, path, checkpoint }: TlogProof): string {
  const head = [HEADER, ...(extra === null ? [] : [`extra ${toBase64(extra)}`]), `index ${index}`]
  return `${[...head, ...path.map(toBase64)].join('\n')}\n\n${checkpoint}`
}

/** Reads a proof; undefined when it is not one. Verifies nothing. */
export function parseTlogProof(bytes: Uint8Array): TlogProof | undefined {
  const text = decodeUtf8(bytes)
  const blank = text?.indexOf('\n\n') ?? -1
  if (text === undefined || blank < 0) return undefined
  const [header, ...rest] = text.slice(0, blank).split('\n')
  const extra = readExtra(rest[0])
  const [indexLine = '', ...pathLines] = extra === null ? rest : rest.slice(1)
  const index = indexLine.startsWith('index ') ? readDecimal(indexLine.slice(6)) : undefined
  const path = pathLines.map(fromBase64)
  if (header !== HEADER || index === undefined || extra === undefined) return undefined
  if (path.length > PATH_MAX || !path.every((hash) => hash?.length === 32)) return undefined
  const checkpoint = text.slice(blank + 2)
  const note = splitNote(encodeUtf8(checkpoint))
  if (note === undefined || parseCheckpoint(note.text) === undefined) return undefined
  return { extra, index, path: path as Uint8Array[], checkpoint }
}

/** Null without such a line, undefined when the line is wrong. */
function readExtra(line: string | undefined): Uint8Array | null | undefined {
  return line?.startsWith('extra ') ? fromBase64(line.slice(6)) : null
}

// C2SP tlog-checkpoint: which log, how many leaves, which root. Signed as a note by the log.
import { fromBase64, toBase64 } from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'

export interface Checkpoint {
  readonly origin: string
  readonly size: number
  /** 32 bytes. */
  readonly root: Uint8Array
  /** Opaque lines after the third; not recommended. */
  readonly extensions: readonly string[]
}

/** A decimal without leading zeros, as C2SP writes sizes and indexes; undefined for other texts. */
export function readDecimal(text: string): number | undefined {
  if (!/^(?:0|[1-9][0-9]{0,15})$/.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}

/** The note text of a checkpoint. Throws BATON_NOTE_INVALID for what has no such text. */
export function formatCheckpoint(
  checkpoint: Omit<Checkpoint, 'extensions'> & { readonly extensions?: readonly string[] },
): string {
  const { origin, size, root, extensions = [] } = checkpoint
  const text = [origin, String(size), toBase64(root), ...extensions, ''].join('\n')
  if (parseCheckpoint(text) !== undefined) return text
  throw new LedgerError('BATON_NOTE_INVALID', 'a checkpoint needs an origin, a size and 32 bytes')
}

/** Reads the text of an opened note; undefined when it is not a checkpoint. */
export function parseCheckpoint(text: string): Checkpoint | undefined {
  const lines = text.split('\n')
  const [origin = '', sizeLine = '', rootLine = '', ...extensions] = lines.slice(0, -1)
  const size = readDecimal(sizeLine)
  const root = fromBase64(rootLine)
  if (!text.endsWith('\n') || origin === '' || size === undefined) return undefined
  if (root?.length !== 32 || extensions.includes('')) return undefined
  return { origin, size, root, extensions }
}

// C2SP signed notes: a text and who vouches for it. The text counts only once a known key verified.
import {
  concatBytes,
  decodeUtf8,
  encodeUtf8,
  equalBytes,
  fromBase64,
  toBase64,
  toHex,
} from '../bytes.ts'
import { LedgerError } from '../ledger-error.ts'
import { isKeyName } from './key.ts'
import type { SignatureType, VerifierKey } from './key.ts'
import { verifyNoteSignature } from './signature.ts'

/** More lines than this are refused before any is verified. */
const SIGNATURES_MAX = 100
const LINE_START = '\u2014 '

/** One signature line as it stands, verified or not. */
export interface NoteSignature {
  readonly name: string
  /** Eight lower-case hex digits. */
  readonly keyId: string
  /** Without the key id. */
  readonly bytes: Uint8Array
}

/** A signature that a known key made. */
export interface VerifiedSignature {
  readonly name: string
  readonly keyId: string
  readonly type: SignatureType
  /** POSIX seconds of a cosignature; null for a plain signature. */
  readonly timestamp: number | null
}

export interface SplitNote {
  /** Ends in a line feed. */
  readonly text: string
  readonly signatures: readonly NoteSignature[]
}

export type OpenedNote =
  | {
      readonly ok: true
      readonly text: string
      readonly signatures: readonly VerifiedSignature[]
      /** Lines of keys that are not known: they say nothing. */
      readonly unknown: readonly NoteSignature[]
    }
  | { readonly ok: false; readonly reason: NoteFault; readonly key: string | null }

export type NoteFault = 'MALFORMED' | 'AMBIGUOUS_KEY' | 'INVALID_SIGNATURE' | 'NO_KNOWN_SIGNATURE'

/** The parts of a note, nothing verified; undefined when it is not a note. */
export function splitNote(note: Uint8Array): SplitNote | undefined {
  const whole = decodeUtf8(note)
  if (whole === undefined || /[\u0000-\u0009\u000b-\u001f]/.test(whole)) return undefined
  const blank = whole.lastIndexOf('\n\n')
  if (blank < 0 || !whole.endsWith('\n')) return undefined
  const lines = whole
    .slice(blank + 2)
    .split('\n')
    .slice(0, -1)
  if (lines.length === 0 || lines.length > SIGNATURES_MAX) return undefined
  const signatures = lines.map(readLine)
  if (!signatures.every((signature) => signature !== undefined)) return undefined
  return { text: whole.slice(0, blank + 1), signatures }
}

function readLine(line: string): NoteSignature | undefined {
  if (!line.startsWith(LINE_START)) return undefined
  const [name = '', encoded = '', ...rest] = line.slice(LINE_START.length).split(' ')
  const bytes = fromBase64(encoded)
  if (rest.length > 0 || !isKeyName(name) || bytes === undefined || bytes.length < 5)
    return undefined
  return { name, keyId: toHex(bytes.subarray(0, 4)), bytes: bytes.subarray(4) }
}

/**
 * Opens a note with the keys that the caller trusts. A known key whose signature fails rejects the
 * whole note; so does a note that no known key signed. Repeated lines count once.
 */
export function openNote(note: Uint8Array, keys: readonly VerifierKey[]): OpenedNote {
  const split = splitNote(note)
  if (split === undefined) return { ok: false, reason: 'MALFORMED', key: null }
  const signatures = new Map<string, VerifiedSignature>()
  const unknown: NoteSignature[] = []
  for (const signature of split.signatures) {
    const label = `${signature.name}+${signature.keyId}`
    const [key, second] = keys.filter(
      ({ name, keyId }) => name === signature.name && keyId === signature.keyId,
    )
    if (second !== undefined) return { ok: false, reason: 'AMBIGUOUS_KEY', key: label }
    if (key === undefined) {
      if (!unknown.some((other) => isSameSignature(other, signature))) unknown.push(signature)
      continue
    }
    if (signatures.has(label)) continue
    const verified = verifyNoteSignature(key, split.text, signature.bytes)
    if (verified === undefined) return { ok: false, reason: 'INVALID_SIGNATURE', key: label }
    signatures.set(label, verified)
  }
  if (signatures.size === 0) return { ok: false, reason: 'NO_KNOWN_SIGNATURE', key: null }
  return { ok: true, text: split.text, signatures: [...signatures.values()], unknown }
}

const isSameSignature = (left: NoteSignature, right: NoteSignature): boolean =>
  left.name === right.name && left.keyId === right.keyId && equalBytes(left.bytes, right.bytes)

/** The line of one signature, with its line feed. */
export function formatSignature({ name, keyId, bytes }: NoteSignature): string {
  const id = Uint8Array.from({ length: 4 }, (_, at) =>
    Number.parseInt(keyId.slice(at * 2, at * 2 + 2), 16),
  )
  return `${LINE_START}${name} ${toBase64(concatBytes([id, bytes]))}\n`
}

/**
 * A text with its signatures, in their order. Throws BATON_NOTE_INVALID for a text that no note can
 * hold: without its last line feed, with control characters or with lone surrogates.
 */
export function formatNote({ text, signatures }: SplitNote): string {
  const note = `${text}\n${signatures.map(formatSignature).join('')}`
  const read = splitNote(encodeUtf8(note))
  if (read?.text === text && read.signatures.length === signatures.length) return note
  throw new LedgerError('BATON_NOTE_INVALID', 'a note needs whole lines and 1 to 100 signatures')
}

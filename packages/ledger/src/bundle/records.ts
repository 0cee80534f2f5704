// Goes through the lines of a records file once: the hash of each line's bytes, and a reading of it.
import { decodeUtf8 } from '../bytes.ts'
import { RecordReader } from '../record-reader.ts'
import type { RecordBody } from '../record.ts'
import { sha256Hex } from '../sha256.ts'

/** The hash is of the bytes as they stand; the body is only a reading of them. */
export interface EvidenceRecord {
  readonly file: string
  /** Counts from 1. */
  readonly line: number
  /** Lower-case hex. */
  readonly hashHex: string
  /** Undefined when the line cannot be read as a record; its forms are not checked in full. */
  readonly body: RecordBody | undefined
  /** The body follows every rule of version 1, and the line has its canonical form. */
  readonly isPlain: boolean
  /** The line as text, where it is not plain; undefined when it is not UTF-8. */
  readonly text: string | undefined
}

const LINE_FEED = 10
/** Read and decoded together, so that a file of any length is no string of its length. */
const CHUNK_BYTES = 1 << 20

/** Calls `visit` with each line, in order. */
export function visitRecords(
  file: string,
  bytes: Uint8Array,
  visit: (record: EvidenceRecord) => void,
): void {
  let from = 0
  let line = 0
  while (from < bytes.length) {
    const last = bytes.lastIndexOf(LINE_FEED, from + CHUNK_BYTES)
    const end = last >= from ? last : bytes.indexOf(LINE_FEED, from)
    const chunk = bytes.subarray(from, (end < 0 ? bytes.length : end) + 1)
    line = visitChunk(chunk, { file, line }, visit)
    from += chunk.length
  }
}

function visitChunk(
  chunk: Uint8Array,
  at: { readonly file: string; readonly line: number },
  visit: (record: EvidenceRecord) => void,
): number {
  const text = decodeUtf8(chunk)
  // Of as many characters as bytes, each is ASCII and stands where its byte does.
  const ascii = text?.length === chunk.length ? text : undefined
  const reader = ascii === undefined ? undefined : new RecordReader(chunk, ascii)
  // A zero takes the place of each line feed: with it in front, a line is what its hash is over.
  const prefixed = new Uint8Array(chunk.length + 1)
  prefixed.set(chunk, 1)
  let { line } = at
  let from = 0
  while (from < chunk.length) {
    const found = ascii === undefined ? chunk.indexOf(LINE_FEED, from) : ascii.indexOf('\n', from)
    const end = found < 0 ? chunk.length : found
    prefixed[from] = 0
    const hashHex = sha256Hex(prefixed.subarray(from, end + 1))
    line += 1
    const body = reader?.read(from, end)
    const record = { file: at.file, line, hashHex, body, isPlain: true, text: undefined }
    visit(body === undefined ? readAny(record, chunk.subarray(from, end)) : record)
    from = end + 1
  }
  return line
}

function readAny(record: EvidenceRecord, bytes: Uint8Array): EvidenceRecord {
  const text = decodeUtf8(bytes)
  return { ...record, body: readBody(text), isPlain: false, text }
}

function readBody(text: string | undefined): RecordBody | undefined {
  if (text === undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isPlaced(value) ? value : undefined
  } catch {
    return undefined
  }
}

// What the checks rely on; every other member only in a thorough verification.
function isPlaced(value: unknown): value is RecordBody {
  if (typeof value !== 'object' || value === null) return false
  const body = value as Partial<Record<keyof RecordBody, unknown>>
  return (
    body.v === 1 &&
    typeof body.origin === 'string' &&
    Number.isSafeInteger(body.seq) &&
    typeof body.taskId === 'string' &&
    Number.isSafeInteger(body.taskSeq) &&
    typeof body.previousRecordHash === 'string' &&
    typeof body.previousTaskRecordHash === 'string' &&
    typeof body.recordedAt === 'string' &&
    typeof body.event === 'string' &&
    typeof body.handoffId === 'string' &&
    typeof membersOf(body.keyIds)['batch'] === 'string' &&
    Array.isArray(body.payload) &&
    body.payload.every(isReference) &&
    (body.erasure === undefined || typeof membersOf(body.erasure)['subjectRef'] === 'string')
  )
}

const NO_MEMBERS: Readonly<Record<string, unknown>> = {}
const membersOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as typeof NO_MEMBERS) : NO_MEMBERS

function isReference(value: unknown): boolean {
  const { segment, subjectRef, commitment, bytes } = membersOf(value)
  const isText = typeof subjectRef === 'string' && typeof commitment === 'string'
  return isText && Number.isSafeInteger(segment) && Number.isSafeInteger(bytes)
}

// What is judged together with new chunks, so that nothing passes by being split: the text before them, of all kinds and
// of their own. Chunks without text, space and characters that nobody sees put no distance between two parts. Pure.
import type { JsonValue } from '@baton/protocol'
import type { NewChunk } from '@baton/store'
import { readChunk } from './chunks.ts'

/** A chunk as it is judged. */
export interface JudgedChunk {
  readonly kind: string
  readonly content: JsonValue
  /** How many characters of its texts can be seen, and how long they are. */
  readonly visible: number
  readonly length: number
  /** Nothing but space. */
  readonly isBlank: boolean
}

/** How far is looked back: so many characters that can be seen, of all kinds and of each. */
const VISIBLE_BEFORE = 2_048
/** No further than this many characters of any sort. */
const LENGTH_BEFORE = 262_144

const UNSEEN = /[\s\p{C}\p{Z}\p{M}]+/gu
const WIDE_SPACE = /\s{16,}/gu

export function judgedChunk(chunk: NewChunk): JudgedChunk {
  const { kind, content } = readChunk(chunk)
  return { kind, content, ...measured(content) }
}

function measured(content: JsonValue): Pick<JudgedChunk, 'visible' | 'length' | 'isBlank'> {
  const texts = textsIn(content)
  const visible = texts.reduce((sum, text) => sum + text.replaceAll(UNSEEN, '').length, 0)
  const length = texts.reduce((sum, text) => sum + text.length, 0)
  return { visible, length, isBlank: texts.every((text) => text.trim() === '') }
}

function textsIn(value: JsonValue): readonly string[] {
  if (typeof value === 'string') return [value]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : []
}

/** Of chunks in their order, those at their end that later ones are judged with. */
export function judgedBefore(chunks: readonly JudgedChunk[]): readonly JudgedChunk[] {
  const seenOf = new Map<string, number>()
  const spaced = new Set<string>()
  const kept: JudgedChunk[] = []
  let length = 0
  for (const chunk of chunks.toReversed()) {
    const { kind, isBlank } = chunk
    const seen = seenOf.get(kind) ?? 0
    if (chunk.length === 0 || seen >= VISIBLE_BEFORE || (isBlank && spaced.has(kind))) continue
    if (length >= LENGTH_BEFORE) break
    if (isBlank) spaced.add(kind)
    else spaced.delete(kind)
    const narrow = narrowed(chunk)
    seenOf.set(kind, seen + narrow.visible)
    length += narrow.length
    kept.push(narrow)
  }
  return kept.toReversed()
}

/** A space is a space, however wide it is. */
function narrowed(chunk: JudgedChunk): JudgedChunk {
  const content = narrowedValue(chunk.content)
  return { kind: chunk.kind, content, ...measured(content) }
}

function narrowedValue(value: JsonValue): JsonValue {
  if (typeof value === 'string') return value.replaceAll(WIDE_SPACE, ' ')
  // What has no text says nothing.
  return textsIn(value).flatMap((text) => (text === '' ? [] : [text.replaceAll(WIDE_SPACE, ' ')]))
}

/** Whether nothing that stands further ahead is judged with chunks of these kinds. */
export function isFarEnough(
  before: readonly JudgedChunk[],
  chunks: readonly JudgedChunk[],
): boolean {
  if (sumOf(before, 'length') >= LENGTH_BEFORE) return true
  const kinds = new Set(chunks.map(({ kind }) => kind))
  return [...kinds].every((kind) => sumOf(ofKind(before, kind), 'visible') >= VISIBLE_BEFORE)
}

/** What the scanner is shown, one after the other, each as data: the chunks in their order, and where there are several kinds those of each. */
export function judgedTogether(
  before: readonly JudgedChunk[],
  chunks: readonly JudgedChunk[],
): readonly { readonly chunks: readonly JsonValue[] }[] {
  const kinds = new Set(chunks.map(({ kind }) => kind))
  const isOfOne = new Set([...before, ...chunks].map(({ kind }) => kind)).size <= 1
  const sequences = [
    [...lastOf(before), ...chunks],
    ...(isOfOne ? [] : [...kinds].map((kind) => ofKind([...before, ...chunks], kind))),
  ]
  return sequences.map((sequence) => ({ chunks: sequence.map(({ content }) => content) }))
}

function lastOf(before: readonly JudgedChunk[]): readonly JudgedChunk[] {
  let from = before.length
  for (let seen = 0; from > 0 && seen < VISIBLE_BEFORE; seen += before[from]?.visible ?? 0)
    from -= 1
  return before.slice(from)
}

const ofKind = (chunks: readonly JudgedChunk[], kind: string): readonly JudgedChunk[] =>
  chunks.filter((chunk) => chunk.kind === kind)

const sumOf = (chunks: readonly JudgedChunk[], member: 'visible' | 'length'): number =>
  chunks.reduce((sum, chunk) => sum + chunk[member], 0)

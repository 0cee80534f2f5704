// Texts derived from another one, each with the way of its spans back to the text it was derived from.

/** A half-open span of UTF-16 offsets. */
export type Span = readonly [start: number, end: number]

/** Answers where a span of the derived text stands in the source text. */
export type SpanMap = (start: number, end: number) => Span

export const identityMap: SpanMap = (start, end) => [start, end]

/** A text read in another form, with the way back to where it stood. */
export interface Derived {
  readonly kind: string
  readonly text: string
  readonly map: SpanMap
}

/** The map of a text derived in two steps. */
export function composeMaps(inner: SpanMap, outer: SpanMap): SpanMap {
  return (start, end) => outer(...inner(start, end))
}

/** The map of a slice that began at `offset` in its source. */
export function shiftMap(offset: number): SpanMap {
  return (start, end) => [start + offset, end + offset]
}

/** The map of a text written backwards. */
export function reverseMap(length: number): SpanMap {
  return (start, end) => [length - end, length - start]
}

/** Several texts derived from one, as one: a line break between them. */
export function joinDerived(kind: string, parts: readonly Derived[]): Derived[] {
  if (parts.length === 0) return []
  const starts: number[] = []
  let length = 0
  for (const { text } of parts) {
    starts.push(length)
    length += text.length + 1
  }
  const inPart = (index: number, position: number): number =>
    Math.min(position - (starts[index] ?? 0), parts[index]?.text.length ?? 0)
  const map: SpanMap = (start, end) => {
    const first = lastUpTo(starts, start)
    const last = lastUpTo(starts, Math.max(start, end - 1))
    const from = inPart(first, start)
    const until = inPart(last, end)
    if (first === last) return parts[first]?.map(from, until) ?? [0, 0]
    const opening = parts[first]?.map(from, parts[first].text.length) ?? [0, 0]
    const closing = parts[last]?.map(0, until) ?? [0, 0]
    return [Math.min(opening[0], closing[0]), Math.max(opening[1], closing[1])]
  }
  return [{ kind, text: parts.map(({ text }) => text).join('\n'), map }]
}

/** The index of the last of some ascending numbers that is at most the given one; 0 where none is. */
export function lastUpTo(ascending: readonly number[], most: number): number {
  let low = 0
  let high = ascending.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((ascending[middle] ?? 0) <= most) low = middle
    else high = middle - 1
  }
  return low
}

/**
 * The map of a text put together from pieces in source order. A copied piece maps character by character; a replaced one
 * maps as a whole, because nothing finer is true of it.
 */
export class PieceMap {
  readonly #at: number[] = []
  readonly #from: number[] = []
  readonly #until: number[] = []
  readonly #copied: boolean[] = []

  copy(at: number, from: number): void {
    this.#add([at, from, from], true)
  }

  replace(at: number, from: number, until: number): void {
    this.#add([at, from, until], false)
  }

  readonly map: SpanMap = (start, end) => {
    const first = lastUpTo(this.#at, start)
    const last = lastUpTo(this.#at, Math.max(start, end - 1))
    return [
      this.#source(first, start),
      this.#copied[last] ? this.#source(last, end) : (this.#until[last] ?? 0),
    ]
  }

  #add(piece: readonly [at: number, from: number, until: number], copied: boolean): void {
    this.#at.push(piece[0])
    this.#from.push(piece[1])
    this.#until.push(piece[2])
    this.#copied.push(copied)
  }

  #source(piece: number, position: number): number {
    const from = this.#from[piece] ?? 0
    return this.#copied[piece] ? from + position - (this.#at[piece] ?? 0) : from
  }
}

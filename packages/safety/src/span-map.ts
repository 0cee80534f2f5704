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

/** Longest derived text; longer sources give several of them. */
export const DERIVED_LENGTH_MAX = 8192

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
    const first = this.#pieceOf(start)
    const last = this.#pieceOf(Math.max(start, end - 1))
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

  /** The last piece that begins at or before the position. */
  #pieceOf(position: number): number {
    let low = 0
    let high = this.#at.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((this.#at[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low
  }
}

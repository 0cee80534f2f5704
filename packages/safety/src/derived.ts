// What every decoder and rewriter gives: a text in another form.
import type { SpanMap } from './span-map.ts'

/** A text read in another form, with the way back to where it stood. */
export interface Derived {
  readonly kind: string
  readonly text: string
  readonly map: SpanMap
}

/** Longest derived text; longer sources give several of them. */
export const DERIVED_LENGTH_MAX = 8192

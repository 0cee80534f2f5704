// How a language says "ignore the previous instructions".

/** Verb, words in between, what is dropped; `verbLast` for languages that put the verb at the end. */
export interface Grammar {
  readonly language: string
  /** Stems of the verbs, one of which every match contains. */
  readonly anchors: string
  readonly drop: string
  readonly orders: string
  readonly earlier: string
  readonly between: string
  readonly verbLast?: true
  /** "Everything you were told". */
  readonly told?: string
}

/** Words in between, within one sentence, for languages that put blanks between words. */
export const SPACED = String.raw`[^.!?;\n]*`
/** The same for languages that do not. */
export const UNSPACED = String.raw`[^.!?。！？,、，\n]*`

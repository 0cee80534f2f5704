// How many may read streams at once, where nothing else is said.

export interface ReaderBounds {
  /** Readers of this process at once. */
  readonly max: number
  /** Of these, how many one API key may have. */
  readonly perKeyMax: number
}

export const READER_BOUNDS: ReaderBounds = { max: 128, perKeyMax: 32 }

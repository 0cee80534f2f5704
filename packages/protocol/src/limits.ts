// The size limits of a message (I12): everything the parser and the encoder look at is bounded here.

export interface Limits {
  /** Length of the whole message in bytes of UTF-8. */
  readonly bytesMax: number
  /** Nesting of objects and arrays. */
  readonly depthMax: number
  /** Members of one array, and of one object. */
  readonly itemsMax: number
  /** Length of one string in UTF-16 code units. */
  readonly stringMax: number
}

export const DEFAULT_LIMITS: Limits = {
  bytesMax: 1_048_576,
  depthMax: 64,
  itemsMax: 10_000,
  stringMax: 262_144,
}

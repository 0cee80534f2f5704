// One thing that is wrong, said so that the reader can mend it; and the one error this package throws.

/** What is wrong (`message`), where (`pointer`, RFC 6901), by which rule, and how to mend it. */
export interface Detail {
  readonly pointer: string
  readonly rule: string
  readonly message: string
  readonly fix: string
  /** What would have been accepted, where that can be said in a few words. */
  readonly expected?: string
}

/** A list of details never grows beyond this; the rest would not be read. */
export const DETAILS_MAX = 50

const POINTER_MAX = 1024

/** A pointer that names an absurdly long key is cut, so that a verdict stays small. */
export function boundedPointer(pointer: string): string {
  if (pointer.length <= POINTER_MAX) return pointer
  return `${pointer.slice(0, POINTER_MAX).toWellFormed()}...`
}

/** The first `most` details in words, for logs, error messages and people. */
export function describeDetails(details: readonly Detail[], most = 3): string {
  const words = details
    .slice(0, most)
    .map(({ pointer, message }) => `${pointer || '/'}: ${message}`)
  const rest = details.length - words.length
  return words.join('; ') + (rest > 0 ? `; and ${rest} more` : '')
}

/**
 * Thrown for a mistake of the caller (never for input from outside, which gets a verdict).
 * It has the shape of the project's permanent errors: `kind`, a stable `code`, `fix`.
 */
export class ProtocolError extends Error {
  readonly kind = 'permanent'
  readonly code: `BATON_${string}`
  readonly details: readonly Detail[]
  readonly pointer: string
  readonly fix: string

  constructor(code: `BATON_${string}`, details: readonly [Detail, ...Detail[]]) {
    super(describeDetails(details))
    this.name = 'ProtocolError'
    this.code = code
    this.details = details
    this.pointer = details[0].pointer
    this.fix = details[0].fix
  }
}

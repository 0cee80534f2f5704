// Every error Baton throws has a kind, a stable code and, where a person can act, a fix.

/** What the thrower knows about trying again: later, never, or "this is a bug". */
export type ErrorKind = 'transient' | 'permanent' | 'defect'
export type ErrorCode = `BATON_${string}`

interface ErrorContext {
  readonly cause?: unknown
  /** What the reader should do about it, as one imperative sentence. */
  readonly fix?: string
}

/** The only error class Baton throws. `code` is a stable contract; `message` is for people. */
export class BatonError extends Error {
  readonly kind: ErrorKind
  readonly code: ErrorCode
  readonly fix: string | undefined

  constructor(kind: ErrorKind, code: ErrorCode, message: string, context: ErrorContext = {}) {
    super(message, context.cause === undefined ? undefined : { cause: context.cause })
    this.name = 'BatonError'
    this.kind = kind
    this.code = code
    this.fix = context.fix
  }
}

/** The same call may succeed later: a lost connection, a full queue, a deadlock. */
export const transient = (code: ErrorCode, message: string, context?: ErrorContext): BatonError =>
  new BatonError('transient', code, message, context)

/** Trying again cannot help until somebody changes something: settings, versions, input. */
export const permanent = (code: ErrorCode, message: string, context?: ErrorContext): BatonError =>
  new BatonError('permanent', code, message, context)

/** An invariant of Baton itself is broken. */
export const defect = (code: ErrorCode, message: string, context?: ErrorContext): BatonError =>
  new BatonError('defect', code, message, context)

/** Unknown errors count as transient: their retries are capped where they are made. */
export function kindOf(error: unknown): ErrorKind {
  return error instanceof BatonError ? error.kind : 'transient'
}

/** The code for logs and metrics; never a message, which could carry payload text. */
export function codeOf(error: unknown): string {
  if (error instanceof BatonError) return error.code
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' && /^[A-Z0-9_]{2,40}$/.test(code) ? code : 'BATON_UNKNOWN'
}

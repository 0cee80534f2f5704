// What this dialect refuses, in the words of its running peers.

/** A refusal that may be told to the caller: it has the shape of the project's permanent errors. */
export class Sw4rmError extends Error {
  readonly kind = 'permanent'
  readonly code = 'BATON_SW4RM_INVALID'
  readonly fix = 'Send what the published HandoffContext and HandoffRequest describe.'

  constructor(message: string) {
    super(message)
    this.name = 'Sw4rmError'
  }
}

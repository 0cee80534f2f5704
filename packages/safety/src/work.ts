// Counts what a scan does, in characters and never in time, so that the same message costs the same everywhere.

/** What one character costs in each kind of work; about in proportion to the time it takes. */
export const WORK_OF = {
  /** Folded, and read once for literals. */
  read: 1,
  /** Read by the model for n-grams. */
  weighed: 2,
  /** Stepped through the automaton of one rule. */
  matched: 2,
  /** Searched for the place where one rule hit. */
  located: 64,
} as const

/**
 * What may be spent on the forms a text hides in, for each character of the text and for every message besides. The text itself is
 * always read to its end.
 */
export const HIDDEN_WORK = { perCharacter: 16, perMessage: 1_048_576 } as const

/** The account of one scan. */
export class Work {
  readonly #hiddenMax: number
  #spent = 0
  #hidden = 0
  /** Something was left unread, because there was too much or it lay too deep. */
  incomplete = false

  constructor(length: number) {
    this.#hiddenMax = HIDDEN_WORK.perMessage + HIDDEN_WORK.perCharacter * length
  }

  get spent(): number {
    return this.#spent
  }

  /** Spends on the text itself, where depth is 0, or on a form of it. */
  spend(amount: number, depth: number): void {
    this.#spent += amount
    if (depth > 0) this.#hidden += amount
  }

  /** Whether that much more may be spent on a form of the text. What may not be read makes the scan incomplete. */
  allows(amount: number): boolean {
    const allowed = this.#hidden + amount <= this.#hiddenMax
    if (!allowed) this.incomplete = true
    return allowed
  }
}

// What a task has spent: what the worker says, held against what is known here and what it was allowed (S10, S21).

export interface SpentTokens {
  /** As the worker says. */
  readonly reported: number
  /** As counted here: at least what the two have said to each other. */
  readonly computed: number
  readonly budget: number | null
}

export interface TokenFlags {
  /** The report is below what has gone over the wire, by more than the tolerance. */
  readonly mismatch: boolean
  readonly overBudget: boolean
}

/** `tolerance` is a part of what was computed: 0.2 lets a report be a fifth below it. A report may be any amount above. */
export const compareTokens = (
  { reported, computed, budget }: SpentTokens,
  tolerance: number,
): TokenFlags => ({
  mismatch: reported < computed * (1 - tolerance),
  overBudget: budget !== null && Math.max(reported, computed) > budget,
})

// What one way of doing something came to, and what all ways of a thief came to together.

/** Undefined: the thief holds nothing that gets so far as to be refused. */
export type WayOutcome =
  | { readonly refusedBy: Refuser }
  | { readonly possible: true; readonly foundBy?: string }
  | undefined

export type Refuser =
  | 'the gateway'
  | 'the auditor'
  | 'Postgres'
  | 'the receiver'
  | 'whoever acts on it'
  | 'whoever verifies'
  | 'the vault'

export const POSSIBLE: WayOutcome = { possible: true }
export const refused = (refusedBy: Refuser): WayOutcome => ({ refusedBy })

/** One way that succeeds is enough. */
export function together(outcomes: readonly WayOutcome[]): string | undefined {
  const found = outcomes.flatMap((one) => (one !== undefined && 'possible' in one ? [one] : []))
  if (found.length > 0) {
    const unfound = found.find(({ foundBy }) => foundBy === undefined)
    return unfound === undefined ? `possible, found by ${found[0]?.foundBy}` : 'possible'
  }
  const by = new Set(
    outcomes.flatMap((one) => (one !== undefined && 'refusedBy' in one ? [one.refusedBy] : [])),
  )
  return by.size === 0 ? undefined : `refused by ${[...by].toSorted().join(', ')}`
}

const NOT_ALLOWED = new Set(['42501', '42P01', '3F000', '25006'])

/** What a statement of a thief came to: a refusal by Postgres, or that it was carried out. */
export async function statement(work: () => Promise<unknown>): Promise<WayOutcome> {
  try {
    await work()
    return POSSIBLE
  } catch (error) {
    const code = sqlStateOf(error)
    if (NOT_ALLOWED.has(code) || /^BT|^P0/.test(code)) return refused('Postgres')
    throw error
  }
}

/** Of the error itself, or of what caused it. */
function sqlStateOf(error: unknown): string {
  const { code = '', cause } = error as { code?: string; cause?: unknown }
  return cause === undefined ? code : sqlStateOf(cause)
}

// The built-in summariser: picks the statements that matter, word for word, within a token budget.
import type { Turn } from './generated/handoff.ts'
import { KINDS, statementsOf } from './statements.ts'
import type { Statement, StatementKind } from './statements.ts'
import { countTokens } from './token-count.ts'

export interface SummaryOptions {
  /** The summary is never longer than this, except for its one-line head. */
  readonly tokensMax: number
  /** How many turns follow the summary word for word. */
  readonly kept: number
}

/**
 * Extracts rather than rewrites, so nothing is said in the summary that was not said before.
 * Statements are taken by weight until the budget is used, and shown by kind in their old order.
 */
export function summariseTurns(
  { turns, summary }: { readonly turns: readonly Turn[]; readonly summary: string },
  { tokensMax, kept }: SummaryOptions,
): string {
  const statements = statementsOf(turns, summary)
  const head = headOf(turns.length, kept)
  const chosen = choose(statements, tokensMax - countTokens(head) - HEADING_TOKENS)
  return [head, ...sectionsOf(chosen)].join('\n')
}

export const headOf = (turns: number, kept: number): string =>
  `[Earlier conversation condensed: ${turns} turns; the last ${kept} follow word for word.]`

/** Statements under a heading for each kind. */
export const sectionsOf = (statements: readonly Statement[]): readonly string[] =>
  KINDS.flatMap((kind) => section(kind, statements))

/** What the headings of all sections take together. */
export const HEADING_TOKENS = 24

const HEADINGS: Readonly<Record<StatementKind, string>> = {
  decision: 'Decisions:',
  constraint: 'Constraints:',
  warning: 'Warnings:',
  tool: 'Tool results:',
  fact: 'Facts:',
}

/** The weightiest that fit, in their old order. */
export function choose(statements: readonly Statement[], tokensMax: number): readonly Statement[] {
  const byWeight = statements.toSorted((a, b) => b.weight - a.weight || a.order - b.order)
  const chosen: Statement[] = []
  let tokens = 0
  for (const statement of byWeight) {
    const more = countTokens(lineOf(statement)) + 1
    if (tokens + more > tokensMax) continue
    chosen.push(statement)
    tokens += more
  }
  return chosen.toSorted((a, b) => a.order - b.order)
}

function section(kind: StatementKind, statements: readonly Statement[]): readonly string[] {
  const lines = statements.filter((statement) => statement.kind === kind).map(lineOf)
  return lines.length === 0 ? [] : [HEADINGS[kind], ...lines]
}

function lineOf({ speaker, text }: Statement): string {
  return speaker === '' ? `- ${text}` : `- ${speaker}: ${text}`
}

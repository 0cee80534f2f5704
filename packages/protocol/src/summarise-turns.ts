// The built-in summariser: picks the statements that matter, word for word, within a token budget.
import type { Conversation } from './compress-context.ts'
import type { PinnedFacts } from './generated/handoff.ts'
import { pinnedFacts } from './pinned-facts.ts'
import { KINDS, statementsOf, weightiestFirst } from './statements.ts'
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
export const summariseTurns = (older: Conversation, options: SummaryOptions): string =>
  extractOf(older, options).text

export interface Extract {
  readonly text: string
  /** What any other summary within the same bounds has to keep as well. */
  readonly pinned: PinnedFacts | undefined
}

export function extractOf(older: Conversation, { tokensMax, kept }: SummaryOptions): Extract {
  const head = headOf(older.turns.length, kept)
  const statements = statementsOf(older.turns, older.summary)
  const chosen = choose(statements, tokensMax - countTokens(head) - HEADING_TOKENS)
  const pinned = pinnedFacts(chosen, tokensMax * PINNED_SHARE)
  return { text: [head, ...sectionsOf(chosen)].join('\n'), pinned }
}

export const headOf = (turns: number, kept: number): string =>
  `[Earlier conversation condensed: ${turns} turns; the last ${kept} follow word for word.]`

/** Statements under a heading for each kind. */
export const sectionsOf = (statements: readonly Statement[]): readonly string[] =>
  KINDS.flatMap((kind) => section(kind, statements))

/** What the headings of all sections take together. */
export const HEADING_TOKENS = 24
/** How much longer than the room for the summary the pinned facts may make a message: no agent is shown them. */
const PINNED_SHARE = 0.25

const HEADINGS: Readonly<Record<StatementKind, string>> = {
  decision: 'Decisions:',
  constraint: 'Constraints:',
  warning: 'Warnings:',
  tool: 'Tool results:',
  fact: 'Facts:',
}

/** The weightiest that fit, in their old order. */
export function choose(statements: readonly Statement[], tokensMax: number): readonly Statement[] {
  const byWeight = statements.toSorted(weightiestFirst)
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

// Holds what somebody else wrote of older turns to what these turns say: nothing invented, nothing pinned lost (E03, E23).
import type { Conversation } from './compress-context.ts'
import { binds, plainOf, saidIn, valuesIn } from './pinned-facts.ts'
import { statementsOf } from './statements.ts'
import type { Statement } from './statements.ts'
import { choose, HEADING_TOKENS, headOf, sectionsOf } from './summarise-turns.ts'
import type { SummaryOptions } from './summarise-turns.ts'
import { countTokens } from './token-count.ts'

export type SummaryFault = 'empty' | 'invented' | 'too_long'

export type CheckedSummary =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly fault: SummaryFault }

/**
 * A summary that may take the place of the extract, because it keeps whatever the extract would have kept: statements
 * that were lost are put back word for word. It is refused when it is empty, when it names a number or an id that nobody
 * said, or when there is no room for what it lost.
 */
export function checkSummary(
  written: string,
  older: Conversation,
  { tokensMax, kept }: SummaryOptions,
): CheckedSummary {
  const text = written.trim()
  if (text === '') return { ok: false, fault: 'empty' }
  if (inventedIn(text, older).length > 0) return { ok: false, fault: 'invented' }
  const statements = statementsOf(older.turns, older.summary)
  const lost = lostStatements(text, statements)
  const line = headOf(older.turns.length, kept)
  const head = `${line}\n${text}`
  const back = choose(lost, tokensMax - countTokens(head) - HEADING_TOKENS)
  const gone = new Set(lost.filter((one) => !back.includes(one)))
  const would = choose(statements, tokensMax - countTokens(line) - HEADING_TOKENS)
  if (countTokens(head) > tokensMax || would.some((one) => gone.has(one)))
    return { ok: false, fault: 'too_long' }
  return { ok: true, text: [head, ...sectionsOf(back)].join('\n') }
}

/** The statements that a summary does not carry: word for word what binds, of others at least each number and id. */
function lostStatements(summary: string, statements: readonly Statement[]): readonly Statement[] {
  const said = saidIn(summary)
  const isLost = (statement: Statement): boolean => {
    if (said.statements.has(plainOf(statement.text))) return false
    if (binds(statement)) return true
    const values = valuesIn(statement.text)
    return values.length === 0 || values.some((value) => !said.values.has(value))
  }
  return statements.filter(isLost)
}

function inventedIn(text: string, { turns, summary }: Conversation): readonly string[] {
  const said = new Set([summary, ...turns.map(({ content }) => content)].flatMap(valuesIn))
  return valuesIn(text).filter((value) => !said.has(value))
}

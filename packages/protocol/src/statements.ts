// Cuts a conversation into statements and weighs what each of them is worth downstream.
import type { Turn } from './generated/handoff.ts'

/** What is worth most; what was said first among equals. */
export const weightiestFirst = (a: Statement, b: Statement): number =>
  b.weight - a.weight || a.order - b.order

/** In the order in which a summary shows them, most binding first. */
export const KINDS = ['decision', 'constraint', 'warning', 'tool', 'fact'] as const
export type StatementKind = (typeof KINDS)[number]

export interface Statement {
  readonly kind: StatementKind
  /** The role that said it; empty for a line of an earlier summary. */
  readonly speaker: string
  readonly text: string
  readonly weight: number
  /** Position in the conversation. */
  readonly order: number
}

/** The statements worth keeping, in order, each once. Small talk is left out. */
export function statementsOf(turns: readonly Turn[], summary: string): readonly Statement[] {
  const found: Statement[] = []
  const seen = new Set<string>()
  const add = (text: string, speaker: string, isTool: boolean) => {
    const previous = found.at(-1)
    const kind = kindOf(text, isTool, previous?.kind)
    const key = text.toLowerCase()
    if (kind === undefined || seen.has(key)) return
    seen.add(key)
    const order = found.length
    found.push({ kind, speaker, text, order, weight: weightOf(kind, text, speaker === '') })
  }
  for (const line of linesOfSummary(summary)) add(line, '', false)
  for (const turn of turns)
    for (const sentence of sentencesOf(turn.content)) add(sentence, turn.role, isToolTurn(turn))
  return found
}

function isToolTurn({ role, tool_call_id: callId }: Turn): boolean {
  return role === 'tool' || callId !== undefined
}

/** The lines of an earlier summary without the head and headings that this package writes. */
function linesOfSummary(summary: string): readonly string[] {
  return summary
    .split('\n')
    .filter((line) => !line.startsWith('[Earlier conversation') && !/^[A-Z][a-z ]+:$/.test(line))
    .flatMap((line) => sentencesOf(line.startsWith('- ') ? line.slice(2) : line))
}

export const STATEMENT_MAX = 320
/** A full stop after one of these ends no sentence: what follows it would be lost. */
const SENTENCE_END = /(?<!\b(?:Mr|Mrs|Ms|Dr|Prof|No|Nos|Art|Sec|e\.g|i\.e))[.!?;](?=\s)|\n+/g

/** Sentences, none longer than STATEMENT_MAX; longer ones are cut at a comma or space. */
export function sentencesOf(text: string): readonly string[] {
  const sentences: string[] = []
  let start = 0
  const take = (end: number) => {
    sentences.push(...cut(text.slice(start, end).trim()))
    start = end
  }
  for (const match of text.matchAll(SENTENCE_END)) take(match.index + match[0].length)
  take(text.length)
  return sentences.filter((sentence) => sentence.length > 1)
}

function cut(sentence: string): readonly string[] {
  const parts: string[] = []
  let start = 0
  while (sentence.length - start > STATEMENT_MAX) {
    const window = sentence.slice(start, start + STATEMENT_MAX)
    const at = Math.max(window.lastIndexOf(','), window.lastIndexOf(' '))
    const length = at > STATEMENT_MAX / 2 ? at + 1 : cutBeforeHalfPair(window)
    parts.push(sentence.slice(start, start + length).trim())
    start += length
  }
  parts.push(sentence.slice(start).trim())
  return parts
}

/** Never cuts a character in two. */
function cutBeforeHalfPair(window: string): number {
  const last = window.charCodeAt(window.length - 1)
  return last >= 0xd800 && last <= 0xdbff ? window.length - 1 : window.length
}

const DECISION =
  /\b(?:decid(?:e|ed|es|ing)|decisions?|cho(?:se|sen|ose)|agreed?|approved?|rejected?|selected?|concluded?|opted|settled on|go(?:ing)? with|we will|therefore|instead of|ruled out)\b/i
const REASON = /^(?:because|since|the reason|this is because|due to|so that|rationale)\b/i
const CONSTRAINT =
  /\b(?:must|shall|required?|requirement|constraint|never|only if|at (?:most|least)|no (?:more|later|less) than|limit(?:ed)?|maximum|minimum|deadline|cannot|may not|must not|do not|don't|not allowed|forbidden)\b/i
const WARNING =
  /\b(?:warn(?:ing|ed|s)?|caution|risks?|risky|flag(?:ged)?|danger|error|fail(?:ed|ure|s)?|exceptions?|alert|unresolved|blocked|concerns?|breach|overdue|missing|conflicts?|unlimited|suspicious|careful|note that)\b/i
const SPECIFIC = /[0-9]|[$€£%]|"[^"]+"|\b[A-Z][a-z]+ [A-Z][a-z]+|\b[A-Z]{2,}\b/
const LINK =
  /\b(?:is|are|was|were|has|have|equals|means|named|called|located|costs?|owns?|uses?)\b/i

function kindOf(
  text: string,
  isTool: boolean,
  previous: StatementKind | undefined,
): StatementKind | undefined {
  if (REASON.test(text) && previous === 'decision') return 'decision'
  if (DECISION.test(text)) return 'decision'
  if (CONSTRAINT.test(text)) return 'constraint'
  if (WARNING.test(text)) return 'warning'
  if (isTool) return 'tool'
  if (SPECIFIC.test(text) || (LINK.test(text) && text.length > 24)) return 'fact'
  return undefined
}

const WEIGHTS: Readonly<Record<StatementKind, number>> = {
  decision: 6,
  constraint: 5,
  warning: 5,
  tool: 3,
  fact: 1,
}

/** What binds weighs most; then what is specific; what an earlier summary kept stays kept. */
function weightOf(kind: StatementKind, text: string, isKept: boolean): number {
  const specific = SPECIFIC.test(text) ? 2 : 0
  return WEIGHTS[kind] + specific + (isKept ? 3 : 0)
}

// The second agent: finds the clauses of a licence and quotes them with their place.
import { defineAgent } from '@baton/sdk'
import type { AgentContext, AgentResult } from '@baton/sdk'
import { CLAUSE_KINDS } from './clause-kinds.ts'
import type { ClauseKind } from './clause-kinds.ts'
import { readObject, readObjects } from './review-state.ts'
import type { Clause, Section } from './review-state.ts'
import { estimateUsage } from './usage.ts'

const CLAUSES_PER_KIND_MAX = 5
const QUOTE_CHARACTERS_MAX = 600

const KINDS = Object.entries(CLAUSE_KINDS) as readonly [
  ClauseKind,
  (typeof CLAUSE_KINDS)[ClauseKind],
][]

/**
 * The clauses of all sections in the order of the text, at most one of a kind per section and five
 * of a kind in all: a file that collects many licences repeats itself.
 */
export function extractClauses(sections: readonly Section[]): readonly Clause[] {
  const counts = new Map<ClauseKind, number>()
  const clauses: Clause[] = []
  for (const section of sections) {
    for (const [kind, { wording }] of KINDS) {
      const count = counts.get(kind) ?? 0
      const match = count < CLAUSES_PER_KIND_MAX ? wording.exec(section.text) : null
      if (match === null) continue
      counts.set(kind, count + 1)
      const span = sentenceAround(section.text, [match.index, match.index + match[0].length])
      clauses.push({
        id: `c${clauses.length + 1}`,
        kind,
        section: section.id,
        span,
        quote: section.text.slice(...span),
      })
    }
  }
  return clauses
}

type Span = readonly [start: number, end: number]

/** The sentence or list item that contains the match, at most 600 characters from its start. */
function sentenceAround(text: string, [start, end]: Span): Span {
  const before = text.slice(0, start)
  const opening = Math.max(before.lastIndexOf('\n'), lastSentenceEnd(before))
  const from = Math.max(opening + 1, end - QUOTE_CHARACTERS_MAX)
  const after = /[.;](?=\s|$)|\n|$/.exec(text.slice(end))
  const stop = end + (after === null ? 0 : after.index + after[0].length)
  return trimmed(text, [from, Math.min(stop, from + QUOTE_CHARACTERS_MAX)])
}

function lastSentenceEnd(text: string): number {
  return Math.max(...['. ', '; ', ': '].map((mark) => text.lastIndexOf(mark)), -1)
}

function trimmed(text: string, [start, end]: Span): Span {
  const quote = text.slice(start, end)
  return [
    start + quote.length - quote.trimStart().length,
    end - quote.length + quote.trimEnd().length,
  ]
}

export const clauseExtraction = defineAgent({
  type: 'clause-extraction',
  version: '1.0.0',
  requires: ['licence', 'holders', 'sections'],
  execute: (context) => Promise.resolve(extract(context)),
})

// The sections stay behind: what follows works on quotes, and a message carries no more than needed.
function extract({ state }: AgentContext): AgentResult {
  const { licence, holders } = state
  const sections = readObjects<Section>(state, 'sections')
  const clauses = extractClauses(sections)
  readObject(state, 'licence')
  return {
    subtask: {
      subtaskId: 'clause-extraction',
      description: 'Found and quoted the clauses of the licence.',
      result: { clauses: clauses.length, kinds: new Set(clauses.map(({ kind }) => kind)).size },
    },
    state: { licence: licence ?? null, holders: holders ?? [], clauses },
    ...estimateUsage(sections, clauses),
    next: [
      {
        to: 'legal-analysis',
        agentVersion: '^1.0.0',
        taskDescription:
          'Say what each clause in currentState.clauses obliges to, what is missing and what conflicts.',
      },
    ],
  }
}

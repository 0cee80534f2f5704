// The third agent: what the clauses oblige to, what is missing, and what contradicts itself.
import { defineAgent } from '@baton/sdk'
import type { Agent, AgentContext, AgentResult } from '@baton/sdk'
import { CLAUSE_KINDS } from './clause-kinds.ts'
import type { ClauseKind } from './clause-kinds.ts'
import {
  ABSENCE_RULES,
  CONFLICT_RULES,
  PRESENCE_RULES,
  SEVERAL_LICENCES,
  UNKNOWN_LICENCE,
} from './legal-rules.ts'
import { askModel } from './model-opinion.ts'
import type { ModelOptions } from './model-opinion.ts'
import { readObject, readObjects } from './review-state.ts'
import type { Clause, Issue, LicenceCard, Obligation } from './review-state.ts'
import { addUsage, estimateUsage } from './usage.ts'
import type { Usage } from './usage.ts'

/** One obligation per kind of clause, in the order of the text. */
export function listObligations(clauses: readonly Clause[]): readonly Obligation[] {
  const kinds = new Set(clauses.map(({ kind }) => kind).filter((kind) => kind in CLAUSE_KINDS))
  return [...kinds].map((kind) => ({ kind, duty: CLAUSE_KINDS[kind].duty }))
}

/** Burdens, gaps and conflicts; a pure function of the clauses and the licences recognised. */
export function findIssues(clauses: readonly Clause[], spdx: string): readonly Issue[] {
  const idsOf = (kind: ClauseKind) =>
    clauses.filter((clause) => clause.kind === kind).map(({ id }) => id)
  const has = (kind: ClauseKind) => idsOf(kind).length > 0
  const burdens = PRESENCE_RULES.filter(
    ({ present, unless }) => has(present) && !(unless !== undefined && has(unless)),
  )
  const gaps = ABSENCE_RULES.filter(({ absent, unless }) => !has(absent) && !unless.some(has))
  const conflicts = CONFLICT_RULES.filter(({ both }) => both.every((licence) => licence.test(spdx)))
  return [
    ...conflicts.map(({ both: _both, ...judgement }) => ({ ...judgement, clauses: [] })),
    ...burdens.map(({ present, unless: _unless, ...judgement }) => ({
      ...judgement,
      clauses: idsOf(present),
    })),
    ...gaps.map(({ absent: _absent, unless: _unless, ...judgement }) => ({
      ...judgement,
      clauses: [],
    })),
    ...(spdx.includes(' AND ') ? [{ ...SEVERAL_LICENCES, clauses: [] }] : []),
    ...(spdx === 'NOASSERTION' ? [{ ...UNKNOWN_LICENCE, clauses: [] }] : []),
  ]
}

/** The agent; with a model it also asks that for concerns, and adds them to what the rules found. */
export function createLegalAnalysis(model?: ModelOptions): Agent {
  return defineAgent({
    type: 'legal-analysis',
    version: '1.0.0',
    requires: ['licence', 'holders', 'clauses'],
    execute: (context) => analyse(context, model),
  })
}

async function analyse(
  context: AgentContext,
  model: ModelOptions | undefined,
): Promise<AgentResult> {
  const { state } = context
  const licence = readObject<LicenceCard>(state, 'licence')
  const clauses = readObjects<Clause>(state, 'clauses')
  const obligations = listObligations(clauses)
  const found = findIssues(clauses, licence.spdx)
  const opinion = model === undefined ? undefined : await askModel(context, model)
  const issues = [...found, ...(opinion?.issues ?? [])]
  const usage: Usage = estimateUsage(clauses, { obligations, issues: found })
  return {
    subtask: {
      subtaskId: 'legal-analysis',
      description: 'Said what the clauses oblige to, what is missing and what conflicts.',
      result: {
        obligations: obligations.length,
        flags: issues.map(({ flag }) => flag),
        model: opinion?.model ?? null,
      },
    },
    state: { licence, holders: state['holders'] ?? [], clauses, obligations, issues },
    ...(opinion === undefined ? usage : addUsage(usage, opinion.usage)),
    next: [
      {
        to: 'risk-scoring',
        agentVersion: '^1.0.0',
        taskDescription:
          'Score the risk of the licence from currentState.issues and sum it up for management.',
      },
    ],
  }
}

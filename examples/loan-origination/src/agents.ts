// Six agents in a row: each adds what it found to the state, under its own name, and the last one decides from all of it.
import { defineAgent, permanent } from '@baton/sdk'
import type { Agent, AgentResult, JsonObject, JsonValue } from '@baton/sdk'
import {
  countIncome,
  decideLoan,
  judgeAffordability,
  judgeHistory,
  missingIn,
  readTerms,
  sumObligations,
} from './loan.ts'
import type { Application, Findings, Income, Obligations, Terms } from './loan.ts'

interface Step {
  readonly type: string
  /** Under which name the next ones find what this one found. */
  readonly finds: string
  /** Absent for the last one, whose finding is the result of the task. */
  readonly next?: { readonly to: string; readonly taskDescription: string }
  work(application: Application, state: JsonObject): object
}

/** A millionth of a dollar for each character that is read: the same for the same application. */
const costOf = (read: JsonValue): number => JSON.stringify(read).length / 1_000_000

const stepAgent = ({ type, finds, next, work }: Step): Agent =>
  defineAgent({
    type,
    version: '1.0.0',
    requires: ['application'],
    async execute({ state }): Promise<AgentResult> {
      const found = work(state['application'] as unknown as Application, state) as JsonObject
      return {
        subtask: { subtaskId: type, description: `Found the ${finds}.`, result: found },
        state: { ...state, [finds]: found },
        costUSD: costOf(state),
        tokens: { prompt: 0, completion: 0 },
        ...(next === undefined ? { next: [], result: found } : { next: [next] }),
      }
    },
  })

function checkComplete({ agreement }: Application, state: JsonObject): object {
  const lacking = missingIn(state)
  const terms = lacking.length === 0 ? readTerms(agreement) : { unread: lacking }
  if (!('unread' in terms)) return terms
  const missing = terms.unread
  throw permanent('BATON_LOAN_INCOMPLETE', `the application lacks ${missing.join(', ')}`, {
    fix: 'Add what is missing, and send it as a new task.',
  })
}

/** What earlier agents found. */
const found = <Finding>(state: JsonObject, name: string): Finding =>
  state[name] as unknown as Finding

export const agents: readonly Agent[] = [
  stepAgent({
    type: 'loan-intake',
    finds: 'intake',
    next: { to: 'loan-income', taskDescription: 'What is earned, as far as it is documented?' },
    work: checkComplete,
  }),
  stepAgent({
    type: 'loan-income',
    finds: 'income',
    next: { to: 'loan-obligations', taskDescription: 'What must be paid already?' },
    work: countIncome,
  }),
  stepAgent({
    type: 'loan-obligations',
    finds: 'obligations',
    next: { to: 'loan-affordability', taskDescription: 'Can the loan be paid beside it?' },
    work: sumObligations,
  }),
  stepAgent({
    type: 'loan-affordability',
    finds: 'affordability',
    next: { to: 'loan-history', taskDescription: 'Was paid in time so far?' },
    work: (_, state) =>
      judgeAffordability(
        found<Terms>(state, 'intake'),
        found<Income>(state, 'income'),
        found<Obligations>(state, 'obligations'),
      ),
  }),
  stepAgent({
    type: 'loan-history',
    finds: 'history',
    next: { to: 'loan-decision', taskDescription: 'Decide about the loan.' },
    work: judgeHistory,
  }),
  stepAgent({
    type: 'loan-decision',
    finds: 'decision',
    work: (_, state) => decideLoan(state as unknown as Findings),
  }),
]

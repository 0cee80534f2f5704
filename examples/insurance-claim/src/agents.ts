// Intake fans out to three checks that run at the same time; the decision waits for all of them and reads their results by name.
import { defineAgent } from '@baton/sdk'
import type { Agent, AgentContext, AgentResult, JsonObject, JsonValue } from '@baton/sdk'
import { assessCharges, checkCoverage, checkFraud, decide, readClaim } from './claim.ts'
import type { Checks, Claim } from './claim.ts'

/** A millionth of a dollar for each character that is read: the same for the same claim. */
const costOf = (read: JsonValue): number => JSON.stringify(read).length / 1_000_000

const textIn = ({ claim }: JsonObject): string => (typeof claim === 'string' ? claim : '')

const intake = defineAgent({
  type: 'claim-intake',
  version: '1.0.0',
  requires: ['claim'],
  async execute({ state }): Promise<AgentResult> {
    // Read once, so that what is no claim goes no further.
    const { number, services } = readClaim(textIn(state))
    return {
      subtask: {
        subtaskId: 'intake',
        description: 'Took the claim in.',
        result: { number, services: services.length },
      },
      state,
      costUSD: costOf(state),
      tokens: { prompt: 0, completion: 0 },
      next: [
        {
          to: 'claim-coverage',
          branch: 'coverage',
          taskDescription: 'Does the insurance pay for it?',
        },
        { to: 'claim-fraud', branch: 'fraud', taskDescription: 'Does anything speak against it?' },
        { to: 'claim-charges', branch: 'charges', taskDescription: 'What may it cost?' },
      ],
      join: { to: 'claim-decision', taskDescription: 'Decide about the claim.' },
    }
  },
})

/** One of the checks: its result is what the decision reads. */
const checking = (type: string, check: (claim: Claim) => object): Agent =>
  defineAgent({
    type,
    version: '1.0.0',
    requires: ['claim'],
    async execute({ state }: AgentContext): Promise<AgentResult> {
      const result = check(readClaim(textIn(state))) as JsonObject
      return {
        subtask: { subtaskId: type, description: `Did ${type}.`, result },
        state,
        costUSD: costOf(state),
        tokens: { prompt: 0, completion: 0 },
        next: [],
        result,
      }
    },
  })

const decision = defineAgent({
  type: 'claim-decision',
  version: '1.0.0',
  requires: ['claim', 'branches'],
  async execute({ state }): Promise<AgentResult> {
    const result = { ...decide(checksOf(state)) }
    return {
      subtask: { subtaskId: 'decision', description: 'Decided.', result },
      state,
      costUSD: costOf(state),
      tokens: { prompt: 0, completion: 0 },
      next: [],
      result,
    }
  },
})

function checksOf(state: JsonObject): Checks {
  const branches = state['branches'] as unknown as Readonly<
    Record<keyof Checks, { result: unknown }>
  >
  const { coverage, fraud, charges } = branches
  return { coverage: coverage.result, fraud: fraud.result, charges: charges.result } as Checks
}

export const agents: readonly Agent[] = [
  intake,
  checking('claim-coverage', checkCoverage),
  checking('claim-fraud', checkFraud),
  checking('claim-charges', assessCharges),
  decision,
]

// Agents for the faults of control operations: one that never answers, one that lacks what is required, one that has it.
import { appendFileSync } from 'node:fs'
import { defineAgent } from '@baton/sdk'
import type { Agent, AgentContext, AgentResult } from '@baton/sdk'

const ledger = process.env['BATON_TEST_LEDGER'] ?? ''

const note = ({ handoffId, fencingToken, message }: AgentContext) =>
  appendFileSync(
    ledger,
    `${JSON.stringify({ handoffId, fencingToken, to: message.toAgent.agentType })}\n`,
  )

function agent(type: string, parts: Partial<Agent> = {}): Agent {
  return defineAgent({
    type,
    version: '1.0.0',
    requires: [],
    async execute(context): Promise<AgentResult> {
      note(context)
      return {
        subtask: { subtaskId: type, description: 'write the ledger', result: type },
        state: context.state,
        costUSD: 0.01,
        tokens: { prompt: 1, completion: 1 },
        next: [],
      }
    },
    ...parts,
  })
}

export const agents = [
  agent('plain'),
  agent('able', { capabilities: ['fly'] }),
  agent('endless', {
    execute(context) {
      note(context)
      return new Promise(() => undefined)
    },
  }),
]

// Two agents that hand over once, for the test that follows a posted handoff to its end.
import { defineAgent } from '@baton/sdk'

export const agents = [
  defineAgent({
    type: 'clause-extraction',
    version: '1.0.0',
    requires: ['document'],
    execute: async (context) => ({
      subtask: { subtaskId: 'extract', description: 'extract the clauses', result: 2 },
      state: context.state,
      costUSD: 0.01,
      tokens: { prompt: 1, completion: 1 },
      next: [{ to: 'risk-scoring', taskDescription: 'score the clauses' }],
    }),
  }),
  defineAgent({
    type: 'risk-scoring',
    version: '1.0.0',
    requires: ['document'],
    execute: async (context) => ({
      subtask: { subtaskId: 'score', description: 'score the clauses', result: 0.3 },
      state: context.state,
      costUSD: 0.02,
      tokens: { prompt: 1, completion: 1 },
      next: [],
      result: { risk: 0.3 },
    }),
  }),
]

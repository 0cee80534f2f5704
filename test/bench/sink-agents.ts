// The agent of the benchmark: does nothing, so that the figures are those of the hand-off.
import { defineAgent } from '@baton/sdk'

export const agents = [
  defineAgent({
    type: 'sink',
    version: '1.0.0',
    requires: ['payload'],
    execute: async () => ({
      subtask: { subtaskId: 'sink', description: 'take the payload', result: null },
      state: {},
      costUSD: 0.0001,
      tokens: { prompt: 1, completion: 1 },
      next: [],
    }),
  }),
]

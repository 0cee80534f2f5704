// The agents of the dumps: two that hand over once, and one that a version of then holds until it is killed. Every version can load them.
import { defineAgent } from '@baton/sdk'
import type { AgentContext, AgentResult, NextHandoff } from '@baton/sdk'

const done = (context: AgentContext, next: readonly NextHandoff[]): AgentResult => ({
  subtask: { subtaskId: `step-${context.handoffId}`, description: 'one step', result: 'done' },
  state: context.state,
  costUSD: 0.01,
  tokens: { prompt: 1, completion: 1 },
  next,
})

export const agents = [
  defineAgent({
    type: 'first',
    version: '1.0.0',
    requires: ['text'],
    execute: async (context) => done(context, [{ to: 'second', taskDescription: 'go on' }]),
  }),
  defineAgent({
    type: 'second',
    version: '1.0.0',
    requires: ['text'],
    execute: async (context) => done(context, []),
  }),
  defineAgent({
    type: 'held',
    version: '1.0.0',
    requires: ['text'],
    async execute(context) {
      // Told so by whoever makes the dump, and kills it meanwhile.
      if (process.env['BATON_TEST_WORK_MS'] === '600000')
        await new Promise((resolve) => setTimeout(resolve, 600_000))
      return done(context, [{ to: 'second', taskDescription: 'go on' }])
    },
  }),
]

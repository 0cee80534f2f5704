// Agents that keep an effect ledger of their own, outside the system: one line per execution that started.
import { appendFileSync } from 'node:fs'
import { defineAgent, permanent } from '@baton/sdk'
import type { AgentContext, AgentResult, JoinHandoff, NextHandoff } from '@baton/sdk'

const ledger = process.env['BATON_TEST_LEDGER'] ?? ''
const workMs = Number(process.env['BATON_TEST_WORK_MS'] ?? 0)

interface Step {
  readonly subtaskId: string
  readonly next: readonly NextHandoff[]
  readonly join?: JoinHandoff
}

async function work(context: AgentContext, { subtaskId, ...passedOn }: Step): Promise<AgentResult> {
  const { handoffId, fencingToken, taskId } = context
  const line = {
    handoffId,
    taskId,
    fencingToken,
    key: context.idempotencyKey('effect'),
    at: Date.now(),
  }
  appendFileSync(ledger, `${JSON.stringify(line)}\n`)
  if (workMs > 0) await new Promise((resolve) => setTimeout(resolve, workMs))
  return {
    subtask: { subtaskId, description: 'write the ledger', result: { fencingToken } },
    state: context.state,
    costUSD: 0.01,
    tokens: { prompt: 1, completion: 1 },
    ...passedOn,
  }
}

export const agents = [
  defineAgent({
    type: 'first',
    version: '1.0.0',
    requires: ['text'],
    execute: (context) =>
      work(context, { subtaskId: 'first', next: [{ to: 'second', taskDescription: 'go on' }] }),
  }),
  defineAgent({
    type: 'second',
    version: '1.0.0',
    requires: ['text'],
    execute: (context) => work(context, { subtaskId: 'second', next: [] }),
  }),
  defineAgent({
    type: 'forking',
    version: '1.0.0',
    requires: ['text'],
    execute: (context) =>
      work(context, {
        subtaskId: 'forking',
        next: [
          { to: 'second', taskDescription: 'the one half' },
          { to: 'second', taskDescription: 'the other half' },
        ],
        join: { to: 'joining', taskDescription: 'bring it together' },
      }),
  }),
  defineAgent({
    type: 'joining',
    version: '1.0.0',
    requires: ['branches'],
    execute: (context) => work(context, { subtaskId: 'joining', next: [] }),
  }),
  defineAgent({
    type: 'broken',
    version: '1.0.0',
    requires: [],
    execute: async () => {
      throw new Error('this agent never succeeds')
    },
  }),
  defineAgent({
    type: 'hopeless',
    version: '1.0.0',
    requires: [],
    execute: async () => {
      throw permanent('BATON_HOPELESS', 'trying again is of no use')
    },
  }),
]

// The pair of agents of a game day: a writer that hands on to a checker, and does what the task's kind says.
import { setTimeout as delay } from 'node:timers/promises'
import { defineAgent, transient } from '@baton/sdk'
import type { Agent, AgentContext, AgentResult } from '@baton/sdk'

export const WRITER = 'gameday-writer'
const CHECKER = 'gameday-checker'
/** The one that is called over HTTP, where a day has one. */
export const OUTSIDE = 'gameday-outside'
/** Which of the two a receiver hosts, by its environment; both where it says nothing. */
export const HOSTED = 'GAMEDAY_HOSTED'

const BLOCKED_MS = 600
const SLOW_MS = 1_000

/** `state.kind`: fine ones do nothing, the others what their names say. */
async function work(context: AgentContext): Promise<void> {
  const { kind } = context.state
  if (kind === 'failing') throw transient('BATON_GAMEDAY_FAILS', 'this agent fails on purpose')
  if (kind === 'slow') await delay(SLOW_MS)
  if (kind === 'blocking') Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BLOCKED_MS)
}

function answer({ state }: AgentContext, step: string, next: AgentResult['next']): AgentResult {
  return {
    subtask: { subtaskId: step, description: `Did its part as ${step}.`, result: 'done' },
    state,
    costUSD: state['kind'] === 'expensive' ? 2 : 0.0001,
    tokens: { prompt: 1, completion: 1 },
    next,
  }
}

const writer = defineAgent({
  type: WRITER,
  version: '1.0.0',
  requires: ['kind'],
  async execute(context) {
    await work(context)
    const to = context.state['kind'] === 'outside' ? OUTSIDE : CHECKER
    return answer(context, 'write', [{ to, taskDescription: 'Check the line.' }])
  },
})

const checker = defineAgent({
  type: CHECKER,
  version: '1.0.0',
  /** Conversations of the kind `talkative` are longer. */
  contextWindowTokens: 2_000,
  requires: ['kind'],
  execute: async (context) => answer(context, 'check', []),
})

export const createAgents = (
  environment: Readonly<Record<string, string | undefined>>,
): readonly Agent[] =>
  [writer, checker].filter(({ type }) => [undefined, type].includes(environment[HOSTED]))

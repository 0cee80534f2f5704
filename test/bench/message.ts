// The benchmark's message, a v2.0 handoff with English-like text filled up to the wanted size, and what its agents answer.
import { randomBytes, randomUUID } from 'node:crypto'
import type { AgentState } from '@baton/sdk'

const WORDS =
  'the contract shall remain in force until either party gives notice in writing and the supplier delivers every item listed in schedule two with care skill and within the agreed time'.split(
    ' ',
  )

/** Text of about `bytes` bytes from a seeded generator, so that runs compare. */
export function proseOf(bytes: number, seed: number): string {
  let state = seed >>> 0 || 1
  const words: string[] = []
  for (let length = 0; length < bytes;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    const word = WORDS[(state >>> 16) % WORDS.length] ?? 'the'
    words.push(word)
    length += word.length + 1
  }
  return words.join(' ').slice(0, bytes)
}

const OVERHEAD_BYTES = 1_100

/** Agent state whose message takes about `bytes` bytes. */
export function stateOf(bytes: number, seed: number): AgentState {
  return {
    taskId: randomUUID(),
    agent: { agentId: 'bench', agentVersion: '1.0.0' },
    taskDescription: 'Take the payload',
    completedSubtasks: [
      { subtaskId: 's1', description: 'made the payload', completedAt: '2026-11-20T00:00:00Z' },
    ],
    remainingSubtasks: [{ subtaskId: 'sink', description: 'take the payload' }],
    currentState: { payload: proseOf(Math.max(16, bytes - OVERHEAD_BYTES), seed) },
    cost: {
      spentSoFarUSD: 0,
      budgetRemainingUSD: 1,
      ownCostUSD: 0.001,
      tokenSpent: { prompt: 100, completion: 20 },
    },
    traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
  }
}

/** What every agent of the benchmark answers, however it is reached. */
export const TAKEN = {
  subtask: { subtaskId: 'sink', description: 'take the payload', result: null },
  state: {},
  costUSD: 0.0001,
  tokens: { prompt: 1, completion: 1 },
}

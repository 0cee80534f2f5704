// What a task has cost stands in tables that fit a terminal: nothing is left out, and the sum is the task's.
import { expect, it } from 'vitest'
import { costLines } from './trace-costs.ts'

const tokens = (promptTokens: number, completionTokens: number) => ({
  promptTokens,
  completionTokens,
})
const hop = (fromAgent: string, toAgent: string, spentMicroUSD: number) => ({
  handoffId: '1a2b3c4d-5e6f-4a7b-8c9d-0e1f2a3b4c5d',
  fromAgent,
  toAgent,
  spentMicroUSD,
  negative: spentMicroUSD < 0,
})
const cost = {
  totalSpentMicroUSD: 150_000,
  finalExecutionsMicroUSD: 10_000,
  byAgentMicroUSD: { sender: 50_000, reader: 110_000 },
  byPathMicroUSD: { 'sender → reader': 160_000 },
  tokensByAgent: { sender: tokens(10, 5), model: tokens(1_200, 0) },
  totalTokens: tokens(1_210, 5),
  hops: [hop('sender', 'reader', 50_000)],
}

it('tells of every agent that spent money or tokens, and of all together', () => {
  expect(costLines(cost).join('\n').split('\n')).toEqual([
    'AGENT      COST  TOKENS IN  OUT',
    'sender  $0.0500         10    5',
    'reader  $0.1100          0    0',
    'model   $0.0000      1,200    0',
    'all     $0.1600      1,210    5',
  ])
})

it('tells of ways where there are several, and of a total that fell', () => {
  const byPathMicroUSD = { 'sender → a': 40_000, 'sender → b': 60_000 }
  const lines = costLines({ ...cost, byPathMicroUSD, hops: [hop('a', 'c', -20_000)] })
  expect(lines.join('\n').split('\n').slice(5)).toEqual([
    '',
    'WAY            COST',
    'sender → a  $0.0400',
    'sender → b  $0.0600',
    expect.stringContaining('a → c'),
  ])
})

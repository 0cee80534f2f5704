// What the tasks of a bundle cost and who spent it, in money and tokens, each execution once.
import type { RecordBody } from '../../src/record.ts'
import { taskCost } from '../../src/task-cost.ts'

export interface AgentCost {
  readonly agent: string
  readonly microUSD: number
  readonly tokensRead: number
  readonly tokensWritten: number
}

export interface CostSummary {
  readonly totalMicroUSD: number
  readonly tokensRead: number
  readonly tokensWritten: number
  readonly byAgent: readonly AgentCost[]
}

const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0)

export function costsOf(records: readonly RecordBody[]): CostSummary {
  const tasks = Map.groupBy(records, ({ taskId }) => taskId)
  const costs = [...tasks.values()].map((own) => taskCost(own))
  const agents = new Set(costs.flatMap(({ byAgentMicroUSD }) => Object.keys(byAgentMicroUSD)))
  const byAgent = [...agents].toSorted().map((agent) => ({
    agent,
    microUSD: sumOf(costs, ({ byAgentMicroUSD }) => byAgentMicroUSD[agent] ?? 0),
    tokensRead: sumOf(costs, ({ tokensByAgent }) => tokensByAgent[agent]?.promptTokens ?? 0),
    tokensWritten: sumOf(costs, ({ tokensByAgent }) => tokensByAgent[agent]?.completionTokens ?? 0),
  }))
  return {
    byAgent,
    totalMicroUSD: sumOf(byAgent, ({ microUSD }) => microUSD),
    tokensRead: sumOf(byAgent, ({ tokensRead }) => tokensRead),
    tokensWritten: sumOf(byAgent, ({ tokensWritten }) => tokensWritten),
  }
}

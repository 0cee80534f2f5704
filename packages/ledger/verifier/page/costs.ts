// What the task cost and who spent it. Running totals become differences; tokens are those of each execution once.
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

interface Tokens {
  readonly agent: string
  readonly read: number
  readonly written: number
}

const sumOf = <T>(items: readonly T[], value: (item: T) => number): number =>
  items.reduce((total, item) => total + value(item), 0)

export function costsOf(records: readonly RecordBody[]): CostSummary {
  const tasks = Map.groupBy(records, ({ taskId }) => taskId)
  const spent = [...tasks.values()].flatMap((own) => Object.entries(taskCost(own).byAgentMicroUSD))
  const tokens = tokensOf(records)
  const agents = new Set([...spent.map(([agent]) => agent), ...tokens.map(({ agent }) => agent)])
  return {
    totalMicroUSD: sumOf(spent, ([, micro]) => micro),
    tokensRead: sumOf(tokens, ({ read }) => read),
    tokensWritten: sumOf(tokens, ({ written }) => written),
    byAgent: [...agents].toSorted().map((agent) => {
      const own = tokens.filter((one) => one.agent === agent)
      return {
        agent,
        microUSD: sumOf(spent, ([name, micro]) => (name === agent ? micro : 0)),
        tokensRead: sumOf(own, ({ read }) => read),
        tokensWritten: sumOf(own, ({ written }) => written),
      }
    }),
  }
}

// A message names the tokens of the execution that sent it, and so does the record of that execution's end: the end
// counts where it is here, else one message of each execution.
function tokensOf(records: readonly RecordBody[]): readonly Tokens[] {
  const completed = new Map<string, Tokens>()
  const sent = new Map<string, Tokens>()
  for (const { event, cost, handoffId, toAgent } of records) {
    if (cost === null || event !== 'EXECUTION_COMPLETED') continue
    const { promptTokens: read, completionTokens: written } = cost
    completed.set(handoffId, { agent: toAgent.agentType, read, written })
  }
  for (const { event, cost, parentHandoffId, fromAgent } of records) {
    if (cost === null || !DECISIONS.has(event) || completed.has(parentHandoffId ?? '')) continue
    const { promptTokens: read, completionTokens: written } = cost
    sent.set(fromAgent.executionId, { agent: fromAgent.agentId, read, written })
  }
  return [...sent.values(), ...completed.values()]
}

const DECISIONS: ReadonlySet<string> = new Set(['HANDOFF_ACCEPTED', 'HANDOFF_REJECTED'])

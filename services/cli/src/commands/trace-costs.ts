// What a task has cost, for `trace`: by agent in money and tokens, and by way where it branched.
import type { TaskTrace } from '@baton/audit'
import { count, dollars } from '../terminal/figures.ts'
import { renderTable } from '../terminal/table.ts'

type Cost = Pick<
  TaskTrace['cost'],
  | 'totalSpentMicroUSD'
  | 'finalExecutionsMicroUSD'
  | 'byAgentMicroUSD'
  | 'byPathMicroUSD'
  | 'tokensByAgent'
  | 'totalTokens'
> & {
  readonly hops: readonly Pick<
    TaskTrace['cost']['hops'][number],
    'fromAgent' | 'toAgent' | 'spentMicroUSD' | 'negative'
  >[]
}

const NO_TOKENS = { promptTokens: 0, completionTokens: 0 }

/** Agents in the order of the log, and all together; ways where there are several; and a hop whose running total fell. */
export function costLines(cost: Cost): readonly string[] {
  const ways = Object.entries(cost.byPathMicroUSD)
  const wrong = cost.hops.filter(({ negative }) => negative)
  return [
    agentTable(cost),
    ...(ways.length < 2 ? [] : ['', wayTable(ways)]),
    ...wrong.map(
      ({ fromAgent, toAgent, spentMicroUSD }) =>
        `${fromAgent} → ${toAgent} ${dollars(spentMicroUSD)}: below its parent, wrongly deducted`,
    ),
  ]
}

function agentTable(cost: Cost): string {
  const agents = new Set([...Object.keys(cost.byAgentMicroUSD), ...Object.keys(cost.tokensByAgent)])
  const rows = [...agents].map((agent) => {
    const { promptTokens, completionTokens } = cost.tokensByAgent[agent] ?? NO_TOKENS
    const spent = dollars(cost.byAgentMicroUSD[agent] ?? 0)
    return [agent, spent, count(promptTokens), count(completionTokens)]
  })
  const { promptTokens, completionTokens } = cost.totalTokens
  const total = dollars(cost.totalSpentMicroUSD + cost.finalExecutionsMicroUSD)
  return renderTable(
    [
      { title: 'AGENT', widthMax: 44 },
      { title: 'COST', align: 'right' },
      { title: 'TOKENS IN', align: 'right' },
      { title: 'OUT', align: 'right' },
    ],
    [...rows, ['all', total, count(promptTokens), count(completionTokens)]],
  )
}

const wayTable = (ways: readonly (readonly [string, number])[]): string =>
  renderTable(
    [
      { title: 'WAY', widthMax: 68 },
      { title: 'COST', align: 'right' },
    ],
    ways.map(([way, spent]) => [way, dollars(spent)]),
  )

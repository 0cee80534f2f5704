// A task that fans out, state by state: no interleaving and no faults break a promise, and every missing part is noticed.
import { describe, expect, it } from 'vitest'
import type { GraphBounds, GraphRules } from './graph-moves.ts'
import { ALL_GRAPH_RULES, graphProtocol } from './graph-protocol.ts'
import { explore } from './search.ts'
import type { Found } from './search.ts'

const STATES_MAX = 8_000_000
const SECONDS_MAX = 600
const { BATON_TEST_GRAPH_BRANCHES = '3', BATON_TEST_GRAPH_FAULTS = '1' } = process.env
const branches = Number(BATON_TEST_GRAPH_BRANCHES)
const faults = Number(BATON_TEST_GRAPH_FAULTS)

type Configuration = Omit<GraphBounds, 'budget'>

function search(name: string, configuration: Configuration, rules = ALL_GRAPH_RULES): Found {
  // Enough for the root, every branch, the join and one branch that gets twice as much: more is refused.
  const bounds = { ...configuration, budget: branches + 3 }
  const protocol = graphProtocol({ branches, fanIns: 2, faults }, bounds, rules)
  const found = explore(protocol, { statesMax: STATES_MAX })
  const { states, transitions, settled, seconds } = found
  process.stderr.write(
    `model: ${name}: ${states} states, ${transitions} transitions, ${settled} settled, ${seconds.toFixed(1)} s\n`,
  )
  return found
}

const POLICIES = ['wait', 'skip', 'fail'] as const
const every = Array.from({ length: branches }, (_, nth) => nth + 1).flatMap((joinAfter) =>
  POLICIES.map((onFailure) => ({ joinAfter, onFailure })),
)

describe('with every part in force, all promises hold in every state and everything can end', () => {
  it.each(every)(
    'joined after $joinAfter, a branch fails: $onFailure',
    { timeout: SECONDS_MAX * 1_000 },
    (configuration) => {
      const { joinAfter, onFailure } = configuration
      const found = search(`joined after ${joinAfter} of ${branches}, ${onFailure}`, configuration)
      expect(found.broken).toBeUndefined()
      expect(found.states).toBeGreaterThan(1_000)
    },
  )
})

describe('without one of its parts the search finds what goes wrong', () => {
  const table: readonly (readonly [keyof GraphRules, number, RegExp, RegExp])[] = [
    ['fence', branches, /^I4/, /lost its lease commits/],
    ['shareBudget', branches, /^I8/, /fans out/],
    ['joinWhenReady', branches, /^joined before/, /settles/],
    ['joinInOneTransaction', branches, /^joined twice/, /settles/],
    ['lookAgain', 1, /^joined while a branch is open/, /settles/],
    ['cancelAll', branches, /^a cancellation left/, /cancels the task/],
    ['rollBackOne', branches, /^I7/, /rolls back/],
    ['refuseOver', branches, /^a branch that is over/, /up again/],
    ['giveUpEnds', branches, /^I2: from here nothing ends/, /./],
  ]
  it.each(table)('%s', (rule, joinAfter, promise, last) => {
    const rules = { ...ALL_GRAPH_RULES, [rule]: false }
    const { broken } = search(`without ${rule}`, { joinAfter, onFailure: 'wait' }, rules)
    const trace = broken?.trace ?? []
    process.stderr.write(
      `model: without ${rule}: ${broken?.promise}\n${trace.map((line, at) => `  ${at + 1}. ${line}\n`).join('')}`,
    )
    expect(broken?.promise).toMatch(promise)
    expect(trace.at(-1)).toMatch(last)
  })
})

// A task that fans out, as a whole: what must hold in every state, and when everything is settled.
import { firstGraph, graphBytes, isOpen, packGraph, unpackGraph } from './graph.ts'
import type { Graph, GraphSize } from './graph.ts'
import {
  executionMoves,
  fanInMoves,
  graphCopyMove,
  partiesOf,
  personMoves,
  spentIn,
} from './graph-moves.ts'
import type { GraphBounds, GraphRules } from './graph-moves.ts'
import type { Protocol } from './search.ts'

export const ALL_GRAPH_RULES: GraphRules = {
  fence: true,
  shareBudget: true,
  joinWhenReady: true,
  joinInOneTransaction: true,
  lookAgain: true,
  cancelAll: true,
  rollBackOne: true,
  refuseOver: true,
  giveUpEnds: true,
}

export const graphProtocol = (
  size: GraphSize,
  bounds: GraphBounds,
  rules: GraphRules,
): Protocol<Graph> => ({
  width: graphBytes(size),
  first: firstGraph(size),
  pack: packGraph,
  unpack: (bytes) => unpackGraph(bytes, size),
  moves(graph, emit) {
    const move = graphCopyMove(graph, (kind, label, next, wrong) =>
      emit({ kind, label, next, wrong: wrong ?? brokenIn(next, bounds) }),
    )
    const parts = { rules, bounds, move }
    executionMoves(graph, parts)
    personMoves(graph, parts)
    fanInMoves(graph, parts)
  },
  settled: isSettled,
})

/** What must hold in every state. */
function brokenIn(graph: Graph, bounds: GraphBounds): string | undefined {
  const parties = partiesOf(graph)
  if (parties.some(({ effects }) => effects > 1)) return 'I4: two effects committed'
  if (parties.some(({ state, effects }) => (state === 'COMPLETED') !== (effects === 1)))
    return 'I4: an effect of what has not completed'
  if (graph.joinsSent > 1) return 'joined twice'
  const isFannedOut = graph.fanOut === 'OPEN' || graph.fanOut === 'READY'
  const held = graph.branches.reduce(
    (sum, one) => sum + (one.outcome === 'none' || isOpen(one) ? one.given - one.spent : 0),
    isFannedOut ? 1 : 0,
  )
  if (spentIn(graph) + held > bounds.budget) return 'I8: more is spent and held than the budget'
  if (graph.cancelRequested && parties.some((one) => isOpen(one) && !one.grace))
    return 'a cancellation left something open'
  if (graph.branches.some((one) => !one.grace && one.outcome !== 'none' && isOpen(one)))
    return 'a branch that is over goes on'
  if (graph.task !== 'RUNNING' && parties.some(isOpen)) return 'I2: ended, and something is open'
  return undefined
}

/** The task has ended, or its own way waits for a person; nobody works and nothing is ready. */
const isSettled = (graph: Graph): boolean =>
  (graph.task !== 'RUNNING' ||
    [graph.root, graph.join].some(({ state }) => state === 'ROLLED_BACK')) &&
  partiesOf(graph).every((one) => !isOpen(one) && !one.late) &&
  graph.fanOut !== 'OPEN' &&
  graph.fanOut !== 'READY' &&
  graph.fanIns.every((step) => step === 'idle')

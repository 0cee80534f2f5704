// What may happen to a task that fans out: its handoffs execute, fail and are taken up again, it is canceled, it is joined.
import { copyOfGraph, isOpen } from './graph.ts'
import type { Graph, Party } from './graph.ts'
import type { Kind } from './search.ts'

/** Each stands for a part of the protocol, which a test takes out. */
export interface GraphRules {
  /** A commit needs the fencing token of its execution. */
  readonly fence: boolean
  /** Branches get together no more than is left. */
  readonly shareBudget: boolean
  /** A fan-out is joined when it is ready, not when any branch has completed. */
  readonly joinWhenReady: boolean
  /** The join is sent by the transaction that closes the fan-out. */
  readonly joinInOneTransaction: boolean
  /** That transaction looks again whether anything of a branch is open. */
  readonly lookAgain: boolean
  /** A cancellation reaches every branch. */
  readonly cancelAll: boolean
  /** What a rollback changes is one branch. */
  readonly rollBackOne: boolean
  /** A branch that is over cannot be taken up again. */
  readonly refuseOver: boolean
  /** A branch that a person gives up is waited for no longer. */
  readonly giveUpEnds: boolean
}

export interface GraphBounds {
  readonly joinAfter: number
  readonly onFailure: 'wait' | 'skip' | 'fail'
  readonly budget: number
}

/** Emits a copy of the state that `change` has changed; it may answer which promise that breaks. */
export type GraphMove = (
  kind: Kind,
  label: string,
  change: (next: Graph) => string | undefined | void,
) => void

interface Parts {
  readonly rules: GraphRules
  readonly bounds: GraphBounds
  readonly move: GraphMove
}

export const partiesOf = ({ root, join, branches }: Graph): readonly Party[] => [
  root,
  join,
  ...branches,
]
const ROOT = 0
const JOIN = 1
/** The parties before the branches. */
const WAY = 2

export const spentIn = (graph: Graph): number =>
  partiesOf(graph).reduce((sum, { spent }) => sum + spent, 0)

const countOf = ({ branches }: Graph) => {
  const completed = branches.filter(({ outcome }) => outcome === 'COMPLETED').length
  const failed = branches.filter(({ outcome }) => outcome !== 'none').length - completed
  return { completed, failed }
}

/** Whether the branches, as they stand, allow a join. */
function mayJoin(graph: Graph, { joinAfter, onFailure }: GraphBounds): boolean {
  const { completed, failed } = countOf(graph)
  if (completed >= joinAfter) return true
  return onFailure !== 'fail' && completed > 0 && completed + failed === graph.branches.length
}

function endBranch(graph: Graph, at: number, outcome: Party['outcome'], bounds: GraphBounds) {
  const branch = graph.branches[at - WAY]
  if (branch === undefined || branch.outcome !== 'none') return
  branch.outcome = outcome
  const { completed, failed } = countOf(graph)
  const isReady =
    completed >= bounds.joinAfter ||
    (bounds.onFailure === 'fail' && failed > 0) ||
    completed + failed === graph.branches.length
  if (graph.fanOut === 'OPEN' && isReady) graph.fanOut = 'READY'
}

const isFanOutOpen = ({ fanOut }: Graph): boolean => fanOut === 'OPEN' || fanOut === 'READY'

/** A task that is being canceled has ended once nothing of it is open. */
function endIfCanceled(graph: Graph): void {
  if (graph.cancelRequested && graph.task === 'RUNNING' && !partiesOf(graph).some(isOpen))
    graph.task = 'CANCELED'
}

const partyAt = (graph: Graph, at: number): Party => partiesOf(graph)[at] ?? graph.root
const nameOf = (at: number): string => ['the root', 'the join'][at] ?? `branch ${at - WAY + 1}`

/** Each handoff is claimed, executed, lost with its worker, and delivered again. */
export function executionMoves(graph: Graph, parts: Parts): void {
  for (const at of partiesOf(graph).keys()) {
    claimMoves(graph, at, parts)
    commitMoves(graph, at, parts)
    workerFaults(graph, at, parts)
  }
}

function claimMoves(graph: Graph, at: number, { bounds, move }: Parts): void {
  const { state, given, spent } = partyAt(graph, at)
  const mustWait = at === JOIN && (isFanOutOpen(graph) || isOpen(graph.root))
  if (state !== 'QUEUED' || mustWait) return
  if (at >= WAY && spent >= given) {
    move('step', `${nameOf(at)} has no budget left and ends without execution`, (next) => {
      partyAt(next, at).state = 'ROLLED_BACK'
      if (bounds.onFailure !== 'wait') endBranch(next, at, 'ROLLED_BACK', bounds)
    })
    return
  }
  move('step', `a worker claims ${nameOf(at)}`, (next) => {
    Object.assign(partyAt(next, at), { state: 'EXECUTING', alive: true })
  })
}

function commitMoves(graph: Graph, at: number, parts: Parts): void {
  const { state, alive, late, grace } = partyAt(graph, at)
  if (state === 'EXECUTING' && alive) {
    completeMoves(graph, at, parts)
    if (!grace) rollBackMove(graph, at, parts)
  }
  if (!late) return
  parts.move('step', `a worker that lost its lease commits ${nameOf(at)}`, (next) => {
    const party = partyAt(next, at)
    party.late = false
    if (!parts.rules.fence) party.effects += 1
  })
}

function completeMoves(graph: Graph, at: number, { rules, bounds, move }: Parts): void {
  if (at === ROOT && !graph.root.grace) {
    for (let rich = 0; rich <= graph.branches.length; rich += 1) {
      const asked = graph.branches.length + rich + 1
      if (rules.shareBudget && asked > bounds.budget - spentIn(graph) - 1) continue
      move('step', `the root fans out, ${rich} branches get twice as much`, (next) => {
        complete(next.root)
        next.fanOut = 'OPEN'
        for (const [nth, branch] of next.branches.entries())
          Object.assign(branch, { state: 'QUEUED', given: nth < rich ? 2 : 1 })
      })
    }
    return
  }
  move('step', `${nameOf(at)} completes`, (next) => {
    complete(partyAt(next, at))
    endBranch(next, at, 'COMPLETED', bounds)
    if (at === JOIN && !next.cancelRequested) next.task = 'COMPLETED'
    endIfCanceled(next)
  })
}

function complete(party: Party): void {
  party.effects += 1
  party.spent += 1
  Object.assign(party, { state: 'COMPLETED', alive: false, grace: false })
}

function rollBackMove(graph: Graph, at: number, { rules, bounds, move }: Parts): void {
  move('step', `${nameOf(at)} rolls back`, (next) => {
    const party = partyAt(next, at)
    party.spent += 1
    Object.assign(party, { state: 'ROLLED_BACK', alive: false })
    if (!rules.rollBackOne)
      for (const other of next.branches) if (other.state === 'QUEUED') other.state = 'ROLLED_BACK'
    if (bounds.onFailure !== 'wait') endBranch(next, at, 'ROLLED_BACK', bounds)
    const others = partiesOf(next).filter((_, nth) => nth !== at)
    const before = partiesOf(graph).filter((_, nth) => nth !== at)
    const isAlone = others.every(({ state }, nth) => state === before[nth]?.state)
    return isAlone ? undefined : 'I7: a rollback changed another branch'
  })
}

function workerFaults(graph: Graph, at: number, { bounds, move }: Parts): void {
  const { state, alive, late } = partyAt(graph, at)
  if (state !== 'EXECUTING') return
  if (!alive) {
    move('step', `the lease of ${nameOf(at)} expires, it is delivered again`, (next) => {
      partyAt(next, at).state = 'QUEUED'
      if (partyAt(next, at).grace) cancelAtOnce(next, at, bounds)
      endIfCanceled(next)
    })
    return
  }
  move('fault', `the worker of ${nameOf(at)} dies`, (next) => {
    partyAt(next, at).alive = false
  })
  if (late) return
  move('fault', `the worker of ${nameOf(at)} stalls`, (next) => {
    Object.assign(partyAt(next, at), { alive: false, late: true })
  })
}

function cancelParty(graph: Graph, at: number): void {
  Object.assign(partyAt(graph, at), { state: 'CANCELED', grace: false, alive: false })
}

/** Executing, it gets a grace; else it ends at once. An agent that is canceled goes on as one that lost its lease. */
function cancelOne(graph: Graph, at: number, bounds: GraphBounds): void {
  const party = partyAt(graph, at)
  if (party.state === 'EXECUTING') party.grace = true
  if (party.state !== 'QUEUED') return
  cancelParty(graph, at)
  endBranch(graph, at, 'CANCELED', bounds)
}

/** Shut out now, whatever it does. */
function cancelAtOnce(graph: Graph, at: number, bounds: GraphBounds): void {
  const party = partyAt(graph, at)
  party.late ||= party.alive
  cancelParty(graph, at)
  endBranch(graph, at, 'CANCELED', bounds)
}

/** A person cancels, takes up again or gives up; graces end. */
export function personMoves(graph: Graph, { rules, bounds, move }: Parts): void {
  if (graph.task === 'RUNNING' && !graph.cancelRequested)
    move('choice', 'a person cancels the task', (next) => {
      next.cancelRequested = true
      const reached = [...partiesOf(next).keys()].slice(0, rules.cancelAll ? undefined : -1)
      for (const at of reached) cancelOne(next, at, bounds)
      closeFanOut(next, 'CANCELED')
      endIfCanceled(next)
    })
  for (const at of partiesOf(graph).keys()) {
    const party = partyAt(graph, at)
    if (party.grace)
      move('step', `the grace of ${nameOf(at)} is over`, (next) => {
        cancelAtOnce(next, at, bounds)
        endIfCanceled(next)
      })
    if (at < WAY) continue
    if (isOpen(party) && !party.grace)
      move('choice', `a person cancels ${nameOf(at)}`, (next) => cancelOne(next, at, bounds))
    const isOver = party.outcome !== 'none'
    if (party.state !== 'ROLLED_BACK' || graph.cancelRequested) continue
    if (!party.resumed && !(isOver && rules.refuseOver))
      move('choice', `a person takes ${nameOf(at)} up again`, (next) => {
        Object.assign(partyAt(next, at), { state: 'QUEUED', resumed: true })
      })
    if (!isOver && rules.giveUpEnds)
      move('step', `a person gives ${nameOf(at)} up`, (next) => {
        endBranch(next, at, 'ROLLED_BACK', bounds)
      })
  }
}

function closeFanOut(graph: Graph, state: Graph['fanOut']): void {
  if (!isFanOutOpen(graph)) return
  graph.fanOut = state
  for (const branch of graph.branches) if (branch.outcome === 'none') branch.outcome = 'CANCELED'
}

/** Any number of processes look for what is ready; each may die between two of its transactions. */
export function fanInMoves(graph: Graph, { rules, bounds, move }: Parts): void {
  const isDue =
    graph.fanOut === 'READY' ||
    (!rules.joinWhenReady && graph.fanOut === 'OPEN' && countOf(graph).completed > 0)
  for (const [which, step] of graph.fanIns.entries()) {
    if (step === 'idle') {
      if (isDue)
        move('step', 'fan-in finds the fan-out ready', (next) => {
          next.fanIns[which] = 'seen'
        })
      continue
    }
    move('fault', 'fan-in dies', (next) => {
      next.fanIns[which] = 'idle'
    })
    if (step === 'sent') {
      move('step', 'fan-in closes the fan-out', (next) => {
        closeFanOut(next, 'JOINED')
        next.fanIns[which] = 'idle'
      })
      continue
    }
    for (const [nth, branch] of graph.branches.entries())
      if (isDue && isOpen(branch))
        move('step', `fan-in cancels ${nameOf(nth + WAY)}`, (next) =>
          cancelAtOnce(next, nth + WAY, bounds),
        )
    move('step', 'fan-in settles the fan-out', (next) => {
      next.fanIns[which] = 'idle'
      if (!isDue || (rules.lookAgain && next.branches.some(isOpen))) return undefined
      return settle(next, which, { rules, bounds })
    })
  }
}

function settle(graph: Graph, which: number, { rules, bounds }: Omit<Parts, 'move'>) {
  const isAllowed = mayJoin(graph, bounds)
  if (!isAllowed && rules.joinWhenReady) {
    closeFanOut(graph, 'FAILED')
    graph.task = 'FAILED'
    return undefined
  }
  graph.joinsSent += 1
  graph.join.state = 'QUEUED'
  if (rules.joinInOneTransaction) closeFanOut(graph, 'JOINED')
  else graph.fanIns[which] = 'sent'
  if (!isAllowed) return 'joined before its branches allow it'
  return graph.branches.some(isOpen) ? 'joined while a branch is open' : undefined
}

export const graphCopyMove =
  (
    graph: Graph,
    emit: (kind: Kind, label: string, next: Graph, wrong: string | undefined) => void,
  ): GraphMove =>
  (kind, label, change) => {
    if (kind === 'fault' && graph.faults === 0) return
    const next = copyOfGraph(graph)
    if (kind === 'fault') next.faults -= 1
    const wrong = change(next)
    emit(kind, label, next, wrong ?? undefined)
  }

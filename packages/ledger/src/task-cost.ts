// What a task cost, hop by hop: running totals become differences, and no cost is counted twice.
import type { RecordBody } from './record.ts'

/** Tokens of language models: read by executions, and written. */
export interface Tokens {
  readonly promptTokens: number
  readonly completionTokens: number
}

/** The cost that one handoff handed over; its tokens are those of the execution that sent it, told for one of its handoffs. */
export interface HopCost extends Tokens {
  readonly handoffId: string
  readonly parentHandoffId: string | null
  readonly fromAgent: string
  readonly toAgent: string
  /** The running total in the message. */
  readonly snapshotMicroUSD: number
  /** What was spent since the parent handoff; a part that a sibling already carries is not repeated. */
  readonly spentMicroUSD: number
  /** The running total is lower than the parent's: somebody deducted wrongly. */
  readonly negative: boolean
}

export interface TaskCost {
  readonly hops: readonly HopCost[]
  /** Sum of the hops: the last running total of every branch, shared prefixes once (ruling 3). */
  readonly totalSpentMicroUSD: number
  /** Spent by executions after the last handoff of their branch, from their outcome records. */
  readonly finalExecutionsMicroUSD: number
  /** The literal sum over the handoffs, as the source's end-to-end test adds it up. */
  readonly sumOfSnapshotsMicroUSD: number
  /** Per agent that spent it: senders by agentId, final executions by agentType. */
  readonly byAgentMicroUSD: Readonly<Record<string, number>>
  /**
   * Per branch, named by its agents from the first to the last (`intake → legal-analysis`): all that
   * was spent along it. What branches share is part of each of them.
   */
  readonly byPathMicroUSD: Readonly<Record<string, number>>
  /** Of all executions, each counted once: what a task spent in tokens (E14). */
  readonly totalTokens: Tokens
  readonly tokensByAgent: Readonly<Record<string, Tokens>>
  /** As the amounts by path: what branches share is part of each of them. */
  readonly tokensByPath: Readonly<Record<string, Tokens>>
}

/** A part of a task's cost: whose it is, and which record tells of it. */
export interface Charge extends Tokens {
  /** The first record that has it; its time is when the work was handed over, or had ended. */
  readonly record: RecordBody
  readonly agent: string
  /** Whom the agent handed its work to; null where the task ended with it. */
  readonly toAgent: string | null
  readonly spentMicroUSD: number
}

type Costed = RecordBody & { readonly cost: NonNullable<RecordBody['cost']> }

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0)

/** Cost attribution of one task from its records in order of seq (E14). */
export function taskCost(records: readonly RecordBody[]): TaskCost {
  const decisions = latestByHandoff(records, DECISIONS)
  const hops = hopCosts(decisions)
  const finals = finalExecutions(records, decisions)
  const spenders = [...hops.map((hop) => [hop.fromAgent, hop.spentMicroUSD] as const), ...finals]
  const paths = pathCosts(hops, finals, decisions)
  const charges = taskCharges(records)
  return {
    hops,
    totalSpentMicroUSD: sum(hops.map((hop) => hop.spentMicroUSD)),
    finalExecutionsMicroUSD: sum(finals.map(([, spent]) => spent)),
    sumOfSnapshotsMicroUSD: sum(hops.map((hop) => hop.snapshotMicroUSD)),
    byAgentMicroUSD: addUp(spenders),
    byPathMicroUSD: addUp(paths.map(({ path, spentMicroUSD }) => [path, spentMicroUSD])),
    totalTokens: charges.reduce(addTokens, NO_TOKENS),
    tokensByAgent: addUpTokens(charges.map((charge) => [charge.agent, charge])),
    tokensByPath: addUpTokens(paths.map((one) => [one.path, one])),
  }
}

const DECISIONS = ['HANDOFF_ACCEPTED', 'HANDOFF_REJECTED'] as const

/**
 * The same cost in parts, each counted once: they add up to all that the hops and the last executions spent. Tokens are an
 * execution's own, and several handoffs that it sends carry the same ones.
 */
export function taskCharges(records: readonly RecordBody[]): readonly Charge[] {
  const decisions = latestByHandoff(records, DECISIONS)
  const first = latestByHandoff(records.toReversed(), DECISIONS)
  const ofHops = hopCosts(decisions).map(({ handoffId, fromAgent, ...hop }) => {
    const { toAgent, spentMicroUSD, promptTokens, completionTokens } = hop
    const record = first.get(handoffId) as Costed
    return { record, agent: fromAgent, toAgent, spentMicroUSD, promptTokens, completionTokens }
  })
  const ended = latestByHandoff(records, ['EXECUTION_COMPLETED'])
  const ofLasts = finalExecutions(records, decisions).map(
    ([agent, spentMicroUSD, { handoffId, cost }]) => {
      const record = ended.get(handoffId) as Costed
      const { promptTokens, completionTokens } = cost
      return { record, agent, toAgent: null, spentMicroUSD, promptTokens, completionTokens }
    },
  )
  return [...ofHops, ...ofLasts]
}

const NO_TOKENS: Tokens = { promptTokens: 0, completionTokens: 0 }
const executionOf = ({ parentHandoffId, fromAgent }: RecordBody): string =>
  `${parentHandoffId}|${fromAgent.executionId}`

const PATH_HOPS_MAX = 10_000

interface PathCost extends Tokens {
  readonly path: string
  readonly spentMicroUSD: number
}

// The running total of the last handoff is what its whole branch cost. A parent that is its own
// ancestor is nonsense that a log can hold; the walk ends all the same.
function pathCosts(
  hops: readonly HopCost[],
  finals: readonly FinalCost[],
  decisions: ReadonlyMap<string, Costed>,
): PathCost[] {
  const byHandoff = new Map(hops.map((hop) => [hop.handoffId, hop]))
  const parents = new Set(hops.map(({ parentHandoffId }) => parentHandoffId))
  const after = new Map(finals.map((final) => [final[2].handoffId, final]))
  const leaves = hops.filter(({ handoffId }) => !parents.has(handoffId))
  return leaves.map((leaf) => {
    const agents = [leaf.toAgent]
    const last = after.get(leaf.handoffId)
    let tokens = last?.[2].cost ?? NO_TOKENS
    let hop: HopCost | undefined = leaf
    while (hop !== undefined && agents.length < PATH_HOPS_MAX) {
      agents.unshift(hop.fromAgent)
      tokens = addTokens(tokens, decisions.get(hop.handoffId)?.cost)
      hop = byHandoff.get(hop.parentHandoffId ?? '')
    }
    const spentMicroUSD = leaf.snapshotMicroUSD + (last?.[1] ?? 0)
    return { path: agents.join(' → '), spentMicroUSD, ...tokens }
  })
}

function latestByHandoff(
  records: readonly RecordBody[],
  events: readonly RecordBody['event'][],
): ReadonlyMap<string, Costed> {
  const latest = new Map<string, Costed>()
  for (const body of records) {
    if (body.cost === null || !events.includes(body.event)) continue
    latest.set(body.handoffId, body as Costed)
  }
  return latest
}

// Handoffs that one execution sends all carry its cost: the first one counts, the rest add nothing. A join adds up what its
// branches spent, which their own records tell.
function hopCosts(decisions: ReadonlyMap<string, Costed>): HopCost[] {
  const counted = new Map<string, number>()
  return [...decisions.values()].map((body) => {
    if (body.joins !== undefined) return joinCost(body)
    const parent = decisions.get(body.parentHandoffId ?? '')?.cost.spentMicroUSD ?? 0
    const snapshot = body.cost.spentMicroUSD
    const execution = executionOf(body)
    const sibling = counted.get(execution)
    const base = sibling ?? parent
    counted.set(execution, Math.max(base, snapshot))
    return {
      handoffId: body.handoffId,
      parentHandoffId: body.parentHandoffId,
      fromAgent: body.fromAgent.agentId,
      toAgent: body.toAgent.agentType,
      snapshotMicroUSD: snapshot,
      spentMicroUSD: sibling === undefined ? snapshot - parent : Math.max(0, snapshot - sibling),
      negative: snapshot < parent,
      ...addTokens(sibling === undefined ? body.cost : NO_TOKENS),
    }
  })
}

const joinCost = (body: Costed): HopCost => ({
  handoffId: body.handoffId,
  parentHandoffId: body.parentHandoffId,
  fromAgent: body.fromAgent.agentId,
  toAgent: body.toAgent.agentType,
  snapshotMicroUSD: body.cost.spentMicroUSD,
  spentMicroUSD: 0,
  negative: false,
  ...NO_TOKENS,
})

type FinalCost = readonly [agent: string, spentMicroUSD: number, ended: Costed]

function finalExecutions(
  records: readonly RecordBody[],
  decisions: ReadonlyMap<string, Costed>,
): FinalCost[] {
  const parents = new Set([...decisions.values()].map((body) => body.parentHandoffId))
  return [...latestByHandoff(records, ['EXECUTION_COMPLETED']).values()]
    .filter((body) => !parents.has(body.handoffId))
    .map((body) => {
      const before = decisions.get(body.handoffId)?.cost.spentMicroUSD ?? 0
      return [body.toAgent.agentType, body.cost.spentMicroUSD - before, body] as const
    })
}

function addUp(
  spenders: readonly (readonly [string, number, ...unknown[]])[],
): Record<string, number> {
  const totals = new Map<string, number>()
  for (const [agent, spent] of spenders) totals.set(agent, (totals.get(agent) ?? 0) + spent)
  return Object.fromEntries(totals)
}

const addTokens = (one: Tokens, other: Tokens = NO_TOKENS): Tokens => ({
  promptTokens: one.promptTokens + other.promptTokens,
  completionTokens: one.completionTokens + other.completionTokens,
})

function addUpTokens(parts: readonly (readonly [string, Tokens])[]): Record<string, Tokens> {
  const totals = new Map<string, Tokens>()
  for (const [name, tokens] of parts) totals.set(name, addTokens(tokens, totals.get(name)))
  return Object.fromEntries(totals)
}

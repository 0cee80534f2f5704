// The way of a task as a drawing, where it was more than a line: branches beside each other, and what joined them.
import type { RecordBody } from '@baton/ledger'
import { dollars, elapsed, short } from '../terminal/figures.ts'
import { clip } from '../terminal/table.ts'

type Told = Pick<
  RecordBody,
  | 'handoffId'
  | 'parentHandoffId'
  | 'fromAgent'
  | 'toAgent'
  | 'event'
  | 'cost'
  | 'joins'
  | 'recordedAt'
  | 'act'
>

interface Node {
  readonly handoffId: string
  readonly parentHandoffId: string | null
  readonly from: Told['fromAgent']
  readonly agents: string
  /** The last that the log tells of it, and when. */
  readonly last: Told
  readonly joins: readonly string[] | undefined
  readonly spentMicroUSD: number | null
}

/** Lines of the drawing; none where the task is a line of handoffs. Records are in their order. */
export function graphLines(records: readonly Told[]): readonly string[] {
  const nodes = nodesOf(records)
  const takenUp = resumptionsOf(records)
  const byParent = Map.groupBy(
    [...nodes.values()].filter(({ handoffId }) => !takenUp.has(handoffId)),
    ({ parentHandoffId }) => (nodes.has(parentHandoffId ?? '') ? parentHandoffId : null),
  )
  const childrenOf = (parent: string | null): readonly Node[] => byParent.get(parent) ?? []
  // What one execution of a sender sent at once are branches as well.
  const begun = [...Map.groupBy(childrenOf(null), ({ from }) => from.executionId).values()]
  const isLine =
    begun.every((roots) => roots.length < 2) &&
    [...nodes.values()].every(
      ({ handoffId, joins }) => joins === undefined && childrenOf(handoffId).length < 2,
    )
  if (isLine) return []
  const first = Date.parse(records[0]?.recordedAt ?? '')
  const resumptionOf = new Map([...takenUp].map(([next, before]) => [before, nodes.get(next)]))
  const drawn = new Set<string>()

  /** A handoff and all after it; whatever goes on in the same line is drawn below it. */
  function draw(node: Node, indent: string, mark: string): string[] {
    if (drawn.has(node.handoffId)) return []
    drawn.add(node.handoffId)
    const own = `${indent}${mark}${describe(node, first)}`
    const rest = `${indent}${mark === '├─ ' ? '│  ' : mark === '' ? '' : '   '}`
    const again = resumptionOf.get(node.handoffId)
    const resumed = again === undefined ? [] : draw(again, rest, '')
    return [own, ...resumed, ...drawAfter(childrenOf(node.handoffId), rest)]
  }

  function drawAfter(children: readonly Node[], rest: string): string[] {
    const joins = children.filter((child) => child.joins !== undefined)
    const others = children.filter((child) => child.joins === undefined)
    const isFannedOut = others.length > 1 || joins.length > 0
    const below = others.flatMap((child, index) => {
      const isLast = index === others.length - 1 && joins.length === 0
      return draw(child, rest, isFannedOut ? (isLast ? '└─ ' : '├─ ') : '')
    })
    return [...below, ...joins.flatMap((join) => drawJoin(join, rest))]
  }

  const drawJoin = (join: Node, indent: string): string[] => {
    const [own = '', ...after] = draw(join, indent, '')
    return [`${indent}╰→ ${own.slice(indent.length)}`, ...after]
  }

  return begun.flatMap((roots) => {
    const [root] = roots
    if (roots.length > 1) return [clip(root?.from.agentId ?? ''), ...drawAfter(roots, '')]
    return drawAfter(roots, '')
  })
}

function nodesOf(records: readonly Told[]): ReadonlyMap<string, Node> {
  const nodes = new Map<string, Node>()
  for (const record of records) {
    const { handoffId, parentHandoffId, fromAgent, toAgent, cost } = record
    const before = nodes.get(handoffId)
    nodes.set(handoffId, {
      handoffId,
      parentHandoffId,
      from: fromAgent,
      agents: `${fromAgent.agentId} → ${toAgent.agentType}`,
      last: record,
      joins: before?.joins ?? record.joins,
      spentMicroUSD: cost?.spentMicroUSD ?? before?.spentMicroUSD ?? null,
    })
  }
  return nodes
}

/** Which handoff took up which one that had been rolled back: it goes on in its line. */
const resumptionsOf = (records: readonly Told[]): ReadonlyMap<string, string> =>
  new Map(
    records.flatMap(({ event, handoffId, act }) =>
      event === 'TASK_RESUMED' && act !== undefined ? [[act.id, handoffId] as const] : [],
    ),
  )

function describe({ handoffId, agents, last, joins, spentMicroUSD }: Node, first: number): string {
  const joined = joins === undefined ? '' : ` (joins ${joins.length})`
  const spent = spentMicroUSD === null ? '' : `, ${dollars(spentMicroUSD)} spent`
  return `${short(handoffId)} ${clip(agents)}${joined}  ${last.event} +${elapsed(Date.parse(last.recordedAt) - first)}${spent}`
}

// What is looked for in the log, asked of the bytes that are hashed: no index and no column answers.
import { encodeUtf8, parseInstant } from '@baton/ledger'
import type { AuditEvent, RecordBody } from '@baton/ledger'

/** All of them have to fit; what is undefined fits every record. Times are microseconds since 1970. */
export interface Criteria {
  readonly taskId?: string | undefined
  /** The keys of a person: one of them stands in the record. */
  readonly subjectRefs?: readonly string[] | undefined
  /** An agent on either side. */
  readonly agent?: string | undefined
  readonly fromAgent?: string | undefined
  readonly toAgent?: string | undefined
  /** The person who acted, or the agent whose checks decided. */
  readonly decidedBy?: string | undefined
  readonly events?: readonly AuditEvent[] | undefined
  readonly reason?: string | undefined
  readonly sinceMicros?: number | undefined
  /** Records from this time on do not fit. */
  readonly untilMicros?: number | undefined
  /** What the task had spent at the record, in micro-USD. */
  readonly costMin?: number | undefined
  readonly costMax?: number | undefined
}

const CHECKED: ReadonlySet<AuditEvent> = new Set([
  'HANDOFF_ACCEPTED',
  'HANDOFF_REJECTED',
  'HANDOFF_BLOCKED',
])

/** A person who acted; else, of a decision, the agent whose checks made it. */
export const deciderOf = ({ act, event, toAgent }: RecordBody): string | null =>
  act?.actor ?? (CHECKED.has(event) ? toAgent.agentType : null)

export function fits(body: RecordBody, criteria: Criteria): boolean {
  const { taskId, subjectRefs, agent, fromAgent, toAgent, decidedBy, events, reason } = criteria
  const [from, to] = [body.fromAgent.agentId, body.toAgent.agentType]
  return (
    isOr(taskId, body.taskId) &&
    (agent === undefined || agent === from || agent === to) &&
    isOr(fromAgent, from) &&
    isOr(toAgent, to) &&
    isOr(decidedBy, deciderOf(body)) &&
    isOr(reason, body.reason) &&
    (events === undefined || events.includes(body.event)) &&
    (subjectRefs === undefined ||
      body.payload.some(({ subjectRef }) => subjectRefs.includes(subjectRef))) &&
    fitsRanges(body, criteria)
  )
}

const isOr = (wanted: string | undefined, is: string | null): boolean =>
  wanted === undefined || wanted === is

function fitsRanges({ recordedAt, cost }: RecordBody, criteria: Criteria): boolean {
  const { sinceMicros = -Infinity, untilMicros = Infinity, costMin, costMax = Infinity } = criteria
  const at = parseInstant(recordedAt) ?? Number.NaN
  if (!(at >= sinceMicros && at < untilMicros)) return false
  if (costMin === undefined && costMax === Infinity) return true
  return cost !== null && cost.spentMicroUSD >= (costMin ?? 0) && cost.spentMicroUSD <= costMax
}

/** One of these byte strings stands in the canonical form of every record that fits. */
export type Hint = readonly Uint8Array[]

/** What Postgres can look for, so that not every record is sent: all hints stand in a record that fits. */
export function hintsOf(criteria: Criteria): readonly Hint[] {
  const { subjectRefs, agent, fromAgent, toAgent, decidedBy, events, reason } = criteria
  const hasCost = criteria.costMin !== undefined || criteria.costMax !== undefined
  const to = (name: string) => `"toAgent":{"agentType":${JSON.stringify(name)}`
  const alternatives: readonly (readonly string[] | undefined)[] = [
    subjectRefs?.map((ref) => `"subjectRef":"${ref}"`),
    agent === undefined ? undefined : [JSON.stringify(agent)],
    fromAgent === undefined ? undefined : [`"fromAgent":{"agentId":${JSON.stringify(fromAgent)}`],
    toAgent === undefined ? undefined : [to(toAgent)],
    decidedBy === undefined
      ? undefined
      : [`"act":{"actor":${JSON.stringify(decidedBy)}`, to(decidedBy)],
    events?.map((event) => `"event":"${event}"`),
    reason === undefined ? undefined : [`"reason":${JSON.stringify(reason)}`],
    hasCost ? ['"cost":{'] : undefined,
  ]
  return alternatives.flatMap((hint) => (hint === undefined ? [] : [hint.map(encodeUtf8)]))
}

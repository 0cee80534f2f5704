// Has the summary of a long conversation written before a handoff is built: outside of any transaction or lock (E03).
import { buildHandoff, microUSD, strictestOf } from '@baton/protocol'
import type {
  Conversation,
  HandoffMessage,
  PinnedFacts,
  Summarise,
  SummaryOptions,
} from '@baton/protocol'
import type { Summariser, WrittenSummary } from '@baton/summarise'
import type { Metrics } from '@baton/telemetry'
import { staysHere } from './decide/stays-here.ts'
import { withBounds } from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions } from './prepare-handoff.ts'

export interface WriteParts extends Pick<PrepareOptions, 'bounds'> {
  readonly summariser?: Summariser | undefined
  readonly metrics: Metrics
  /** How many handoffs share what may be spent; 1 by default. */
  readonly among?: number
  /** Whether what is asked for stands already, so that nothing that is written now would be sent. */
  isKnown?(): Promise<boolean>
}

/**
 * The summary that this request needs, by the summariser of this installation; undefined where it needs none, and the
 * extract is taken. What may not leave its place, or is confidential, is shown to no model.
 */
export async function writeSummary(
  request: HandoffRequest,
  parts: WriteParts,
): Promise<WrittenSummary | undefined> {
  const { summariser, metrics, among = 1, isKnown = async () => false } = parts
  if (summariser === undefined || staysHere(request.agentState)) return undefined
  const needed = neededBy(request, parts)
  if (needed === undefined || (await isKnown())) return undefined
  const upstreamCostUSD = request.agentState.cost.ownCostUSD / among
  const { by, reason, ...written } = await summariser.summarise({ ...needed, upstreamCostUSD })
  metrics.contextSummariesTotal.with({ summariser: by, reason }).inc()
  metrics.summariserCostMicroUsdTotal.inc(microUSD(written.costUSD))
  return { ...written, turns: needed.older.turns.length, pinned: needed.pinned }
}

/** The same for what takes the place of a message: what was not to be shown before is not now, whatever is said of it. */
export function writeSummaryAgain(
  { residency, dataClassification: before }: HandoffMessage,
  request: HandoffRequest,
  parts: WriteParts,
): Promise<WrittenSummary | undefined> {
  const { agentState } = request
  const dataClassification = strictestOf(before, agentState.dataClassification)
  const labels = {
    ...(residency === undefined ? {} : { residency }),
    ...(dataClassification === undefined ? {} : { dataClassification }),
  }
  return writeSummary({ ...request, agentState: { ...agentState, ...labels } }, parts)
}

interface Needed {
  readonly older: Conversation
  readonly bounds: SummaryOptions
  /** What the builder finds that it has to keep: whoever writes it has no say in that (E23). */
  readonly pinned: PinnedFacts | undefined
}

/** Builds once to see which turns do not fit. What cannot be built is refused where it is built to be sent. */
function neededBy(request: HandoffRequest, parts: WriteParts): Needed | undefined {
  let needed: Omit<Needed, 'pinned'> | undefined
  const summarise: Summarise = (older, bounds) => {
    needed = { older, bounds }
    return ''
  }
  try {
    const { agentState, targetAgentType } = request
    const asked = withBounds(request, parts)
    const { compression } = buildHandoff(agentState, targetAgentType, asked, { summarise })
    return needed && { ...needed, pinned: compression.pinned }
  } catch {
    return undefined
  }
}

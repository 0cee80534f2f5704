// Has the summaries written that an agent's next handoffs need, while its lease still holds (E03).
import type { HandoffMessage } from '@baton/protocol'
import { microUSD, usdFromMicro } from '@baton/protocol'
import type { Summariser, WrittenSummary } from '@baton/summarise'
import type { Metrics } from '@baton/telemetry'
import type { Logger } from '@baton/runtime'
import type { ClaimedHandoff, Pool } from '@baton/store'
import { withReceivers } from './choose-receiver.ts'
import { receiversOf, requestsOf } from './decide/next-handoffs.ts'
import type { Step } from './decide/next-handoffs.ts'
import type { Execution } from './execute-handoff.ts'
import type { KnownReceivers } from './known-receivers.ts'
import { writeSummary } from './write-summary.ts'

export interface HandOnParts {
  readonly pool: Pool
  /** Whom agents hand on to. */
  readonly receivers: KnownReceivers
  /** Who condenses what agents hand on; the extract by default. */
  readonly summariser?: Summariser | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

type Done = Step['execution']

interface Executed {
  readonly claimed: ClaimedHandoff
  readonly message: HandoffMessage
}

/** The same, where an agent came to something that it hands on, and somebody else than the extract condenses it. */
export async function summarised(
  parts: HandOnParts,
  { claimed, message }: Executed,
  execution: Execution,
): Promise<Execution> {
  const { summariser } = parts
  if (summariser === undefined || execution.kind !== 'done') return execution
  const step = { claimed, message, execution }
  const addressed = await withReceivers(step, parts)
  return summariseNext({ ...step, execution: addressed }, { ...parts, summariser })
}

type NextSummaryParts = Omit<HandOnParts, 'summariser'> & { readonly summariser: Summariser }

/**
 * What the agent came to, with the summaries of what it hands on: they are part of what its execution cost, all of them
 * together within the part of it that a summary may cost. A try that is repeated has them written, and paid, again.
 */
async function summariseNext(step: Step, parts: NextSummaryParts): Promise<Done> {
  const requests = requestsOf(step)
  const bounds = await parts.receivers.boundsOf(receiversOf(step))
  const summaries = new Map<string, WrittenSummary>()
  await Promise.all(
    requests.map(async ({ name, request }) => {
      const written = await writeSummary(request, { ...parts, bounds, among: requests.length })
      if (written !== undefined) summaries.set(name, written)
    }),
  )
  return withCosts(step.execution, summaries)
}

const NOTHING = { costUSD: 0, tokens: { prompt: 0, completion: 0 } }

/** The execution pays, so that the handoffs do not pay once more. */
function withCosts(execution: Done, summaries: ReadonlyMap<string, WrittenSummary>): Done {
  if (summaries.size === 0) return execution
  let { costUSD, tokens } = execution.result
  for (const written of summaries.values()) {
    costUSD = usdFromMicro(microUSD(costUSD) + microUSD(written.costUSD))
    const { prompt, completion } = written.tokens
    tokens = { prompt: tokens.prompt + prompt, completion: tokens.completion + completion }
  }
  const paid = [...summaries].map(([name, written]) => [name, { ...written, ...NOTHING }] as const)
  return { ...execution, result: { ...execution.result, costUSD, tokens }, written: new Map(paid) }
}

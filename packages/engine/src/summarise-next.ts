// Has the summaries written that an agent's next handoffs need, while its lease still holds (E03).
import { microUSD, usdFromMicro } from '@baton/protocol'
import type { Summariser, WrittenSummary } from '@baton/summarise'
import type { Metrics } from '@baton/telemetry'
import { receiversOf, requestsOf } from './decide/next-handoffs.ts'
import type { Step } from './decide/next-handoffs.ts'
import type { KnownReceivers } from './known-receivers.ts'
import { writeSummary } from './write-summary.ts'

export interface NextSummaryParts {
  readonly summariser: Summariser
  readonly receivers: KnownReceivers
  readonly metrics: Metrics
}

type Done = Step['execution']

/**
 * What the agent came to, with the summaries of what it hands on: they are part of what its execution cost, all of them
 * together within the part of it that a summary may cost. A try that is repeated has them written, and paid, again.
 */
export async function summariseNext(step: Step, parts: NextSummaryParts): Promise<Done> {
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

// The contract of a summariser, and the built-in one, which needs nobody.
import { summariseTurns } from '@baton/protocol'
import type { Conversation, PinnedFacts, SummaryFault, SummaryOptions } from '@baton/protocol'

export interface SummaryJob {
  readonly older: Conversation
  readonly bounds: SummaryOptions
  /** What the agent call cost whose conversation this is: a summary may cost a small part of it. */
  readonly upstreamCostUSD: number
}

/** Why the extract was taken where a model could have been asked, and `written` where the model's words were. */
export type SummaryReason =
  | 'written'
  | 'built_in'
  | 'cost'
  | 'breaker_open'
  | 'timeout'
  | 'unavailable'
  | SummaryFault

export interface Summary {
  readonly text: string
  readonly by: 'model' | 'extract'
  readonly reason: SummaryReason
  /** What it cost, also where the answer was not taken. */
  readonly costUSD: number
  readonly tokens: { readonly prompt: number; readonly completion: number }
}

/** What was written of so many older turns, and what it had to keep of them. */
export interface WrittenSummary extends Pick<Summary, 'text' | 'costUSD' | 'tokens'> {
  readonly turns: number
  readonly pinned?: PinnedFacts | undefined
}

export interface Summariser {
  /** Never fails and never takes longer than its time limit: where no model helps, the extract is the answer. */
  summarise(job: SummaryJob): Promise<Summary>
  close(): void
}

/** The extract of the statements that matter, word for word, at no cost. */
export function extract({ older, bounds }: SummaryJob, reason: SummaryReason): Summary {
  const text = summariseTurns(older, bounds)
  return { text, by: 'extract', reason, costUSD: 0, tokens: { prompt: 0, completion: 0 } }
}

export const extractiveSummariser: Summariser = {
  summarise: async (job) => extract(job, 'built_in'),
  close: () => undefined,
}

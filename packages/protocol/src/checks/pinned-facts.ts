// Whether the conversation that arrived still says what its compression had to keep (E23).
import { DETAILS_MAX } from '../detail.ts'
import type { Detail } from '../detail.ts'
import type { HandoffMessage } from '../handoff-message.ts'
import { lostFacts } from '../pinned-facts.ts'
import type { LostFact } from '../pinned-facts.ts'

/** Every pinned fact that is not there, by its place among the pinned facts: none of its words. */
export const checkPinnedFacts = (message: HandoffMessage): readonly Detail[] =>
  lostFrom(message)
    .slice(0, DETAILS_MAX)
    .map(({ pin, index }) => ({
      pointer: `/pinnedFacts/${pin}/${index}`,
      rule: FACT_LOST,
      message: `${LOST[pin]} that the compression had to keep is not in the conversation that arrived`,
      fix: 'Compress the conversation again so that it is kept, leave more turns word for word, or send to a receiver with a larger window.',
    }))

export const FACT_LOST = 'BATON_FACT_LOST'

/** The same message, without the pinned facts that its conversation does not say any more. */
export function withoutLostFacts(message: HandoffMessage): HandoffMessage {
  const lost = new Set(lostFrom(message).map(({ pin, index }) => `${pin}/${index}`))
  if (lost.size === 0) return message
  const entries = Object.entries(message.pinnedFacts ?? {}).map(([pin, digests]) => [
    pin,
    digests.filter((_: string, index: number) => !lost.has(`${pin}/${index}`)),
  ])
  return { ...message, pinnedFacts: Object.fromEntries(entries) }
}

function lostFrom(message: HandoffMessage): readonly LostFact[] {
  const { pinnedFacts, conversationHistorySummary, conversationHistoryVerbatim } = message
  if (pinnedFacts === undefined) return []
  const turns = conversationHistoryVerbatim.map(({ content }) => content)
  return lostFacts(pinnedFacts, [conversationHistorySummary, ...turns])
}

const LOST = {
  decisions: 'a decision or its reason',
  constraints: 'a constraint',
  warnings: 'a warning',
  values: 'a number or id',
} as const satisfies Record<LostFact['pin'], string>

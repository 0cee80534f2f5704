// Makes a context small enough to travel, as the peer's `prepare_handoff_context` does.
import { contextFrom } from './handoff-context.ts'
import type { HandoffContext } from './handoff-context.ts'

/** How many of the latest messages travel where nothing else is said. */
const HISTORY_MAX = 50

/**
 * Keeps the latest messages, the active calls and the pending approvals; drops everything else of the tool state, cached results
 * among it, and notes how long the history was.
 */
export function prepareHandoffContext(
  history: readonly object[],
  toolState: { readonly active_calls?: unknown; readonly pending_approvals?: unknown },
  historyMax = HISTORY_MAX,
): HandoffContext {
  const { active_calls = [], pending_approvals = [] } = toolState
  return contextFrom({
    // Python's `history[-0:]` is the whole history.
    conversation_history: history.slice(-historyMax),
    tool_state: { active_calls, pending_approvals },
    metadata: {
      original_history_length: history.length,
      trimmed: history.length > historyMax,
    },
  })
}

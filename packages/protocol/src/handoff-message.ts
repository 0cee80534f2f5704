// The handoff message in memory: the generated 2.2 fields and private `x-` extensions.
import type { HandoffMessage as Handoff22 } from './generated/handoff.ts'
import type { JsonValue } from './json.ts'

/** A handoff message; an older message is one that leaves the newer fields out (E01). */
export type HandoffMessage = Handoff22 & { [extension: `x-${string}`]: JsonValue }

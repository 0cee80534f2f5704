// The handoff message in memory: the generated 2.1 fields and private `x-` extensions.
import type { HandoffMessage as Handoff21 } from './generated/handoff.ts'
import type { JsonValue } from './json.ts'

/** A handoff message; a 2.0 message is one that leaves the 2.1 fields out (E01). */
export type HandoffMessage = Handoff21 & { [extension: `x-${string}`]: JsonValue }

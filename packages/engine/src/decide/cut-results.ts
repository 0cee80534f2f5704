// What came out of branches fits the message of what joins them: what has no room there is cut to what it was, and read elsewhere.
import { createHash } from 'node:crypto'
import { canonicalBytes, DEFAULT_LIMITS } from '@baton/protocol'
import type { AgentState, JsonValue } from '@baton/protocol'

/** What a value was that a message has no room for: the bytes of its RFC 8785 form, of its JSON where it has none, and their SHA-256. */
export type Cut = { readonly bytes: number; readonly sha256: string }

/** What a join is told of each branch, in `currentState.branches` by the names of the branches. */
export type BranchOutcome = {
  readonly agent: string | null
  /** COMPLETED, or how it ended without a result. */
  readonly outcome: string
  readonly reason: string | null
  readonly handoffId: string | null
  /** Null where nothing came out of it, and where it was cut. */
  readonly result: JsonValue
  /** Where the message has no room for the result: what it was, and where it is read. */
  readonly cut?: Cut & { readonly href: string }
  readonly costUSD: number
}

/** What branches came to: their outcomes by name, and the subtasks that were completed in them. */
export interface Found {
  readonly outcomes: readonly (readonly [string, BranchOutcome])[]
  readonly completed: AgentState['completedSubtasks']
}

/** What is left of a message to a signature and a summary. */
const MARGIN_BYTES = 32_768

export const withoutResults = ({ outcomes, completed }: Found): Found => ({
  outcomes: outcomes.map(([name, outcome]) => [name, { ...outcome, result: null }]),
  completed: completed.map((one) => ({ ...one, result: null })),
})

/** The same with all results that fit a message in which other things take so many bytes; `joinId` is the handoff that it is for. */
export function fitted(
  { outcomes, completed }: Found,
  { besides, joinId }: { readonly besides: number; readonly joinId: string },
): Found {
  const results = [
    ...outcomes.map(([, { result }]) => result),
    ...completed.map(({ result = null }) => result),
  ]
  const cuts = cutToFit(results, DEFAULT_LIMITS.bytesMax - MARGIN_BYTES - besides)
  return {
    outcomes: outcomes.map(([name, outcome], index) => {
      const { [index]: cut } = cuts
      const href = `/v2/handoffs/${joinId}/branches/${index}`
      return [
        name,
        cut === undefined ? outcome : { ...outcome, result: null, cut: { ...cut, href } },
      ]
    }),
    completed: completed.map((one, index) => {
      const { [outcomes.length + index]: cut } = cuts
      return cut === undefined ? one : { ...one, result: { cut } }
    }),
  }
}

/** About what stands in its place. */
const CUT_BYTES = 256

/**
 * Of each value, what is to stand in its place; undefined of those that stay. The largest go first, until the others take
 * at most `bytesMax` together; one that no message can carry, too long a text for one, is always cut.
 */
function cutToFit(values: readonly JsonValue[], bytesMax: number): readonly (Cut | undefined)[] {
  const sizes = values.map((value) => Buffer.byteLength(JSON.stringify(value)))
  const cut = new Set<number>()
  let left = sizes.reduce((sum, bytes) => sum + bytes, 0)
  for (const [index, bytes] of [...sizes.entries()].toSorted(([, a], [, b]) => b - a)) {
    if (left <= bytesMax || bytes <= CUT_BYTES) break
    cut.add(index)
    left -= bytes - CUT_BYTES
  }
  return values.map((value, index) =>
    cut.has(index) || !canBeCarried(value) ? cutOf(value) : undefined,
  )
}

function cutOf(value: JsonValue): Cut {
  const bytes = bytesOf(value)
  return { bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
}

function bytesOf(value: JsonValue): Uint8Array {
  try {
    return canonicalBytes(value, NO_LIMITS)
  } catch {
    return Buffer.from(JSON.stringify(value))
  }
}

const NO_LIMITS = {
  bytesMax: Infinity,
  depthMax: Infinity,
  itemsMax: Infinity,
  stringMax: Infinity,
}

/** As deep as it stands in a message: `currentState.branches.NAME.result`. */
function canBeCarried(value: JsonValue): boolean {
  try {
    canonicalBytes([[[[value]]]], DEFAULT_LIMITS)
    return true
  } catch {
    return false
  }
}

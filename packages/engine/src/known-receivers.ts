// What is known of the receivers that a handoff is built for: the context windows that they registered (E03).
import { createBatcher, kindOf } from '@baton/runtime'
import { findContextWindows } from '@baton/store'
import type { Pool } from '@baton/store'

/** How much of its receiver's window a message may fill, where the sender does not say. */
export interface CompressionBounds {
  /** The part of the window; 0.8 by default. */
  readonly threshold?: number
  /** How many of the latest turns stay word for word; 5 by default. */
  readonly verbatimTurns?: number
}

/** What the builder keeps to for these receivers. */
export interface ReceiverBounds extends CompressionBounds {
  windowTokensOf(agentType: string): number | undefined
}

export interface KnownReceivers {
  /** Asks Postgres at most once in five seconds for each type. */
  boundsOf(agentTypes: readonly string[]): Promise<ReceiverBounds>
}

interface KnownReceiversParts {
  readonly pool: Pool
  readonly compression?: CompressionBounds | undefined
}

const KNOWN_MS = 5_000
const KNOWN_MAX = 1_000
const SET_MAX = 64

interface Known {
  /** Undefined where none is registered. */
  readonly windowTokens: number | undefined
  readonly readAt: number
}

/** One for each process that builds handoffs: all of them share what is known, and those who ask at the same time one statement. */
export function createKnownReceivers({ pool, compression }: KnownReceiversParts): KnownReceivers {
  const known = new Map<string, Known>()
  const reads = createBatcher({
    name: 'windows',
    maxItems: SET_MAX,
    maxQueued: 10_000,
    flush: async (agentTypes: readonly string[]) => {
      const windows = await findContextWindows(pool, agentTypes)
      return agentTypes.map((agentType) => windows.get(agentType))
    },
  })

  async function read(agentType: string): Promise<void> {
    const readAt = performance.now()
    const windowTokens = await reads.add(agentType)
    known.delete(agentType)
    known.set(agentType, { windowTokens, readAt })
    const [oldest] = known.keys()
    if (known.size > KNOWN_MAX && oldest !== undefined) known.delete(oldest)
  }

  const isFresh = (agentType: string): boolean =>
    performance.now() - (known.get(agentType)?.readAt ?? -Infinity) < KNOWN_MS

  return {
    async boundsOf(agentTypes) {
      const windows = new Map<string, number | undefined>()
      await Promise.all(
        agentTypes.map(async (agentType) => {
          if (!isFresh(agentType)) await read(agentType).catch(unlessTransient)
          windows.set(agentType, known.get(agentType)?.windowTokens)
        }),
      )
      return { ...compression, windowTokensOf: (agentType) => windows.get(agentType) }
    },
  }
}

// While Postgres does not answer, what was known stands: whoever asks goes on to write there, and is told then.
function unlessTransient(error: unknown): void {
  if (kindOf(error) !== 'transient') throw error
}

// The queue of one agent type, read only while somebody asks for its work: what nobody here wants stays for another gateway.
import { createRemoteExecutor } from '@baton/engine'
import type { Given, Receiver } from '@baton/engine'
import { codeOf } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import type { ClaimRequest, Pool } from '@baton/store'
import type { Transport } from '@baton/transport'
import { openAsker } from './asker.ts'
import type { Asker, Asking } from './asker.ts'

export interface OpenQueueParts {
  readonly pool: Pool
  readonly transport: Transport
  readonly receiver: Pick<Receiver, 'receiveFor'>
  readonly leaseMs: number
  /** Whether the auditor takes nothing: then nothing is claimed. */
  readonly blocked: () => boolean
  /** Called where a queue gives nothing although it should. */
  readonly onStuck: (error: Error) => void
  readonly logger: Logger
}

export interface OpenQueue {
  readonly askers: ReadonlySet<Asker>
  /** When it was asked last, on the process's clock. */
  readonly askedAt: number
  /** Resolves with what the asker was given; nothing of it is under way then. */
  take(asking: Asking): Promise<readonly Given[]>
  /** Reads the queue, or stops reading it, as it stands now. */
  look(): void
  /** Answers everybody who asks with what there is, and lets go of the queue. */
  stop(): Promise<void>
}

const CONCURRENCY = 32

/** Rejects where the queue cannot be read. */
export async function openQueue(type: string, parts: OpenQueueParts): Promise<OpenQueue> {
  const { pool, receiver, leaseMs, blocked, onStuck, logger } = parts
  const askers = new Set<Asker>()
  let askedAt = performance.now()
  const consumer = await parts.transport.consume({
    queue: type,
    concurrency: CONCURRENCY,
    handle,
    onStuck,
  })

  async function handle(pointer: ClaimRequest): Promise<void | 'declined'> {
    const asker = [...askers].find(({ free }) => free > 0)
    if (asker === undefined || blocked()) {
      look()
      return 'declined'
    }
    asker.receiving()
    if (asker.free === 0) look()
    const { agent, takenBy } = asker
    let wasGiven = false
    const give = (given: Given): void => {
      wasGiven = true
      asker.given.push(given)
    }
    const executor = createRemoteExecutor({ pool, agent, takenBy, leaseMs, give })
    try {
      await receiver.receiveFor(() => executor)(pointer)
    } finally {
      // Where it was somebody else's, was refused by its checks or could not be received, the next one may do.
      asker.received(wasGiven)
      look()
    }
  }

  function look(): void {
    const asked = !blocked() && [...askers].some(({ free }) => free > 0)
    const changed = asked ? consumer.resume() : consumer.pause()
    changed.catch((error: unknown) => logger.warn({ event: 'pull.unread', code: codeOf(error) }))
  }

  return {
    askers,
    get askedAt() {
      return askedAt
    },
    look,
    async take(asking) {
      askedAt = performance.now()
      const asker = openAsker(asking)
      askers.add(asker)
      look()
      const given = await asker.done
      askers.delete(asker)
      look()
      return given
    },
    async stop() {
      for (const asker of askers) asker.close()
      await consumer.stop()
    },
  }
}

// Marks how far a relay has come in each queue, without ever covering up that a queue lost something.
import { randomUUID } from 'node:crypto'
import type { NextMark, QueueMark } from '@baton/protocol'

interface MarkerDeps {
  /** Writes marks behind what was published; answers whether each predecessor was still there. */
  readonly writeMarks: ((marks: readonly NextMark[]) => Promise<readonly boolean[]>) | null
}

export interface Marker {
  /** Marks the queues of what was just published; answers the marks to keep in Postgres. */
  mark(published: readonly { readonly queue: string }[]): Promise<readonly QueueMark[]>
}

/** Agent types come from messages: beyond this many, rows of marks begin anew. */
const QUEUES_MAX = 1_000

/**
 * Each mark is written only over its own predecessor. Where that is gone, or a write was not
 * answered, a new row of marks begins, and the old one stays in Postgres for the detector to miss.
 */
export function createMarker({ writeMarks }: MarkerDeps): Marker {
  const latest = new Map<string, QueueMark>()

  function next(queue: string): NextMark {
    const last = latest.get(queue)
    latest.delete(queue)
    if (last === undefined) return { queue, relay: randomUUID(), mark: 1, previous: null }
    return { queue, relay: last.relay, mark: last.mark + 1, previous: last.mark }
  }

  async function write(queues: readonly string[]): Promise<readonly string[]> {
    if (queues.length === 0 || writeMarks === null) return []
    const marks = queues.map(next)
    const written = await writeMarks(marks)
    for (const [index, { queue, relay, mark }] of marks.entries()) {
      if (written[index] === true) latest.set(queue, { queue, relay, mark })
    }
    return queues.filter((_, index) => written[index] !== true)
  }

  return {
    async mark(published) {
      if (latest.size > QUEUES_MAX) latest.clear()
      const queues = [...new Set(published.map(({ queue }) => queue))]
      const broken = await write(queues)
      await write(broken)
      return queues.flatMap((queue) => latest.get(queue) ?? [])
    },
  }
}

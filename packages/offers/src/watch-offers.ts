// What changed between two looks at what is kept: each change is told once, in the order of names, until it was told.
import { hash } from 'node:crypto'
import type { OfferedHandoff, Status } from '@baton/protocol/dialects/handoff-v01'
import type { Offers } from './offers.ts'

export interface OfferChange {
  /** The same whenever the same change is told. */
  readonly id: string
  readonly handoff: OfferedHandoff
  /** How it stood at the look before; undefined where it was not there. */
  readonly previous: Status | undefined
}

/**
 * Makes a look that tells what changed since the one before; the first one tells what is offered. Where `tell` throws,
 * so does the look, and the next one begins with that change. It remembers the 10,000 that a list has at most.
 */
export function createLook(
  offers: Offers,
  tell: (change: OfferChange) => Promise<void>,
): () => Promise<void> {
  const known = new Map<string, Pick<OfferedHandoff, 'status' | 'updated_at'>>()
  let isFirst = true
  return async () => {
    const { handoffs } = await offers.listHandoffs()
    for (const handoff of handoffs) {
      const { task_id: id, status, updated_at } = handoff
      const before = known.get(id)
      const isKnown = before?.status === status && before.updated_at === updated_at
      if (!isKnown && (!isFirst || status === 'offered'))
        await tell({ id: changeId(handoff), handoff, previous: before?.status })
      known.set(id, { status, updated_at })
    }
    const present = new Set(handoffs.map(({ task_id: id }) => id))
    for (const id of known.keys()) if (!present.has(id)) known.delete(id)
    isFirst = false
  }
}

const changeId = ({ task_id: id, status, updated_at }: OfferedHandoff): string =>
  `handoff_${hash('sha256', `${id}\n${status}\n${updated_at}`).slice(0, 32)}`

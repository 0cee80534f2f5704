// The calls of protocol v0.1: offer, list, accept, complete, reject, fail, offer again.
import type { OfferedHandoff, Status, Validation } from '@baton/protocol/dialects/handoff-v01'
import { createChanges } from './change-offer.ts'
import type { NewHandoff, Note } from './change-offer.ts'
import { findByPrefix, readAll } from './read-offers.ts'
import type { ForeignEntry, ReadEntry } from './read-offers.ts'
import { refuseOthers, refuseUnaddressed } from './refusals.ts'
import { inOrderOfNames } from './storage.ts'
import type { OfferStorage } from './storage.ts'

interface OffersOptions {
  readonly storage: OfferStorage
  /** `strict` by default: what breaks the published schema is no handoff. */
  readonly validation?: Validation
  readonly now?: () => number
}

interface ListOptions {
  readonly status?: Status | undefined
  /** At most so many, 10,000 by default. */
  readonly limit?: number
  /** Only what stands behind this name. */
  readonly after?: string | undefined
}

export interface OfferList {
  readonly handoffs: readonly OfferedHandoff[]
  /** What stands among them and is none. */
  readonly foreign: readonly ForeignEntry[]
  /** Behind which name the next ones stand; null where there are no more. */
  readonly next: string | null
  /** How many there are in all, what is none among them; counted to 10,000. */
  readonly total: number
  /** False where there are more than `total`. */
  readonly totalIsExact: boolean
}

interface StepOptions {
  /** Added to the context, such as a result or a reason; members that are undefined are taken out. */
  readonly context?: Note
  /** Whose step it is: refused where the handoff is another agent's. */
  readonly agent?: string | undefined
}

export interface Offers {
  /** Throws BATON_OFFER_INVALID, and BATON_OFFER_EXISTS where the id is taken. */
  createHandoff(handoff: NewHandoff): Promise<OfferedHandoff>
  /** What is offered to anyone or to this agent; without one, to whomever. */
  listAvailable(agent?: string): Promise<readonly OfferedHandoff[]>
  listHandoffs(options?: ListOptions): Promise<OfferList>
  /** The one of this id, or the only one whose id begins so. Throws BATON_OFFER_UNKNOWN and BATON_OFFER_AMBIGUOUS. */
  findHandoff(idOrPrefix: string): Promise<OfferedHandoff>
  /** Of any number that accept at once one does; the others get BATON_OFFER_STATUS. */
  acceptHandoff(taskId: string, agent: string): Promise<OfferedHandoff>
  completeHandoff(taskId: string, options?: StepOptions): Promise<OfferedHandoff>
  rejectHandoff(taskId: string, options?: StepOptions): Promise<OfferedHandoff>
  failHandoff(taskId: string, options?: StepOptions): Promise<OfferedHandoff>
  /** Offers a failed one again, to whom it was offered before. */
  reofferHandoff(taskId: string, options?: StepOptions): Promise<OfferedHandoff>
  /** Changes the context alone, where status and time are still those that were seen; answers whether it did. */
  noteHandoff(seen: OfferedHandoff, note: Note): Promise<boolean>
}

const LIST_MAX = 10_000

export function createOffers(options: OffersOptions): Offers {
  const { storage, validation = 'strict', now = Date.now } = options
  const { create, step, note } = createChanges({ storage, validation, now })

  async function list(asked: ListOptions = {}): Promise<OfferList> {
    const { status, limit = LIST_MAX, after = '' } = asked
    const page: (ReadEntry | ForeignEntry)[] = []
    let count = 0
    let isFollowed = false
    for await (const entry of readAll(storage, validation)) {
      if ('handoff' in entry && status !== undefined && entry.handoff.status !== status) continue
      count += 1
      const isBehind = inOrderOfNames(entry.name, after) > 0
      if (isBehind && page.length < limit) page.push(entry)
      else if (isBehind) isFollowed = true
      if (isFollowed && count > LIST_MAX) break
    }
    return {
      handoffs: page.flatMap((entry) => ('handoff' in entry ? [entry.handoff] : [])),
      foreign: page.flatMap((entry) => ('handoff' in entry ? [] : [entry])),
      next: isFollowed ? (page.at(-1)?.name ?? null) : null,
      total: Math.min(count, LIST_MAX),
      totalIsExact: count <= LIST_MAX,
    }
  }

  return {
    createHandoff: create,
    listHandoffs: list,
    async listAvailable(agent) {
      const { handoffs } = await list({ status: 'offered' })
      return handoffs.filter(({ to_agent: to }) => agent === undefined || to === '' || to === agent)
    },
    findHandoff: (prefix) => findByPrefix(storage, { prefix, validation }),
    acceptHandoff: (taskId, agent) =>
      step(taskId, 'accepted', (handoff) => {
        refuseUnaddressed(handoff, agent)
        return { accepted_by: agent }
      }),
    completeHandoff: (taskId, given) => step(taskId, 'completed', ownNote(given)),
    rejectHandoff: (taskId, given) => step(taskId, 'rejected', ownNote(given)),
    failHandoff: (taskId, given) => step(taskId, 'failed', ownNote(given)),
    reofferHandoff: (taskId, given) =>
      step(taskId, 'offered', () => ({ ...given?.context, ...OF_THE_LAST_TRY })),
    noteHandoff: note,
  }
}

/** What an offer that is made again no longer says. */
const OF_THE_LAST_TRY: Note = { accepted_by: undefined, reason: undefined }

const ownNote =
  ({ context = {}, agent }: StepOptions = {}) =>
  (handoff: OfferedHandoff): Note => {
    refuseOthers(handoff, agent)
    return context
  }

// Offers become handoffs of Baton, and what became of those is written back: repeated at will, and after any crash.
import {
  EARLIER_HANDOFF_ID,
  HANDOFF_ID,
  offerHandoffId,
  offerSubmission,
  outcomeOf,
  sentHandoffId,
  wayTo,
} from '@baton/protocol/dialects/handoff-v01'
import type { OfferedHandoff, OfferSubmission, Status } from '@baton/protocol/dialects/handoff-v01'
import { hasHandoffEnded } from '@baton/protocol'
import type { JsonValue } from '@baton/protocol'
import { codeOf, crashPoint, kindOf } from '@baton/runtime'
import type { Note } from './change-offer.ts'
import type { Offers } from './offers.ts'

/** A handoff as Baton shows it. */
export interface BatonHandoff {
  readonly state: string
  readonly reason: string | null
  readonly acceptedAt: string | null
  readonly result: JsonValue
  readonly traceparent: string
}

/** Baton, reached from outside. What is transient is thrown. */
export interface ImportGateway {
  /** Sends it once, however often it is called with the same one; answers the code where it can never be sent. */
  send(submission: OfferSubmission): Promise<{ readonly refused?: string }>
  find(handoffId: string): Promise<BatonHandoff>
}

interface ImportOptions {
  readonly offers: Offers
  readonly gateway: ImportGateway
  /** Only what is offered to one of these is Baton's to take. */
  readonly agentTypes: ReadonlySet<string>
  /** What the task of each offer may cost. */
  readonly budgetUSD: number
}

export interface Imported {
  readonly taskId: string
  /** `sent` to Baton, `written` back, or left alone for a `problem`. */
  readonly kind: 'sent' | 'written' | 'problem'
  readonly handoffId: string
  /** The status written, or the code of the problem. */
  readonly what: string
}

/** One pass over everything that is kept; answers what it did. Throws where Baton or the storage cannot be reached. */
export async function importOffers(options: ImportOptions): Promise<readonly Imported[]> {
  const done: Imported[] = []
  for (const status of ['accepted', 'offered'] as const) {
    const { handoffs } = await options.offers.listHandoffs({ status })
    for (const handoff of handoffs) done.push(...(await importSafely(handoff, options)))
  }
  return done
}

// What is wrong with one offer keeps no other waiting; what is wrong with the way to Baton does.
async function importSafely(
  handoff: OfferedHandoff,
  options: ImportOptions,
): Promise<readonly Imported[]> {
  try {
    const sent = sentHandoffId(handoff)
    if (sent === undefined && handoff.status === 'accepted') return []
    if (sent === undefined) return await take(handoff, options)
    const told = await options.gateway.find(sent)
    return handoff.status === 'offered' && sent !== offerHandoffId(handoff)
      ? await setFree(handoff, { sent, told }, options)
      : await writeBack(handoff, { sent, told }, options)
  } catch (error) {
    if (kindOf(error) === 'transient') throw error
    return [resultOf(handoff, 'problem', codeOf(error))]
  }
}

const resultOf = (handoff: OfferedHandoff, kind: Imported['kind'], what: string): Imported => ({
  taskId: handoff.task_id,
  kind,
  handoffId: sentHandoffId(handoff) ?? offerHandoffId(handoff),
  what,
})

async function take(
  handoff: OfferedHandoff,
  { offers, gateway, agentTypes, budgetUSD }: ImportOptions,
): Promise<readonly Imported[]> {
  if (!agentTypes.has(handoff.to_agent)) return []
  const submission = offerSubmission(handoff, {
    budgetUSD,
    parentHandoffId: await parentOf(handoff, offers),
  })
  const { refused } = await gateway.send(submission)
  if (refused !== undefined) {
    await offers.rejectHandoff(handoff.task_id, { context: { reason: refused } })
    return [resultOf(handoff, 'written', 'rejected')]
  }
  crashPoint('import.after_send')
  const isNoted = await offers.noteHandoff(handoff, { [HANDOFF_ID]: offerHandoffId(handoff) })
  return [
    isNoted
      ? resultOf(handoff, 'sent', handoff.to_agent)
      : resultOf(handoff, 'problem', 'BATON_OFFER_STATUS'),
  ]
}

async function parentOf({ context }: OfferedHandoff, offers: Offers): Promise<string | undefined> {
  const id = context['parent_task_id']
  if (typeof id !== 'string') return undefined
  const parent = await offers.findHandoff(id).catch(orNone)
  return parent?.task_id === id ? sentHandoffId(parent) : undefined
}

function orNone(error: unknown): undefined {
  if (kindOf(error) === 'transient') throw error
}

interface Sent {
  readonly sent: string
  readonly told: BatonHandoff
}

// Somebody beside Baton made it fail and offered it again: it is another offer once Baton is through with the first.
async function setFree(
  handoff: OfferedHandoff,
  { sent, told }: Sent,
  { offers }: ImportOptions,
): Promise<readonly Imported[]> {
  if (!hasHandoffEnded(told.state)) return [resultOf(handoff, 'problem', 'BATON_OFFER_STATUS')]
  await offers.noteHandoff(handoff, freed(sent, handoff, told))
  return []
}

const freed = (sent: string, { context }: OfferedHandoff, { traceparent }: BatonHandoff): Note => ({
  [HANDOFF_ID]: undefined,
  [EARLIER_HANDOFF_ID]: sent,
  // What is offered again goes on in the same trace.
  traceparent: context['traceparent'] ?? traceparent,
})

async function writeBack(
  handoff: OfferedHandoff,
  { sent, told }: Sent,
  { offers }: ImportOptions,
): Promise<readonly Imported[]> {
  const { state, reason, acceptedAt } = told
  const outcome = outcomeOf({ state, reason, accepted: acceptedAt !== null })
  const way = outcome === undefined ? [] : wayTo(handoff.status, outcome.status)
  if (way === undefined) return [resultOf(handoff, 'problem', 'BATON_OFFER_STATUS')]
  const noteOf: Readonly<Record<Status, Note>> = {
    offered: {},
    accepted: {},
    completed: { ...outcome?.note, ...(told.result === null ? {} : { result: told.result }) },
    rejected: { ...outcome?.note },
    failed: { ...outcome?.note, ...freed(sent, handoff, told) },
  }
  for (const status of way) {
    await STEP[status](offers, handoff, noteOf[status])
    crashPoint('import.after_step')
  }
  const last = way.at(-1)
  return last === undefined ? [] : [resultOf(handoff, 'written', last)]
}

const STEP: Readonly<
  Record<Status, (offers: Offers, handoff: OfferedHandoff, context: Note) => Promise<unknown>>
> = {
  offered: (offers, { task_id: id }, context) => offers.reofferHandoff(id, { context }),
  accepted: (offers, { task_id: id, to_agent: agent }) => offers.acceptHandoff(id, agent),
  completed: (offers, { task_id: id }, context) => offers.completeHandoff(id, { context }),
  rejected: (offers, { task_id: id }, context) => offers.rejectHandoff(id, { context }),
  failed: (offers, { task_id: id }, context) => offers.failHandoff(id, { context }),
}

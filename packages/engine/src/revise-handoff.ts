// A sender's correction as the next revision of its handoff: other content, the same identity, target and trace.
import { randomUUID } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { ANY_AGENT } from '@baton/protocol'
import type { AgentState, HandoffConstraints, HandoffMessage, KeyRing } from '@baton/protocol'
import { crashPoint, permanent } from '@baton/runtime'
import type { Logger } from '@baton/runtime'
import {
  addOutboxEvents,
  applyRevisions,
  findRevisionBase,
  inTransaction,
  lockRevisable,
} from '@baton/store'
import type { NewHandoff, Pool, Revision, RevisionBase } from '@baton/store'
import type { Summariser } from '@baton/summarise'
import { parseTraceparent } from '@baton/telemetry'
import type { Metrics } from '@baton/telemetry'
import { lifecycleEntry, toOutboxEvent } from './decide/audit-entries.ts'
import { decideRevision } from './decide/revision.ts'
import type { RevisionOutcome } from './decide/revision.ts'
import type { KnownReceivers } from './known-receivers.ts'
import {
  paidFor,
  prepareHandoff,
  prepareSaved,
  readCheckpoint,
  readMessage,
} from './prepare-handoff.ts'
import type { HandoffRequest, PrepareOptions } from './prepare-handoff.ts'
import { wakeRelays } from './wake.ts'
import { writeSummaryAgain } from './write-summary.ts'

/**
 * What a sender gives to mend a returned handoff: the corrected agent state, from which the message is
 * built anew, or the corrected message. Constraints that are left out stay as they were asked for; a
 * checkpoint that is left out stays as it was saved.
 */
export type Correction =
  | { readonly agentState: AgentState; readonly constraints?: HandoffConstraints }
  | { readonly message: HandoffMessage; readonly checkpoint?: object }

/** What correcting and resuming work with. */
export interface ReturnParts {
  readonly pool: Pool
  readonly keyRing: KeyRing
  readonly attemptsMax: number
  /** Who may be sent to. */
  readonly receivers: KnownReceivers
  /** Who condenses older turns that do not fit; the extract by default. */
  readonly summariser?: Summariser | undefined
  readonly metrics: Metrics
  readonly logger: Logger
}

export interface ReviseRequest {
  readonly handoffId: string
  /** The revision that it wants to be: the one that was returned, plus one. */
  readonly revision: number
  /** Who answers for it: the operator, or the sending agent itself. */
  readonly actor: string
  /** The operator whose message it is from now on; nobody leaves it as it was. */
  readonly sentBy: string | null
  /** Makes the correction of the message that stands. */
  correct(base: RevisionBase): Correction
}

/**
 * Makes the correction the next revision of its handoff and publishes it at once (E09): the row locks
 * decide between it, another correction and an execution that begins. Repeating the same correction
 * answers `duplicate`. Throws what `correct` throws, BATON_REVISION_INVALID where it would be another
 * handoff, and what a send throws.
 */
export async function reviseHandoff(
  parts: ReturnParts,
  { handoffId, revision, actor, sentBy, correct }: ReviseRequest,
): Promise<RevisionOutcome> {
  const { pool, receivers, metrics, logger } = parts
  const base = await findRevisionBase(pool, handoffId)
  if (base === undefined) return { kind: 'unknown' }
  const onCompressed = () => metrics.contextCompressionsTotal.inc()
  const standing = readMessage(base.body)
  const bounds = await receivers.boundsOf([standing.toAgent.agentType])
  const given = correct(base)
  const written =
    'message' in given
      ? undefined
      : await writeSummaryAgain(standing, requestOf({ base, standing }, given), {
          ...parts,
          bounds,
          isKnown: async () => base.revision >= revision,
        })
  const options = { ...parts, sentBy, bounds, onCompressed, written }
  const message = prepareRevision({ base, standing }, given, options)
  crashPoint('returns.before_commit')
  const outcome = await commit(pool, { revision, message }, actor)
  crashPoint('returns.after_commit')
  if (outcome.kind === 'revised') {
    wakeRelays(pool)
    metrics.revisionsTotal.inc()
    logger.info({ event: 'handoff.revised', handoffId, taskId: message.taskId, revision })
  }
  return outcome
}

function commit(pool: Pool, wanted: Revision, actor: string): Promise<RevisionOutcome> {
  return inTransaction(pool, async (transaction) => {
    const { revision, message } = wanted
    const [standing] = await lockRevisable(transaction, [
      { handoffId: message.handoffId, revision },
    ])
    const outcome = decideRevision(standing, wanted)
    if (standing === undefined || outcome.kind !== 'revised') return outcome
    await applyRevisions(transaction, [wanted])
    const act = { id: randomUUID(), actor }
    const entry = lifecycleEntry(standing, 'HANDOFF_REVISED')
    await addOutboxEvents(transaction, [toOutboxEvent({ ...entry, act })])
    return outcome
  })
}

// Through the same checks as a send (E09). Task, parent, sender, target type, priority, trace, residency and a
// demand for approval are kept; with another of them it would be another handoff.
function prepareRevision(
  { base, standing }: StandingHandoff,
  correction: Correction,
  options: PrepareOptions,
): NewHandoff {
  const message =
    'message' in correction
      ? correctedMessage(base, correction, options)
      : rebuilt({ base, standing }, correction, options)
  refuseOtherHandoff(standing, message)
  refuseOtherResidency(standing, readMessage(message.body))
  return message
}

function correctedMessage(
  base: RevisionBase,
  { message: given, checkpoint }: Extract<Correction, { message: unknown }>,
  options: PrepareOptions,
): NewHandoff {
  const trace = parseTraceparent(given.traceparent)
  const kept = parseTraceparent(base.traceparent)
  if (trace !== undefined && trace.traceId !== kept?.traceId) throw other('/traceparent')
  const { toAgent } = readMessage(base.body)
  // It was given for any agent, and went to one.
  const message = given.toAgent.agentType === ANY_AGENT ? { ...given, toAgent } : given
  const { state, request } = readCheckpoint(base.checkpoint)
  const saved =
    checkpoint === undefined
      ? { state, ...(request === undefined ? {} : { asked: JSON.stringify(request) }) }
      : { state: checkpoint }
  const prepared = prepareSaved(message, saved, options)
  return { ...prepared, addedCostMicroUSD: 0, requestSha256: prepared.sha256 }
}

interface StandingHandoff {
  readonly base: RevisionBase
  readonly standing: HandoffMessage
}

type Rebuilding = Extract<Correction, { agentState: unknown }>

const askedOf = ({ base }: StandingHandoff): HandoffRequest | undefined =>
  readCheckpoint(base.checkpoint).request as HandoffRequest | undefined

function requestOf(of: StandingHandoff, { agentState, constraints }: Rebuilding): HandoffRequest {
  const { handoffId, parentHandoffId, toAgent } = of.standing
  return {
    agentState: { handoffId, parentHandoffId, ...residencyOf(of.standing), ...agentState },
    targetAgentType: toAgent.agentType,
    constraints: constraints ?? askedOf(of)?.constraints ?? {},
  }
}

function rebuilt(of: StandingHandoff, correction: Rebuilding, options: PrepareOptions): NewHandoff {
  const { base, standing } = of
  const paid = paidFor(standing, askedOf(of))
  const { traceparent } = base
  return prepareHandoff(requestOf(of, correction), { ...options, paid, traceparent })
}

function refuseOtherHandoff(standing: HandoffMessage, revised: NewHandoff): void {
  const kept = [
    ['/handoffId', standing.handoffId, revised.handoffId],
    ['/taskId', standing.taskId, revised.taskId],
    ['/parentHandoffId', standing.parentHandoffId, revised.parentId],
    ['/fromAgent/agentId', standing.fromAgent.agentId, revised.fromAgent],
    ['/toAgent/agentType', standing.toAgent.agentType, revised.toAgent],
    ['/priority', standing.priority ?? 2, revised.priority],
  ] as const
  const changed = kept.find(([, before, after]) => before !== after)
  if (changed !== undefined) throw other(changed[0])
  if (standing.requiresApproval === true && !revised.requiresApproval)
    throw other('/requiresApproval')
}

/** Where data may be was decided when it was sent here: leaving it out changes nothing, and saying otherwise is refused. */
export const residencyOf = ({ residency }: HandoffMessage): Pick<AgentState, 'residency'> =>
  residency === undefined ? {} : { residency }

export function refuseOtherResidency(standing: HandoffMessage, message: HandoffMessage): void {
  if (!isDeepStrictEqual(standing.residency, message.residency)) throw other('/residency')
}

const other = (pointer: string) =>
  permanent('BATON_REVISION_INVALID', `${pointer} is not the returned handoff's`, {
    fix: 'Correct what the details name and keep task, parent, sender, target, priority, trace, residency and approval; or let it roll back and send a new handoff.',
  })

type RefusedRevision = Exclude<RevisionOutcome, { readonly kind: 'revised' | 'duplicate' }>

/** Why a correction was not taken, as an error a caller can act on. */
export function refusedRevision(handoffId: string, outcome: RefusedRevision): Error {
  switch (outcome.kind) {
    case 'unknown':
      return permanent('BATON_HANDOFF_UNKNOWN', `there is no handoff ${handoffId}`, {
        fix: 'Use the handoffId as it was answered.',
      })
    case 'stale':
      return permanent(
        'BATON_REVISION_CONFLICT',
        `handoff ${handoffId} stands at revision ${outcome.revision}`,
        { fix: `Correct revision ${outcome.revision}, or leave it as somebody else corrected it.` },
      )
    case 'claimed':
      return permanent(
        'BATON_HANDOFF_CLAIMED',
        `handoff ${handoffId} is being tried at this moment`,
        { fix: 'Wait: if it is refused again, its sender is told again and can correct it then.' },
      )
    case 'closed':
      return permanent(
        'BATON_HANDOFF_NOT_RETURNED',
        `handoff ${handoffId} waits for no correction`,
        {
          fix: 'Only a returned handoff, or a dead letter whose sender was asked, takes a correction; after a rollback resume the task.',
        },
      )
    case 'budget':
      return permanent(
        'BATON_BUDGET_MISMATCH',
        '/costTracking: the budget of the task would change, or more would remain than before, or less than for a handoff that names this one as its parent',
        { fix: 'Keep spent + remaining as they were; add what the correction cost to spent.' },
      )
  }
}

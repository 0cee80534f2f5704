// Whether a message can be signed, stored and delivered. What the receiver judges is left to the receiver.
import {
  checkCompleteness,
  deliveryOf,
  judgeMessage,
  microUSD,
  ProtocolError,
  verifySignature,
} from '@baton/protocol'
import type { Detail, HandoffMessage, KeyRing } from '@baton/protocol'
import { ProblemError } from '@baton/http/server'
import { parseTracestate } from '@baton/telemetry'
import { invalidHandoff } from './problem.ts'

/** Turns a pointer into the message into one into the posted body. */
export type Place = (pointer: string) => string

/**
 * Throws 422 BATON_HANDOFF_INVALID with every detail. Whatever passes is taken by the database too,
 * so that one message never spoils the commit it shares with others.
 */
export function requireDeliverable(message: HandoffMessage, place: Place): void {
  const verdict = judgeMessage(message, { scan: undefined })
  if (!verdict.valid && verdict.reason === 'SCHEMA_INVALID') {
    throw invalidHandoff('BATON_HANDOFF_INVALID', verdict.details, place)
  }
  const unstorable = [
    ...checkTracestate(message),
    ...checkInstants(message),
    ...checkTaskBudget(message),
    ...checkCompleteness(message, undefined),
  ]
  if (unstorable.length > 0) throw invalidHandoff('BATON_HANDOFF_INVALID', unstorable, place)
}

/** Runs `work`; what the protocol refuses becomes a problem that points into the posted body. */
export function placed<Result>(place: Place, work: () => Result): Result {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error
    throw invalidHandoff('BATON_HANDOFF_INVALID', error.details, place)
  }
}

function checkTracestate({ tracestate }: HandoffMessage): readonly Detail[] {
  if (tracestate === undefined || parseTracestate(tracestate) !== undefined) return []
  return [
    {
      pointer: '/tracestate',
      rule: 'tracestate',
      message: 'this is not a W3C tracestate',
      fix: 'Send key=value members separated by commas, or leave the field out.',
    },
  ]
}

// Postgres knows time zones up to 15:59 away from UTC; none on Earth is further than 14:00.
const FAR_ZONE = /[+-](?:1[6-9]|2[0-3]):[0-5][0-9]$/

function checkInstants(message: HandoffMessage): readonly Detail[] {
  const fields = ['expiresAt', 'deadline'] as const
  return fields
    .filter((field) => FAR_ZONE.test(message[field] ?? ''))
    .map((field) => ({
      pointer: `/${field}`,
      rule: 'timeZone',
      message: 'there is no time zone this far from UTC',
      fix: 'Send the time in UTC, with a Z at its end.',
    }))
}

function checkTaskBudget({ costTracking }: HandoffMessage): readonly Detail[] {
  const { costSpentSoFarUSD, costBudgetRemainingUSD } = costTracking
  if (microUSD(costSpentSoFarUSD) + microUSD(costBudgetRemainingUSD) >= 0) return []
  return [
    {
      pointer: '/costTracking/costBudgetRemainingUSD',
      rule: 'budget',
      message: 'more is overspent than was ever spent: the budget of the task would be negative',
      fix: 'Give the budget as spent plus remaining; together they are zero or more.',
    },
  ]
}

/**
 * An outsider may sign for itself; then the signature must hold, and Baton signs again with its own
 * active key. Throws 422 BATON_SIGNATURE_INVALID.
 */
export function requireSignature(message: HandoffMessage, keyRing: KeyRing): void {
  if (message.signature === undefined) return
  const delivery = deliveryOf(message)
  if (verifySignature(delivery.bytes, delivery, keyRing).ok) return
  throw new ProblemError({
    status: 422,
    code: 'BATON_SIGNATURE_INVALID',
    detail: 'the signature does not belong to this message, or its key is not known here',
    fix: 'Leave signature and signatureKeyId out, and Baton signs; or sign with a key it knows.',
    pointer: '/message/signature',
  })
}

// The Baton-Decision header: what a person signed about a hold or an erasure. Which text is signed stands in infra/decisions.md.
import { DECISION_UNREADABLE, ProblemError } from '@baton/http/server'
import { formatNeeded, parseSigned } from '@baton/ledger'
import type { Decision, DecisionFault, DecisionSignature } from '@baton/ledger'
import type { FastifyRequest } from 'fastify'

/** Undefined without the header. Throws 400 BATON_DECISION_INVALID for what is no signature. */
export function readDecisionHeader({
  headers,
}: Pick<FastifyRequest, 'headers'>): DecisionSignature | undefined {
  const header = headers['baton-decision']
  if (header === undefined) return undefined
  const signed = parseSigned(String(header).trim())
  if (signed === undefined) throw DECISION_UNREADABLE
  return signed
}

/** The problem of a decision whose signature is missing or does not count: 403, with what would have to be signed. */
export const unsigned = (
  { decision, fault }: { readonly decision: Decision; readonly fault: DecisionFault },
  { detail, fix }: { readonly detail: string; readonly fix: string },
) =>
  new ProblemError({
    status: 403,
    code: fault === 'unsigned' ? 'BATON_DECISION_UNSIGNED' : 'BATON_DECISION_REFUSED',
    detail: `${detail} (${fault})`,
    fix,
    headers: { 'baton-decision-needed': formatNeeded(decision) },
  })

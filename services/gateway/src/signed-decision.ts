// The Baton-Decision header: what the person behind a key signed about the decision that a request makes. Which text is
// signed stands in infra/decisions.md.
import { formatNeeded, parseSigned } from '@baton/ledger'
import type { DecisionFault, DecisionSignature } from '@baton/ledger'
import type { FastifyRequest } from 'fastify'
import type { Unsigned } from '@baton/engine'
import { DECISION_UNREADABLE, ProblemError } from '@baton/http/server'

/** For the description of a route. */
const DECISION_HEADER = {
  'Baton-Decision': {
    type: 'string',
    description:
      'The signature of the person who decides: key id, time of signing, salt, salted digest of what is decided and Ed25519 signature in base64, with a space between each. A request without it is refused with 403 and the header Baton-Decision-Needed, which says what to sign.',
    examples: [
      `1f0c2b7de4a95c38 2026-01-31T12:00:00.000Z ${'4d'.repeat(16)} ${'5e'.repeat(32)} ${'A'.repeat(86)}==`,
    ],
  },
}

/** For the description of a route that takes a decision. */
export const DECIDING = { headers: { type: 'object', properties: DECISION_HEADER } }

/** What a request's person signed; undefined without the header. Throws 400 BATON_DECISION_INVALID. */
export function readDecisionHeader({ headers }: FastifyRequest): DecisionSignature | undefined {
  const header = headers['baton-decision']
  if (header === undefined) return undefined
  const signed = parseSigned(String(header).trim())
  if (signed === undefined) throw DECISION_UNREADABLE
  return signed
}

const FAULTS = {
  unsigned: [
    'this takes the signature of the person who decides',
    'Sign what Baton-Decision-Needed names and send it as Baton-Decision; `baton dlq`, `baton approvals` and `baton erase` do it by themselves.',
  ],
  unknown_key: [
    'the key that signed belongs to nobody whose decisions count here',
    'Sign with the key whose public half stands in BATON_PEOPLE of this gateway, or have it added there.',
  ],
  expired_key: [
    'the key that signed counts no more',
    'Sign with a newer key of yours, or have its end in BATON_PEOPLE moved.',
  ],
  other_person: [
    'the key that signed is not that of the person behind the API key',
    'Use the API key and the signing key of one person.',
  ],
  role: [
    'the person who signed does not have the role that this takes',
    'Have somebody decide who has it (reviewer; for erasures compliance), or have the role added in BATON_PEOPLE.',
  ],
  other_content: [
    'something else was signed than what is to be decided now',
    'Read it again, look at what changed, and sign what Baton-Decision-Needed names.',
  ],
  clock: [
    'the decision was signed at a time that has not come yet',
    'Set the clock of whoever signs.',
  ],
  signature: [
    'the signature does not belong to this decision',
    'Sign the text of infra/decisions.md, each line ended by a line feed.',
  ],
} as const satisfies Readonly<Record<DecisionFault, readonly [detail: string, fix: string]>>

/** The problem of a decision whose signature is missing or does not count: 403, with what would have to be signed. */
export function unsignedProblem({ fault, decision }: Unsigned): ProblemError {
  const [detail, fix] = FAULTS[fault]
  const headers = { 'baton-decision-needed': formatNeeded(decision) }
  const code = fault === 'unsigned' ? 'BATON_DECISION_UNSIGNED' : 'BATON_DECISION_REFUSED'
  return new ProblemError({ status: 403, code, detail, fix, headers })
}

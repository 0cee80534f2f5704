// What a receiver takes for decided: signed in time, and not by a key that has ended long ago, whatever its signature says of when.
import { generateKeyPairSync, hash } from 'node:crypto'
import { parsePeople, personEntry, readDecisionSigner, signDecision } from '@baton/ledger'
import type { Decision, People } from '@baton/ledger'
import type { ClaimedHandoff } from '@baton/store'
import { expect, it } from 'vitest'
import {
  claimedFrom,
  judgeSample,
  sampleOptions,
  sampleState,
} from '../../fixtures/sample-delivery.ts'
import { prepareHandoff } from '../prepare-handoff.ts'
import { proposeOverride } from './review.ts'
import {
  approvalDecision,
  isOverrideSigned,
  overrideEnd,
  requireApproval,
  voteDecision,
} from './signed-decisions.ts'

const signers = new Map(
  ['ann', 'bob'].map((name) => {
    const { privateKey } = generateKeyPairSync('ed25519')
    const pkcs8 = privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64')
    return [name, readDecisionSigner(pkcs8)]
  }),
)
const SIGNED_AT = new Date('2026-01-31T12:00:00.000Z')
const sign = (decision: Decision) => {
  const signer = signers.get(decision.person)
  if (signer === undefined) throw new Error('nobody here is called so')
  return signDecision(decision, signer, SIGNED_AT)
}

/** Ann's key ends after she signed, and Bob's does not. */
const people: People = parsePeople(
  [...signers]
    .map(([name, { publicKey }]) => personEntry(name, ['reviewer'], publicKey))
    .map((entry) => (entry.startsWith('ann:') ? `${entry}:2026-02-01` : entry))
    .join(),
)
/** A week after the end of her key. */
const LAST = new Date('2026-02-07T23:59:59.999Z')
const TOO_LATE = new Date('2026-02-08T00:00:00.000Z')

const constraints = { requiresApproval: true }
const claimed = claimedFrom(
  prepareHandoff(
    { agentState: sampleState(), targetAgentType: 'reader', constraints },
    sampleOptions,
  ),
)
const { handoffId, taskId } = claimed
const sha256 = hash('sha256', claimed.body)

it('takes no release by a key that ended a week ago', () => {
  const terms = { handoffId, quarantineAttempt: 1, sha256, rulesetVersion: 'rules-1' }
  const proposal = proposeOverride(terms, 168)
  const votes = [...signers.keys()].map((person) => ({
    person,
    signed: sign(voteDecision({ taskId, handoffId, person }, proposal.sha256)),
  }))
  const id = '0b8f0f5e-8f43-4f0a-9d53-6a7d1c5f2e31'
  const expiresAt = overrideEnd(votes, 168)
  const reason = 'SAFETY_VIOLATION'
  const given = { ...terms, id, reason, expiresAt, expired: false, validHours: 168, votes }
  const released: ClaimedHandoff = { ...claimed, approvalOverride: given }
  expect(isOverrideSigned(released, people, LAST)).toBe(true)
  expect(isOverrideSigned(released, people, TOO_LATE)).toBe(false)
})

it('takes no approval by a key that ended a week ago', () => {
  const subject = { taskId, handoffId, person: 'ann' }
  const act = { decision: 'approve', sha256, reasonCode: null } as const
  const signed = sign(approvalDecision(subject, act))
  const approval = { person: 'ann', reasonCode: null, signed }
  const approved: ClaimedHandoff = { ...claimed, approval }
  const judged = (now: Date) =>
    requireApproval(judgeSample(approved), approved, { people, now, sha256: () => sha256 }).valid
  expect([judged(LAST), judged(TOO_LATE)]).toEqual([true, false])
})

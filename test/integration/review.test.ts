// A dead letter before people, on the whole system: two release it, it executes once, and the trace shows who decided.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { readEvidence } from '@baton/audit'
import {
  entryOfKey,
  parseAuditorPolicy,
  readRecord,
  verifyBundle,
  writeBundle,
} from '@baton/ledger'
import { eventually, PEOPLE } from '@baton/testkit'
import { findDeadLetter, findTask, storeInvariants } from '@baton/store'
import { recordingAgent } from './pipeline-fixture.ts'
import { openReview } from './review-fixture.ts'
import type { ReviewSystem } from './review-fixture.ts'

let review: ReviewSystem
const { agent, executed } = recordingAgent('reviewed')

beforeAll(async () => {
  review = await openReview('review')
  await review.pipeline.start([agent])
})
afterAll(() => review.close())

/** Of every task that is stopped here. */
const taskIds: string[] = []
async function quarantine() {
  const stopped = await review.quarantine('reviewed')
  taskIds.push(stopped.taskId)
  return stopped
}
const executionsOf = (handoffId: string) =>
  executed.filter((context) => context.handoffId === handoffId)
/** Waits until it is quarantined for the `quarantineAttempt`-th time. */
const quarantinedAgain = (handoffId: string, quarantineAttempt: number) =>
  eventually(
    async () => {
      const deadLetter = await findDeadLetter(review.pipeline.pool, handoffId)
      return (
        deadLetter?.quarantineAttempt === quarantineAttempt &&
        deadLetter.resolvedAt === null &&
        deadLetter
      )
    },
    {
      deadlineMs: 30_000,
      describe: () => `quarantine attempt ${quarantineAttempt} of ${handoffId}`,
    },
  )

it('that two reviewers release executes once; released again, nothing happens twice', async () => {
  const { handoffId, taskId } = await quarantine()
  const first = await review.decide('ann', handoffId, 'release')
  expect(first).toMatchObject({
    status: 202,
    body: { outcome: 'waiting', needed: 2, reviewers: ['ann'] },
  })
  expect((await review.decide('ann', handoffId, 'release')).body).toEqual(first.body)
  const second = await review.decide('bob', handoffId, 'release')
  expect(second).toMatchObject({
    status: 200,
    body: { outcome: 'decided', resolution: 'RELEASED', repeated: false },
  })
  await review.pipeline.reaches(handoffId, 'COMPLETED')
  for (const person of ['ann', 'bob'] as const)
    expect((await review.decide(person, handoffId, 'release')).body).toMatchObject({
      resolution: 'RELEASED',
      repeated: true,
    })
  const events = await review.events(taskId, 7)
  expect(events.map(({ event }) => event)).toEqual([
    'HANDOFF_REJECTED',
    'DEAD_LETTERED',
    'RELEASE_APPROVED',
    'RELEASE_APPROVED',
    'HANDOFF_RELEASED',
    'HANDOFF_ACCEPTED',
    'EXECUTION_COMPLETED',
  ])
  expect(events.map(({ actor }) => actor)).toEqual([
    undefined,
    undefined,
    'ann',
    'bob',
    undefined,
    undefined,
    undefined,
  ])
  const { release } = events[4] ?? {}
  expect(release).toMatch(/^[0-9a-f-]{36}$/)
  expect(events[5]?.release).toBe(release)
  expect(executionsOf(handoffId)).toHaveLength(1)
  const listed = await review.call('reader', 'GET', '/v2/dead-letters/released')
  expect(listed.body.deadLetters).toEqual([
    expect.objectContaining({
      handoffId,
      resolution: 'RELEASED',
      artefactId: expect.stringMatching(/^[0-9a-f]{64}$/),
      details: expect.arrayContaining([
        expect.objectContaining({ rule: 'override', pointer: '/currentState/text', view: 'raw' }),
      ]),
    }),
  ])
  const later = await review.call(
    'reader',
    'GET',
    '/v2/dead-letters/released?since=2999-01-01T00:00:00Z',
  )
  expect(later.body).toEqual({
    deadLetters: [],
    nextCursor: null,
    total: 0,
    totalIsExact: true,
  })
  expect((await findTask(review.pipeline.pool, taskId))?.status).toBe('COMPLETED')
})

it('is never decided by whoever sent it, and two keys or a token of one person are one', async () => {
  const { handoffId } = await quarantine()
  for (const action of ['release', 'discard', 'ask-sender'])
    expect(await review.decide('carl', handoffId, action)).toMatchObject({
      status: 403,
      body: { code: 'BATON_REVIEW_OWN_HANDOFF' },
    })
  await review.decide('ann', handoffId, 'release')
  const again = await review.decide('annAgain', handoffId, 'release')
  expect(again).toMatchObject({ status: 202, body: { reviewers: ['ann'] } })
  const byToken = await review.decide('annByToken', handoffId, 'release')
  expect(byToken).toMatchObject({ status: 202, body: { reviewers: ['ann'] } })
  expect(executionsOf(handoffId)).toEqual([])
})

it('shows its evidence without its text, which only reviewers may read', async () => {
  const { handoffId } = await quarantine()
  await review.decide('ann', handoffId, 'release')
  const path = `/v2/dead-letters/${handoffId}`
  const shown = await review.call('carl', 'GET', path)
  expect(shown.body).toMatchObject({
    reason: 'SAFETY_VIOLATION',
    sentBy: 'carl',
    own: true,
    scanner: { reviewed: shown.body.scanner.now, now: expect.stringMatching(/^[0-9a-f]{64}$/) },
    release: { needed: 2 },
    proposals: [{ action: 'RELEASE', reviewers: [{ reviewer: 'ann' }] }],
  })
  expect(shown.body.details[0]).toMatchObject({ pointer: '/currentState/text', rule: /\S/ })
  // Names that callers and stored votes rely on.
  expect(shown.body).toMatchObject({ round: 1, artefactId: shown.body.scanner.reviewed })
  expect(Object.keys(shown.body.proposals[0].content)).toEqual(
    expect.arrayContaining(['handoffId', 'round', 'sha256', 'artefactId', 'validHours']),
  )
  expect(JSON.stringify(shown.body)).not.toContain('maintenance mode')
  expect(await review.call('reader', 'GET', `${path}/message`)).toMatchObject({ status: 403 })
  const read = await review.call('bob', 'GET', `${path}/message`)
  expect(JSON.stringify(read.body.message)).toContain('maintenance mode')
})

it('shows what the log says of it, and names what no record says', async () => {
  const { handoffId } = await quarantine()
  await review.decide('ann', handoffId, 'release')
  const show = async () => (await review.call('carl', 'GET', `/v2/dead-letters/${handoffId}`)).body
  await eventually(async () => (await show()).recorded.unrecorded.length === 0, {
    deadlineMs: 15_000,
    describe: 'the rejection and the vote to be recorded',
  })
  const { recorded } = await show()
  expect(recorded.verified).toBe(true)
  expect(recorded.records).toContainEqual(
    expect.objectContaining({
      event: 'RELEASE_APPROVED',
      actor: 'ann',
      recordHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      assurance: expect.stringMatching(/^(?:committed|sealed|witnessed|archived)$/),
    }),
  )
  await review.pipeline.superuser.query({
    text: `insert into review_vote (id, handoff_id, quarantine_attempt, action, proposal_sha256, proposal, reviewer)
      select gen_random_uuid(), handoff_id, quarantine_attempt, action, proposal_sha256, proposal, 'mallory'
      from review_vote where handoff_id = $1`,
    values: [handoffId],
  })
  expect((await show()).recorded.unrecorded).toEqual(['the vote of mallory for its release'])
  await review.pipeline.superuser.query({
    text: `delete from review_vote where reviewer = 'mallory'`,
  })
})

it('goes on redacted when two agree to the same places, and is judged in full', async () => {
  const { handoffId, taskId } = await quarantine()
  const nowhere = await review.decide('ann', handoffId, 'redact', {
    redactions: [{ pointer: '/currentState/none' }],
  })
  expect(nowhere).toMatchObject({ status: 422, body: { code: 'BATON_REDACTION_INVALID' } })
  const unsafe = await review.decide('ann', handoffId, 'redact', {
    redactions: [{ pointer: '/currentState/other' }],
  })
  expect(unsafe).toMatchObject({ status: 422, body: { code: 'BATON_REDACTION_UNSAFE' } })
  const proposed = await review.decide('ann', handoffId, 'redact', {
    redactions: [{ pointer: '/currentState/text' }],
  })
  expect(proposed).toMatchObject({ status: 202, body: { needed: 2 } })
  const { proposal } = proposed.body
  await review.decide('bob', handoffId, 'redact', { proposal })
  await review.pipeline.reaches(handoffId, 'COMPLETED')
  expect(executionsOf(handoffId).map(({ state }) => state)).toEqual([
    { text: '[REDACTED]', other: 'fine' },
  ])
  const events = await review.events(taskId, 7)
  expect(events.map(({ event }) => event)).toContain('HANDOFF_REDACTED')
  expect(events.some(({ release }) => release !== undefined)).toBe(false)
})

it('is given up by one person, and its task fails', async () => {
  const { handoffId, taskId } = await quarantine()
  const discarded = await review.decide('bob', handoffId, 'discard')
  expect(discarded.body).toMatchObject({ resolution: 'DISCARDED', repeated: false })
  expect((await review.decide('ann', handoffId, 'discard')).body).toMatchObject({ repeated: true })
  expect(await review.decide('ann', handoffId, 'release')).toMatchObject({
    status: 409,
    body: { code: 'BATON_DEAD_LETTER_RESOLVED' },
  })
  expect((await findTask(review.pipeline.pool, taskId))?.status).toBe('FAILED')
  const events = await review.events(taskId, 3)
  expect(events.filter(({ actor }) => actor !== undefined)).toEqual([
    { event: 'DEAD_LETTER_DISCARDED', actor: 'bob' },
  ])
})

it('is handed back to its sender, whose correction takes its place', async () => {
  const { handoffId, taskId } = await quarantine()
  expect((await review.decide('ann', handoffId, 'ask-sender')).body).toMatchObject({
    outcome: 'asked',
    repeated: false,
  })
  expect((await review.decide('bob', handoffId, 'ask-sender')).body.repeated).toBe(true)
  const taken = await review.call('carl', 'POST', '/v2/returns/take', { agents: ['driver'] })
  expect(taken.body.notices).toContainEqual(
    expect.objectContaining({ handoffId, kind: 'return', reason: 'SAFETY_VIOLATION' }),
  )
  const { message } = (await review.call('ann', 'GET', `/v2/dead-letters/${handoffId}/message`))
    .body
  const { signature: _, signatureKeyId: __, ...rest } = message
  const corrected = { ...rest, currentState: { text: 'harmless' } }
  const revised = await review.call('carl', 'POST', `/v2/handoffs/${handoffId}/revisions`, {
    revision: 2,
    message: corrected,
  })
  expect(revised.status).toBe(202)
  await review.pipeline.reaches(handoffId, 'COMPLETED')
  expect(executionsOf(handoffId).map(({ state }) => state)).toEqual([{ text: 'harmless' }])
  const deadLetter = await findDeadLetter(review.pipeline.pool, handoffId)
  expect(deadLetter?.resolution).toBe('REVISED')
  const events = await review.events(taskId, 8)
  const [readings, decided] = [true, false].map((isRead) =>
    events.filter(({ event, actor }) => actor !== undefined && (event === 'TEXT_READ') === isRead),
  )
  expect(decided).toEqual([
    { event: 'SENDER_ASKED', actor: 'ann' },
    { event: 'HANDOFF_REVISED', actor: 'carl' },
  ])
  expect(readings?.map(({ actor }) => actor).toSorted()).toEqual(['ann', 'carl'])
})

it('who sent it first decides as little about a correction as who corrected it', async () => {
  const { handoffId, taskId } = await quarantine()
  await review.decide('ann', handoffId, 'ask-sender')
  const { message } = (await review.call('ann', 'GET', `/v2/dead-letters/${handoffId}/message`))
    .body
  const { signature: _, signatureKeyId: __, ...rest } = message
  const again = { ...rest, currentState: { text: `${rest.currentState.text} Again.` } }
  const revision = { revision: 2, message: again }
  const path = `/v2/handoffs/${handoffId}/revisions`
  expect((await review.call('bob', 'POST', path, revision)).status).toBe(202)
  await quarantinedAgain(handoffId, 2)
  for (const person of ['carl', 'bob'] as const) {
    const refused = await review.decide(person, handoffId, 'discard')
    expect(refused).toMatchObject({ status: 403, body: { code: 'BATON_REVIEW_OWN_HANDOFF' } })
    expect((await shown(person)).body).toMatchObject({
      own: true,
      sentBy: 'bob',
      earlierSenders: ['carl'],
    })
  }
  expect((await review.decide('ann', handoffId, 'discard')).status).toBe(200)
  expect((await findTask(review.pipeline.pool, taskId))?.status).toBe('FAILED')

  function shown(person: 'carl' | 'bob') {
    return review.call(person, 'GET', `/v2/dead-letters/${handoffId}`)
  }
})

it.each([
  [
    'another scanner judges now',
    'release.artefact',
    `update dead_letter set ruleset_version = 'other' where handoff_id = $1`,
    '',
  ],
  [
    'one of its two votes is another’s, said to be eve’s',
    'release.signature',
    '',
    `update approval_override set votes = jsonb_build_array(votes -> 0,
       jsonb_set(votes -> 0, '{person}', '"eve"')) where handoff_id = $1`,
  ],
  [
    'one of its two votes was for a longer time',
    'release.signature',
    '',
    `update approval_override set valid_hours = 48, expires_at = expires_at + interval '1 day' where handoff_id = $1`,
  ],
  [
    'its end was moved',
    'release.signature',
    '',
    `update approval_override set expires_at = now() + interval '1 day 1 s' where handoff_id = $1`,
  ],
])(
  'is quarantined again under a release that does not hold: %s',
  async (_, rule, before, after) => {
    const { handoffId } = await quarantine()
    if (before !== '') await review.pipeline.rows(before, [handoffId])
    await review.decide('ann', handoffId, 'release')
    if (after !== '') {
      // The worker must not be faster than the tampering.
      await review.pipeline.rows(
        `create function tamper() returns trigger language plpgsql as $$ begin ${after.replace('$1', 'new.handoff_id')}; return new; end $$;
       create trigger tamper after insert on approval_override for each row execute function tamper()`,
      )
    }
    await review.decide('bob', handoffId, 'release')
    const deadLetter = await quarantinedAgain(handoffId, 2)
    if (after !== '') await review.pipeline.rows('drop function tamper() cascade')
    expect((deadLetter.details as readonly { rule: string }[])[0]?.rule).toBe(rule)
    expect(executionsOf(handoffId)).toEqual([])
  },
)

it('leaves every promise of the database kept after all of this', async () => {
  const rules = storeInvariants(review.pipeline.pool)
  const checked = await Promise.all(
    rules.map(async ({ rule, check }) => ({ rule, ids: await check() })),
  )
  expect(checked.filter(({ ids }) => ids.length > 0)).toEqual([])
})

it('is proven by the signatures of who decided, offline, whatever they decided', async () => {
  const { audit, pool } = review.pipeline
  await eventually(
    async () => (await pool.query({ text: 'select from audit_outbox limit 1' })).rows.length === 0,
    { deadlineMs: 30_000, describe: 'everything is recorded' },
  )
  const sources = { receipts: [], cold: undefined, vault: undefined, policy: null }
  const evidence = await readEvidence({ reader: audit, taskIds, ...sources })
  const named = [...PEOPLE.people.values()].map((key) => `# baton-person ${entryOfKey(key)}\n`)
  const parsed = parseAuditorPolicy(Buffer.from(`quorum none\n${named.join('')}`))
  if (evidence === undefined || !parsed.ok) throw new Error('there is evidence, and a policy')
  const now = Date.now() / 1_000
  const bundle = writeBundle(evidence.parts)
  const { checks } = verifyBundle(bundle, { policy: parsed.policy, now, thorough: true })
  const decisions = checks.find(({ id }) => id === 'DECISIONS')
  expect(decisions).toMatchObject({ result: 'ok', findings: [] })
  const events = evidence.parts.records.map((body) => readRecord(Buffer.from(body))?.event)
  for (const event of ['RELEASE_APPROVED', 'HANDOFF_REDACTED', 'DEAD_LETTER_DISCARDED'])
    expect(events).toContain(event)
})

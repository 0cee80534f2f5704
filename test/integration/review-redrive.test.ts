// Bulk re-drives on the whole system: what would pass goes back, canary first; a canary that fails stops the rest.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { permanent } from '@baton/runtime'
import { eventually } from '@baton/testkit'
import { recordingAgent } from './pipeline-fixture.ts'
import { openReview } from './review-fixture.ts'
import type { Answer, ReviewSystem } from './review-fixture.ts'

let review: ReviewSystem
beforeAll(async () => {
  review = await openReview('redrive')
})
afterAll(() => review.close())

const poisoned = (target: string, count: number) =>
  Promise.all(Array.from({ length: count }, () => review.poison(target)))

const ended = (redriveId: string) =>
  eventually(
    async () => {
      const { body } = await review.call('ann', 'GET', `/v2/dead-letters/redrives/${redriveId}`)
      return body.endedAt !== null && body
    },
    { deadlineMs: 20_000, describe: () => `re-drive ${redriveId} ends` },
  ) as Promise<Answer['body']>

it('refuses a cluster whose name no database stores', async () => {
  const asked = { cluster: 'SAFETY_VIOLATION\u0000' }
  const { status } = await review.call('ann', 'POST', '/v2/dead-letters/dry-run', asked)
  expect(status).toBe(422)
})

it('tries out without enqueuing anything, and says which agents are live', async () => {
  const [deadLetter] = await poisoned('nobody', 1)
  const asked = { handoffIds: [deadLetter?.handoffId] }
  const { status, body } = await review.call('ann', 'POST', '/v2/dead-letters/dry-run', asked)
  expect(status).toBe(200)
  expect(body).toMatchObject({
    wouldPass: 1,
    letters: [
      { handoffId: deadLetter?.handoffId, wouldPass: true, reason: null, agents: 'unknown' },
    ],
  })
  const handoff = await review.call('ann', 'GET', `/v2/handoffs/${deadLetter?.handoffId}`)
  expect(handoff.body.state).toBe('DEAD_LETTERED')
})

it('sends back what would pass, each once, and names who did; leaves out what would not', async () => {
  const deadLetters = await poisoned('fixed', 8)
  const { agent, ids } = recordingAgent('fixed')
  const worker = await review.pipeline.start([agent])
  const unsafe = await review.quarantine('fixed')
  const handoffIds = [...deadLetters.map(({ handoffId }) => handoffId), unsafe.handoffId]
  const started = await review.call('ann', 'POST', '/v2/dead-letters/redrive', {
    handoffIds,
    ratePerSecond: 50,
  })
  expect(started).toMatchObject({
    status: 202,
    body: {
      taken: 8,
      state: 'CANARY',
      createdBy: 'ann',
      leftOut: [{ handoffId: unsafe.handoffId, reason: 'SAFETY_VIOLATION' }],
    },
  })
  expect(started.body.canaryIds).toHaveLength(5)
  expect(await ended(started.body.redriveId)).toMatchObject({ state: 'DONE', driven: 8, why: null })
  for (const { handoffId } of deadLetters) await review.pipeline.reaches(handoffId, 'COMPLETED')
  expect(ids().toSorted()).toEqual(handoffIds.slice(0, 8).toSorted())
  const first = await review.events(deadLetters[0]?.taskId ?? '', 4)
  expect(first.filter(({ actor }) => actor !== undefined)).toEqual([
    { event: 'REDRIVE_STARTED', actor: 'ann' },
    { event: 'HANDOFF_RELEASED', actor: 'ann' },
  ])
  const other = await review.events(deadLetters[1]?.taskId ?? '', 3)
  expect(other.filter(({ actor }) => actor !== undefined)).toEqual([
    { event: 'HANDOFF_RELEASED', actor: 'ann' },
  ])
  const again = await review.call('ann', 'POST', '/v2/dead-letters/redrive', { handoffIds })
  expect(again).toMatchObject({ status: 409, body: { code: 'BATON_REDRIVE_EMPTY' } })
  await worker.stop()
})

it('stops with its canary, says why, and leaves the rest where it is', async () => {
  const deadLetters = await poisoned('broken', 7)
  const { agent } = recordingAgent('broken', {
    execute: () => Promise.reject(permanent('BATON_STILL_BROKEN', 'still broken')),
  })
  const worker = await review.pipeline.start([agent])
  const handoffIds = deadLetters.map(({ handoffId }) => handoffId)
  const started = await review.call('bob', 'POST', '/v2/dead-letters/redrive', { handoffIds })
  const stopped = await ended(started.body.redriveId)
  expect(stopped).toMatchObject({
    state: 'STOPPED',
    why: { code: 'CANARY_FAILED', state: 'ROLLED_BACK', reason: 'BATON_STILL_BROKEN' },
    driven: 5,
    skipped: 2,
  })
  const left = await review.call('bob', 'GET', `/v2/dead-letters/${handoffIds[6]}`)
  expect(left.body).toMatchObject({ resolution: null, state: 'DEAD_LETTERED' })
  await worker.stop()
})

it('is stopped by a person, and never takes what its own operator sent', async () => {
  const deadLetters = await poisoned('unhosted', 6)
  const handoffIds = deadLetters.map(({ handoffId }) => handoffId)
  const own = await review.call('carl', 'POST', '/v2/dead-letters/redrive', { handoffIds })
  expect(own).toMatchObject({
    status: 409,
    body: { errors: [{ rule: 'OWN' }, {}, {}, {}, {}, {}] },
  })
  const started = await review.call('ann', 'POST', '/v2/dead-letters/redrive', { handoffIds })
  const path = `/v2/dead-letters/redrives/${started.body.redriveId}`
  const canceled = await review.call('bob', 'DELETE', path)
  expect(canceled).toMatchObject({ status: 200, body: { state: 'CANCELED', stoppedBy: 'bob' } })
  expect((await review.call('bob', 'DELETE', path)).body).toEqual(canceled.body)
  const worker = await review.pipeline.start([recordingAgent('other').agent])
  const taskId = deadLetters[0]?.taskId ?? ''
  const recorded = await eventually(
    async () => {
      const events = await review.events(taskId, 0)
      const acts = events.filter(({ event }) => event.startsWith('REDRIVE_'))
      return acts.length === 2 && acts
    },
    { deadlineMs: 30_000, describe: 'both decisions are recorded' },
  )
  expect(recorded).toEqual([
    { event: 'REDRIVE_STARTED', actor: 'ann' },
    { event: 'REDRIVE_STOPPED', actor: 'bob' },
  ])
  await worker.stop()
})

it('is found by what dead letters have in common', async () => {
  const { clusters } = (await review.call('reader', 'GET', '/v2/dead-letters/clusters')).body
  expect(clusters).toContainEqual(
    expect.objectContaining({ cluster: 'POISON', reason: 'POISON', exampleId: expect.any(String) }),
  )
  const listed = await review.call('reader', 'GET', '/v2/dead-letters?cluster=POISON&limit=1')
  expect(listed.body.deadLetters).toHaveLength(1)
})

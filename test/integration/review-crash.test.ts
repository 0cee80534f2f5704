// A gateway killed while people decide: either nothing was decided or all of it, and asking again is safe.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { recordingAgent } from './pipeline-fixture.ts'
import { openReview } from './review-fixture.ts'
import type { ReviewSystem } from './review-fixture.ts'

let review: ReviewSystem
const { agent, ids } = recordingAgent('reviewed')
beforeAll(async () => {
  review = await openReview('review crash')
  await review.pipeline.start([agent])
})
afterAll(() => review.close())

it.each([
  ['review.before_commit', false],
  ['review.after_commit', true],
])('killed at %s, it decides once', async (point, decided) => {
  const { handoffId, taskId } = await review.quarantine('reviewed')
  await review.decide('ann', handoffId, 'release')
  const doomed = await review.startGateway({ BATON_CRASH_AT: point })
  await expect(review.decide('bob', handoffId, 'release')).rejects.toThrow('fetch failed')
  expect((await doomed.exited()).signal).toBe('SIGKILL')
  await review.startGateway()
  const answer = await review.decide('bob', handoffId, 'release')
  expect(answer).toMatchObject({ status: 200, body: { resolution: 'RELEASED', repeated: decided } })
  await review.pipeline.reaches(handoffId, 'COMPLETED')
  expect(ids().filter((id) => id === handoffId)).toHaveLength(1)
  const events = await review.events(taskId, 7)
  expect(events.map(({ event }) => event).filter((event) => event.includes('RELEASE'))).toEqual([
    'RELEASE_APPROVED',
    'RELEASE_APPROVED',
    'HANDOFF_RELEASED',
  ])
})

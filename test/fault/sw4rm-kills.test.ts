// The gateway dies in the middle of each call of SW4RM: what was committed stands, and everything else is asked again.
import { eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSwarm, swarmRequest } from '../integration/sw4rm-fixture.ts'
import type { SwarmWorld } from '../integration/sw4rm-fixture.ts'

let world: SwarmWorld
beforeAll(async () => {
  world = await openSwarm('sw4rm-kills')
})
afterAll(() => world?.close())

const answerTo = (name: string, request: object) => world.client.refusal(name, request)

/** gRPC waits a little before it connects again. */
const answered = (name: string, request: object, expected: RegExp) =>
  eventually(async () => expected.test(await answerTo(name, request)), {
    deadlineMs: 20_000,
    describe: () => `${name} to answer ${expected}\n${world.gateway().output().slice(-2000)}`,
  })

/** The gateway dies at `point` in this call; afterwards another one stands in its place. */
async function dying(point: string, name: string, request: object): Promise<void> {
  await world.restart({ BATON_CRASH_AT: point })
  await answered('GetHandoffStatus', { handoff_id: 'nobody' }, /^5 /)
  expect(await answerTo(name, request)).toMatch(/^14 /)
  expect(await world.gateway().exited()).toMatchObject({ signal: 'SIGKILL' })
  await world.restart()
  await answered('GetHandoffStatus', { handoff_id: 'nobody' }, /^5 /)
}

it('W17 W18 a request that was not committed can be sent again', async () => {
  const request = swarmRequest()
  await dying('sender.before_commit', 'RequestHandoff', request)
  expect(await answerTo('GetHandoffStatus', { handoff_id: request.request_id })).toMatch(/^5 /)
  expect(await answerTo('RequestHandoff', request)).toBe('OK')
})

it('W17 W18 a request that was committed is not sent twice', async () => {
  const request = swarmRequest()
  await dying('sender.after_commit', 'RequestHandoff', request)
  expect(await answerTo('RequestHandoff', request)).toMatch(/^6 .* already exists$/)
  await world.reaches(request.request_id, 'PENDING')
})

it('W17 W18 an acceptance that was not yet recorded leaves it to whoever comes next', async () => {
  const request = swarmRequest()
  expect(await answerTo('RequestHandoff', request)).toBe('OK')
  const { request_id } = request
  await dying('receiver.after_claim', 'AcceptHandoff', { request_id })
  await world.reaches(request_id, 'PENDING')
  await answered('AcceptHandoff', { request_id }, /^OK$/)
})

it('W17 W18 an acceptance that was committed stands, and its agent completes it', async () => {
  const request = swarmRequest()
  expect(await answerTo('RequestHandoff', request)).toBe('OK')
  const { request_id } = request
  await dying('remote.after_take', 'AcceptHandoff', { request_id })
  await world.reaches(request_id, 'ACCEPTED')
  await dying('remote.before_settle', 'CompleteHandoff', { request_id })
  await world.reaches(request_id, 'ACCEPTED')
  await dying('remote.after_settle', 'CompleteHandoff', { request_id })
  await world.reaches(request_id, 'COMPLETED')
})

// SW4RM beside a relay: an agent with its hooks in a receiver, and agents that speak only gRPC, on the same queue server.
import { findHandoff } from '@baton/store'
import { acquireRedis, describeWith, eventually } from '@baton/testkit'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { CONTEXT, openSwarm, swarmRequest } from './sw4rm-fixture.ts'
import type { SwarmWorld } from './sw4rm-fixture.ts'

describeWith('SW4RM on a queue server', await acquireRedis(), (redis) => {
  let world: SwarmWorld
  beforeAll(async () => {
    world = await openSwarm('sw4rm-hosted', redis.url)
  })
  afterAll(() => world?.close())

  const handoffOf = async (requestId: string) => {
    const { rows } = await world.pool.query<{ handoff_id: string }>({
      text: `select handoff_id from external_ref where protocol = 'sw4rm' and id = $1`,
      values: [requestId],
    })
    return findHandoff(world.pool, rows[0]?.handoff_id ?? '')
  }

  it('W09 W11 reaches the hooks of an agent that a receiver hosts, by capability and with the very bytes', async () => {
    const request = swarmRequest({ to_agent: '', capabilities_required: ['security_analysis'] })
    await world.client.call('RequestHandoff', request)
    await world.reaches(request.request_id, 'COMPLETED')
    expect(await handoffOf(request.request_id)).toMatchObject({
      toAgent: 'hosted-specialist',
      result: {
        seen: ['asked by general-agent-1', 'received'],
        bytes: Buffer.from(CONTEXT).toString('base64'),
      },
    })
  })

  it('W17 W18 gives what a relay has published to an agent that asks by name', async () => {
    const request = swarmRequest()
    const { request_id, to_agent } = request
    await world.client.call('RequestHandoff', request)
    await eventually(async () => (await handoffOf(request_id))?.state === 'DISPATCHED', {
      deadlineMs: 20_000,
      describe: () => 'the relay to publish it',
    })
    const { pending_requests } = await world.client.call('GetPendingHandoffs', {
      agent_id: to_agent,
    })
    expect(pending_requests).toMatchObject([{ request_id }])
    await world.client.call('AcceptHandoff', { request_id })
    await world.client.call('CompleteHandoff', { request_id })
    await world.reaches(request_id, 'COMPLETED')
  })
})

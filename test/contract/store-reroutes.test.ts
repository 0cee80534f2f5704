// Blocked handoffs on a real Postgres: they move to a type that has all they need, once per type, and only under their own fencing token.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  claimExecutions,
  claimOutbox,
  findContextWindows,
  listLiveAgents,
  registerAgents,
  rerouteHandoff,
  sendHandoffs,
  sweepExpiredLeases,
  sweepRegistrations,
  unregisterAgents,
} from '@baton/store'
import { claim, newHandoff, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store reroutes')
})
beforeEach(() => store.rows('delete from agent_registration'))
afterAll(() => store.close())

interface Parts {
  readonly capabilities?: readonly string[]
  readonly mcp?: readonly string[]
  readonly requires?: readonly string[]
}
async function live(type: string, { capabilities = ['fly'], mcp = [], requires = [] }: Parts = {}) {
  const worker = randomUUID()
  const agent = { type, version: '1.0.0', requires, capabilities, mcp }
  await registerAgents(store.pool, worker, [agent])
  return worker
}
async function claimed() {
  const handoff = newHandoff()
  await sendHandoffs(store.pool, [handoff])
  await claimOutbox(store.pool, [
    { tenant: 'default', queue: 'reviewer', priority: 2, afterSeq: 0, limit: 500 },
  ])
  return claim(store.pool, handoff)
}
const reroute = (
  { handoffId, fencingToken }: { handoffId: string; fencingToken: number },
  type = 'reviewer',
  needs: { mcp?: readonly string[]; places?: readonly string[] } = {},
) =>
  rerouteHandoff(store.pool, {
    handoffId,
    fencingToken,
    type,
    capabilities: ['fly'],
    mcp: needs.mcp ?? [],
    stateKeys: ['text'],
    places: needs.places ?? null,
    details: '[]',
  })

describe('the context window of an agent type', () => {
  const registerWindow = async (type: string, contextWindowTokens: number, seen = 'now') => {
    const worker = randomUUID()
    const agent = { type, version: '1.0.0', requires: [], contextWindowTokens }
    await registerAgents(store.pool, worker, [agent])
    if (seen !== 'now')
      await store.rows(
        `update agent_registration set seen_at = clock_timestamp() - interval '${seen}' where worker = '${worker}'`,
      )
  }

  it('is the smallest of its live workers, or of those that have just died', async () => {
    await registerWindow('mixed', 8_000)
    await registerWindow('mixed', 4_000)
    await registerWindow('mixed', 1_000, '1 minute')
    await registerWindow('gone', 2_000, '1 minute')
    await live('silent')
    const windows = await findContextWindows(store.pool, ['mixed', 'gone', 'silent', 'unheard-of'])
    expect([...windows].toSorted()).toEqual([
      ['gone', 2_000],
      ['mixed', 4_000],
    ])
  })
})

describe('a blocked handoff', () => {
  it('is published for a type whose every live worker can take it', async () => {
    await live('able')
    await live('half')
    await live('half', { capabilities: [] })
    await live('wantsWork', { requires: ['text', 'more'] })
    const one = await claimed()
    expect(await reroute(one, 'reviewer', { mcp: ['github'] })).toBeUndefined()
    expect(await reroute(one)).toBe('able')
    expect(
      await claimOutbox(store.pool, [
        { tenant: 'default', queue: 'able', priority: 2, afterSeq: 0, limit: 5 },
      ]),
    ).toMatchObject([{ handoffId: one.handoffId, publishAttempt: 2, queue: 'able' }])
    const [next] = await claimExecutions(store.pool, { owner: randomUUID(), leaseMs: 60_000 }, [
      { handoffId: one.handoffId, publishAttempt: 2 },
    ])
    expect(next).toMatchObject({
      fencingToken: 2,
      toAgent: 'reviewer',
      routedTo: 'able',
      leaseExpiries: 0,
    })
  })

  it('never comes back to a type it was blocked at, nor to its sender', async () => {
    await live('able')
    await live('reviewer')
    await live('intake')
    const one = await claimed()
    expect(await reroute(one)).toBe('able')
    const again = await claim(store.pool, one, { publishAttempt: 2 })
    expect(await reroute(again, 'able')).toBeUndefined()
  })

  it('moves once, however many claim to hold it, and not once its lease was taken away', async () => {
    await live('able')
    const one = await claimed()
    const answers = await Promise.all([reroute(one), reroute(one), reroute(one)])
    expect(answers.filter((answer) => answer !== undefined)).toEqual(['able'])
    const expired = await claimed()
    await store.leaseExpiry(expired.handoffId)
    const [moved, swept] = await Promise.all([reroute(expired), sweepExpiredLeases(store.pool)])
    expect([moved === 'able', swept]).toEqual([
      moved !== undefined,
      moved === undefined ? [expired.handoffId] : [],
    ])
    expect(
      await store.rows('select from outbox where handoff_id = $1', [expired.handoffId]),
    ).toHaveLength(1)
  })
})

describe('a registration', () => {
  it('counts while it is renewed, and is forgotten in the end', async () => {
    const worker = await live('able')
    await live('other')
    const types = async () => (await listLiveAgents(store.pool, 10)).map((agent) => agent.type)
    expect(await types()).toEqual(['able', 'other'])
    await store.rows(
      `update agent_registration set seen_at = now() - interval '31 s' where type = 'other'`,
    )
    expect(await types()).toEqual(['able'])
    await unregisterAgents(store.pool, worker)
    expect(await types()).toEqual([])
    await store.rows(`update agent_registration set seen_at = now() - interval '2 hours'`)
    await sweepRegistrations(store.pool)
    expect(await store.rows('select from agent_registration')).toEqual([])
  })
})

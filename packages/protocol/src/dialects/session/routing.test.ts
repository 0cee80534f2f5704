// Which worker gets a task, by what the workers announced.
import { expect, it } from 'vitest'
import { announceOf } from './announce.ts'
import type { SessionAnnounce } from './announce.ts'
import { createProfileCache } from './profiles.ts'
import { chooseWorker } from './routing.ts'
import type { KnownWorker, Wanted } from './routing.ts'
import { compareTokens } from './tokens.ts'

const anything: Wanted = { mcp: [], capabilities: [], writes: false }

const announced = (tier: string, session: Partial<SessionAnnounce['session']> = {}) =>
  announceOf({
    worker: { agent_id: tier, model: null, model_tier: tier, context_window: null },
    capabilities: { tools: ['file'], mcp_servers: ['memory', 'trek'] },
    mcp_health: { memory: 'ok', trek: 'timeout' },
    session: {
      context_id: null,
      active_tasks: 0,
      repo_state: null,
      session_fresh: true,
      ...session,
    },
  })

const worker = (peer: string, changes: Partial<KnownWorker> = {}): KnownWorker => ({
  peer,
  announce: announced(peer),
  mcp: [],
  capabilities: [],
  given: 0,
  tasksMax: 3,
  ...changes,
})

const all = [worker('opus'), worker('haiku'), worker('sonnet')]

it('S03 gives a task to the least tier that will do', () => {
  expect(chooseWorker(anything, all)).toEqual({ kind: 'to', peer: 'haiku' })
  expect(chooseWorker({ ...anything, modelTier: 'sonnet' }, all)).toEqual({
    kind: 'to',
    peer: 'sonnet',
  })
  expect(chooseWorker({ ...anything, modelTier: 'opus' }, all)).toEqual({
    kind: 'to',
    peer: 'opus',
  })
  expect(chooseWorker({ ...anything, modelTier: 'opus' }, all.slice(1))).toEqual({
    kind: 'unmet',
    unmet: [{ kind: 'model_tier', name: 'opus' }],
  })
  const own = worker('local', { announce: announced('tuned') })
  expect(chooseWorker({ ...anything, modelTier: 'tuned' }, [...all, own])).toEqual({
    kind: 'to',
    peer: 'local',
  })
})

it('S04 gives nothing that needs a server to a worker whose server does not answer', () => {
  expect(chooseWorker({ ...anything, mcp: ['memory'] }, all)).toEqual({ kind: 'to', peer: 'haiku' })
  expect(chooseWorker({ ...anything, mcp: ['trek'] }, all)).toEqual({
    kind: 'unmet',
    unmet: [{ kind: 'mcp', name: 'trek' }],
  })
})

it('S05 overloads nobody: neither by what it was given here nor by what it announced', () => {
  const busy = worker('haiku', { given: 3 })
  const elsewhere = worker('sonnet', { announce: announced('sonnet', { active_tasks: 3 }) })
  expect(chooseWorker(anything, [busy, elsewhere, worker('opus')])).toEqual({
    kind: 'to',
    peer: 'opus',
  })
  expect(chooseWorker(anything, [busy, elsewhere])).toEqual({ kind: 'busy' })
  const twins = [
    worker('a', { announce: announced('haiku'), given: 1 }),
    worker('b', { announce: announced('haiku') }),
  ]
  expect(chooseWorker(anything, twins)).toEqual({ kind: 'to', peer: 'b' })
})

it('S06 lets nobody write to a dirty tree', () => {
  const dirty = announced('haiku', { repo_state: { branch: 'main', clean: false } })
  const workers = [worker('haiku', { announce: dirty }), worker('sonnet')]
  expect(chooseWorker(anything, workers)).toEqual({ kind: 'to', peer: 'haiku' })
  expect(chooseWorker({ ...anything, writes: true }, workers)).toEqual({
    kind: 'to',
    peer: 'sonnet',
  })
  expect(chooseWorker({ ...anything, writes: true }, workers.slice(0, 1))).toEqual({
    kind: 'unmet',
    unmet: [{ kind: 'repo_state', name: 'clean' }],
  })
})

it('S19 knows of a worker that announces nothing only what the operator says', () => {
  const silent = worker('old', { announce: undefined, mcp: ['memory'] })
  expect(chooseWorker({ ...anything, mcp: ['memory'] }, [silent])).toEqual({
    kind: 'to',
    peer: 'old',
  })
  expect(chooseWorker({ ...anything, mcp: ['trek'] }, [silent])).toMatchObject({ kind: 'unmet' })
})

it('S02 tells of a peer that has something else than before, its tasks aside', () => {
  const changed: string[] = []
  const cache = createProfileCache(1_000, (peer) => changed.push(peer))
  const first = announced('haiku')
  cache.keep('a', first, 0)
  cache.keep('a', { ...first, session: { ...first.session, active_tasks: 9 } }, 1)
  cache.keep('a', announced('opus'), 0)
  expect(changed).toEqual(['a'])
  cache.keep('a', { ...first, mcp_health: {} }, 2)
  expect(changed).toEqual(['a', 'a'])
})

it('S02 keeps the latest announcement of a peer, for a while', () => {
  const cache = createProfileCache(1_000)
  const [first, second] = [announced('haiku'), announced('opus')]
  cache.keep('a', second, 500)
  cache.keep('a', first, 400)
  expect(cache.find('a', 600)).toBe(second)
  expect(cache.find('b', 600)).toBeUndefined()
  expect(cache.find('a', 1_499)).toBe(second)
  expect(cache.find('a', 1_500)).toBeUndefined()
})

it('S10 S21 flags a report below what went over the wire, and more than was allowed', () => {
  const spent = { reported: 80, computed: 100, budget: null }
  expect(compareTokens(spent, 0.2)).toEqual({ mismatch: false, overBudget: false })
  expect(compareTokens({ ...spent, reported: 79 }, 0.2)).toEqual({
    mismatch: true,
    overBudget: false,
  })
  expect(compareTokens({ ...spent, reported: 9_000, budget: 4_000 }, 0.2)).toEqual({
    mismatch: false,
    overBudget: true,
  })
  expect(compareTokens({ ...spent, reported: 0, budget: 99 }, 0.2)).toEqual({
    mismatch: true,
    overBudget: true,
  })
})

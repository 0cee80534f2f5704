// What the gateway asks Postgres about keys, and for how long it believes the answer.
import { createLogger } from '@baton/runtime'
import type { Database, StoredApiKey } from '@baton/store'
import { describe, expect, it } from 'vitest'
import { createApiKey, keyOfRow, parseApiKeys, readApiKeys } from './api-keys.ts'
import { requireOwnType } from './executions/own-types.ts'
import { createKnownKeys } from './known-keys.ts'

const bearer = (key: string) => `Bearer ${key}`
const nobodys = (id: number) => bearer(`bk_${id}_${'x'.repeat(43)}`)

function rowOf({ entry }: { readonly entry: string }): StoredApiKey {
  const [key] = parseApiKeys(entry).values()
  if (key === undefined) throw new Error('one entry is one key')
  const { id, sha256, operator, tenant, scopes } = key
  return {
    id,
    sha256,
    operator,
    tenant,
    scopes: [...scopes],
    agents: null,
    madeBy: 'root',
    createdAt: new Date(),
    expiresAt: null,
    revokedAt: null,
  }
}

function open(settings?: string) {
  const asked: (readonly string[])[] = []
  const state = { rows: [] as StoredApiKey[], nowMs: 0, down: false }
  const known = createKnownKeys({
    settings: readApiKeys(settings),
    now: () => state.nowMs,
    async read(ids) {
      asked.push(ids)
      if (state.down) throw new Error('away')
      return state.rows.filter(({ id }) => ids.includes(id))
    },
    logger: createLogger({ service: 'gateway', level: 'fatal', destination: { write() {} } }),
  })
  const why = async (authorization: string | undefined) => {
    const found = await known.identify(authorization)
    return found.ok ? found.key.operator : found.why
  }
  return { state, asked, known, why }
}

/** Names without a tenant are looked up nowhere. */
const NO_DATABASE = {} as Database

const made = createApiKey({ scopes: 'handoffs:send', operator: 'ann' })

describe('a key of the database', () => {
  it('opens what it was made for, and a key of the settings asks nobody', async () => {
    const own = createApiKey({ scopes: 'handoffs:send', operator: 'bob' })
    const { state, asked, why } = open(own.entry)
    state.rows = [rowOf(made)]
    expect(await why(bearer(own.key))).toBe('bob')
    expect(asked).toEqual([])
    expect(await why(bearer(made.key))).toBe('ann')
    expect(await why(bearer(`${made.key.slice(0, -1)}!`))).toBe('unknown')
    expect(await why(bearer(`bk_${made.id}_${'y'.repeat(43)}`))).toBe('unknown')
    expect(await why(undefined)).toBe('missing')
    expect(asked).toEqual([[made.id]])
  })

  it('is refused two seconds after it was revoked, and a new one is taken two seconds after it was tried', async () => {
    const { state, why } = open()
    expect(await why(bearer(made.key))).toBe('unknown')
    state.rows = [rowOf(made)]
    state.nowMs = 1_999
    expect(await why(bearer(made.key))).toBe('unknown')
    state.nowMs = 2_000
    expect(await why(bearer(made.key))).toBe('ann')
    state.rows = [{ ...rowOf(made), revokedAt: new Date() }]
    state.nowMs = 3_999
    expect(await why(bearer(made.key))).toBe('ann')
    state.nowMs = 4_000
    expect(await why(bearer(made.key))).toBe('revoked')
    expect(await why(bearer(`bk_${made.id}_${'y'.repeat(43)}`))).toBe('unknown')
  })

  it('is refused from the moment at which it expires, also while it is believed', async () => {
    const { state, why } = open()
    state.rows = [{ ...rowOf(made), expiresAt: new Date(Date.now() - 1) }]
    expect(await why(bearer(made.key))).toBe('expired')
  })

  it('opens nothing by a scope of another version', async () => {
    const { state, known } = open()
    state.rows = [{ ...rowOf(made), scopes: ['handoffs:send', 'moon:fly'] }]
    expect(await known.identify(bearer(made.key))).toMatchObject({
      ok: true,
      key: { scopes: new Set(['handoffs:send']) },
    })
  })
})

describe('while Postgres does not answer', () => {
  it('nobody is let in or turned away, and the next asks again', async () => {
    const { state, why } = open()
    state.rows = [rowOf(made)]
    state.down = true
    expect(await why(bearer(made.key))).toBe('unread')
    state.down = false
    expect(await why(bearer(made.key))).toBe('ann')
  })
})

describe('keys that nobody has', () => {
  it('share statements, and each is asked about once in two seconds', async () => {
    const { asked, why } = open()
    const crowd = Array.from({ length: 400 }, (_, id) => why(nobodys(id % 100)))
    expect(new Set(await Promise.all(crowd))).toEqual(new Set(['unknown']))
    expect(asked.length).toBeLessThanOrEqual(2)
    const before = asked.length
    await why(nobodys(7))
    expect(asked).toHaveLength(before)
  })

  it('drive out no key that somebody has', async () => {
    const { state, asked, why } = open()
    state.rows = [rowOf(made)]
    await why(bearer(made.key))
    for (let from = 0; from < 12_000; from += 1_000)
      await Promise.all(Array.from({ length: 1_000 }, (_, id) => why(nobodys(from + id))))
    const before = asked.length
    expect(await why(bearer(made.key))).toBe('ann')
    expect(asked).toHaveLength(before)
    await why(nobodys(0))
    expect(asked).toHaveLength(before + 1)
  })

  it('wait in a bounded line', async () => {
    const { why } = open()
    const answers = await Promise.all(Array.from({ length: 3_000 }, (_, id) => why(nobodys(id))))
    expect(new Set(answers)).toEqual(new Set(['unknown', 'unread']))
  })
})

describe('a key for some agents', () => {
  it.each([
    [['executions:claim'], ['intake'], ['intake']],
    [['executions:claim=intake|clerk'], ['clerk', 'other'], ['clerk']],
    [['executions:claim=intake'], ['clerk'], []],
    [['executions:claim=intake'], null, ['intake']],
  ])('of the scopes %j and the agents %j claims for %j', async (scopes, agents, types) => {
    const key = keyOfRow({ ...rowOf(made), scopes, agents })
    expect([...key.scopes]).toEqual(['executions:claim'])
    expect([...(key.agentTypes ?? [])]).toEqual(types)
    const refused = { code: 'BATON_AGENT_TYPE_REFUSED' }
    await expect(requireOwnType(NO_DATABASE, key, 'legal-analysis')).rejects.toMatchObject(refused)
    for (const type of types) await requireOwnType(NO_DATABASE, key, type)
  })
})

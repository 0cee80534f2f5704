// What the doctor asks the operational server: is it durable, and what could its services reach or harm.
import { findOwnedTables, findReachableDatabases, readServerFacts } from '@baton/store'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeEach(async () => {
  store = await openStore('facts')
})
afterEach(() => store.close())

describe('what the server says about itself', () => {
  it('is durable, and baton_app reaches only its own database and owns nothing', async () => {
    expect(await readServerFacts(store.pool)).toMatchObject({
      version: expect.stringMatching(/^\d+/) as string,
    })
    expect(await findReachableDatabases(store.pool, [store.database, 'baton_audit'])).toEqual([
      store.database,
    ])
    expect(await findOwnedTables(store.pool)).toEqual([])
    expect(await findOwnedTables(store.superuser)).toContain('handoff')
  })
})

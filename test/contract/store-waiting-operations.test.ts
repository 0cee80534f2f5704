// What waits to be recorded is read although somebody who may deliver wrote there what is no record, on a real Postgres.
import { afterAll, beforeAll, expect, it } from 'vitest'
import { findWaitingOperations } from '@baton/store'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('store waiting operations')
})
afterAll(() => store.close())

it('finds what waits beside rows that are no JSON, or none that the database takes', async () => {
  const own = '{"event":"BACKUP_TAKEN","subject":"20261128T120000000Z"}'
  for (const entry of ['no JSON', String.raw`{"event":"BACKUP_TAKEN","to":"\u0000"}`, own])
    await store.rows(
      'insert into audit_outbox (id, handoff_id, entry) values (gen_random_uuid(), gen_random_uuid(), $1)',
      [entry],
    )
  const asked = { event: 'BACKUP_TAKEN', subject: '20261128T120000000Z' }
  expect(await findWaitingOperations(store.pool, asked)).toEqual([own])
})

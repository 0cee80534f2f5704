// Protocol v0.1 in Postgres, as role `baton_app`.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createOffers } from '@baton/offers'
import type { OfferStorage } from '@baton/offers'
import { openPostgres } from '@baton/offers/postgres'
import type { PostgresOffers } from '@baton/offers/postgres'
import { countErased, eraseHandoffs, inTransaction } from '@baton/store'
import { describeOffers } from './offers-contract.ts'
import { openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
let postgres: PostgresOffers

beforeAll(async () => {
  store = await openStore('offers')
  postgres = openPostgres(store.databaseUrl)
})
afterAll(async () => {
  await postgres.close()
  await store.close()
})

async function emptied(): Promise<OfferStorage> {
  await store.rows('delete from offer')
  return postgres.storage
}

describeOffers('postgres', emptied)

it('P07 lists beyond one page, in the order of ids', async () => {
  const offers = createOffers({ storage: await emptied() })
  const ids = Array.from({ length: 250 }, (_, index) => `task-${String(index).padStart(3, '0')}`)
  await Promise.all(
    ids.map((id) => offers.createHandoff({ description: id, from_agent: 'a', task_id: id })),
  )
  const { handoffs } = await offers.listHandoffs()
  expect(handoffs.map(({ task_id: id }) => id)).toEqual(ids)
})

it('P14 names a row that is no handoff, and lists the others', async () => {
  const offers = createOffers({ storage: await emptied() })
  await offers.createHandoff({ description: 'a', from_agent: 'a', task_id: 'a' })
  await store.rows(
    "insert into offer (task_id, status, body) select 'b', 'offered', body from offer",
  )
  await store.rows("insert into offer (task_id, status, body) values ('c', '', '{')")
  expect(await offers.listHandoffs()).toMatchObject({
    handoffs: [{ task_id: 'a' }],
    foreign: [
      { name: 'b', reason: 'is not named after its task_id' },
      { name: 'c', reason: 'is not JSON' },
    ],
  })
})

it('P19 an offer goes when the handoff that it became is erased, and no other', async () => {
  const offers = createOffers({ storage: await emptied() })
  const ids = { sent: randomUUID(), failed: randomUUID(), other: randomUUID() }
  const contexts = {
    sent: { baton_handoff_id: ids.sent },
    failed: { baton_earlier_handoff_id: ids.failed },
    other: { baton_handoff_id: ids.other },
    none: {},
    odd: { baton_handoff_id: 'no id' },
  }
  for (const [task_id, context] of Object.entries(contexts))
    await offers.createHandoff({ description: 'about Ada', from_agent: 'a', task_id, context })
  const erased = [ids.sent, ids.failed]
  const counted = async () =>
    (await countErased(store.pool, erased)).find(({ name }) => name === 'offers')
  expect(await counted()).toMatchObject({ before: 2 })
  await inTransaction(store.pool, (transaction) => eraseHandoffs(transaction, erased))
  expect(await counted()).toMatchObject({ before: 0, after: 0 })
  const { handoffs } = await offers.listHandoffs()
  expect(handoffs.map(({ task_id: id }) => id)).toEqual(['none', 'odd', 'other'])
})

// Push notifications in Postgres: who was told of how a task stands is claimed again only once it has moved, and nobody beyond their tenant's share.
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  addA2aMessage,
  claimA2aPushes,
  listA2aStandings,
  measureA2aContents,
  noteA2aPush,
  postponeA2aPush,
  putA2aPush,
} from '@baton/store'
import { executing, openStore } from './store-fixture.ts'
import type { StoreFixture } from './store-fixture.ts'

let store: StoreFixture
beforeAll(async () => {
  store = await openStore('a2a pushes')
})
afterAll(() => store.close())

it('is due until it is told, and then not before its task moves', async () => {
  const { handoffId, taskId } = await executing(store.pool)
  const tenant = 'default'
  await addA2aMessage(store.pool, { taskId, tenant, contextId: 'c', handoffId, messageId: 'm' })
  const secret = Buffer.from('secret')
  const put = { taskId, id: 'one', tenant, url: 'https://example.com/', secret }
  await putA2aPush(store.pool, put)
  // Of a time that no millisecond is.
  await store.rows(
    `update task set updated_at = date_trunc('second', now()) + interval '2.000501 s' where id = $1`,
    [taskId],
  )
  const due = async (without: readonly string[] = []) => {
    const claimed = await claimA2aPushes(store.pool, { limit: 5, leaseMs: 60_000, without })
    return claimed.map((one) => [one.id, one.tenant])
  }
  expect(await due([tenant])).toEqual([])
  expect(await due()).toEqual([['one', tenant]])
  const [standing] = await listA2aStandings(store.pool, [taskId])
  if (standing === undefined) throw new Error('the task is unknown')
  const { movedAtExact } = standing
  const told = { ...put, state: 'TASK_STATE_WORKING', movedAtExact, isEnd: false }
  await noteA2aPush(store.pool, told)
  expect(await due()).toEqual([])
  await store.rows(
    `update task set updated_at = updated_at + interval '1 microsecond' where id = $1`,
    [taskId],
  )
  expect(await due()).toEqual([['one', tenant]])
  // What replaces it while that is told was told nothing.
  await putA2aPush(store.pool, { ...put, secret: Buffer.from('other') })
  await noteA2aPush(store.pool, { ...told, isEnd: true })
  const gone = { ...put, code: 'HTTP_410', againInMs: 60_000, endMs: 1, isGone: true }
  expect(await postponeA2aPush(store.pool, gone)).toBe(false)
  expect(await due()).toEqual([['one', tenant]])
})

it('counts what streams have yielded to the size of a task', async () => {
  const { handoffId, taskId } = await executing(store.pool)
  await store.rows('update execution set chunks = 1, chunk_bytes = 5000 where handoff_id = $1', [
    handoffId,
  ])
  const bytes = async (withStreams: boolean) =>
    (await measureA2aContents(store.pool, [taskId], withStreams)).get(taskId)
  expect([await bytes(false), await bytes(true)]).toEqual([0, 5_000])
})
